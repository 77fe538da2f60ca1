//! Conversation view that follows a stream.

use std::ops::Deref;

use bowline_protocol::Message;
use futures_util::{StreamExt, future};
use tokio::sync::watch;

use super::Conversation;
use crate::{error::Error, messages::Messages, prompt::Prompt};

/// A [`Conversation`] that keeps itself up to date while messages are read: all messages
/// from now on ([`Client::conversation`](crate::Client::conversation)), a session
/// ([`Session::conversation`](crate::Session::conversation)), or one stream ([`Messages::follow`]).
///
/// ```
/// use bowline_host::{Embedded, Options, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bowline_host::Error> {
/// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
/// let (messages, mut conversation) = query("SAY hello", options).follow();
/// let reading = tokio::spawn(messages.text());
/// while conversation.current().messages().is_empty() {
///     conversation.changed().await;
/// }
/// assert_eq!(conversation.current().messages()[0].text(), "hello");
/// # reading.await.expect("it does not panic")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ConversationWatch {
    /// Prompts of this program are added here, messages of the agent by the stream.
    conversation: watch::Sender<Conversation>,
    seen: watch::Receiver<Conversation>,
}

impl Default for ConversationWatch {
    /// A conversation without messages.
    fn default() -> Self {
        let (conversation, seen) = watch::channel(Conversation::default());
        Self { conversation, seen }
    }
}

impl ConversationWatch {
    /// The conversation as it is now. Do not hold it across an `await`: messages wait meanwhile.
    pub fn current(&self) -> impl Deref<Target = Conversation> + '_ {
        self.seen.borrow()
    }

    /// Waits until it has changed since the last call.
    ///
    /// Cancel safety: no change is missed when the future is dropped.
    pub async fn changed(&mut self) {
        // The other end is in here as well, so there is one.
        self.seen.changed().await.ok();
    }

    /// Adds a prompt, which agents do not repeat by default.
    pub fn say(&self, prompt: impl Into<Prompt>) {
        let prompt = prompt.into();
        self.conversation.send_modify(|conversation| conversation.say(&prompt));
    }

    /// Folds in a message of the agent.
    pub(crate) fn receive(&self, message: &Message) {
        self.conversation.send_modify(|conversation| conversation.receive(message));
    }
}

impl Messages {
    /// Follows the stream: the same messages, and a conversation that each is folded into when
    /// it is read.
    ///
    /// ```
    /// # use bowline_host::{Embedded, Options, query};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), bowline_host::Error> {
    /// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
    /// let (messages, conversation) = query("SAY hello", options).follow();
    /// messages.text().await?;
    /// assert_eq!(conversation.current().messages().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn follow(self) -> (Self, ConversationWatch) {
        let conversation = ConversationWatch::default();
        let watched = conversation.clone();
        let messages = Self::new(self.inspect(move |message| {
            if let Ok(message) = message {
                watched.receive(message);
            }
        }));
        (messages, conversation)
    }

    /// Reads on to the end and folds everything into a conversation.
    pub async fn conversation(self) -> Result<Conversation, Error> {
        let mut conversation = Conversation::default();
        let mut failure = None;
        self.for_each(|message| {
            match message {
                Ok(message) => conversation.receive(&message),
                Err(error) if error.is_about_one_message() => {}
                Err(error) => failure = Some(error),
            }
            future::ready(())
        })
        .await;
        failure.map_or(Ok(conversation), Err)
    }
}
