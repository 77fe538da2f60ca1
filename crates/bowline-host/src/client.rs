//! Conversation of many turns with one agent.

use std::{fmt, pin::pin, sync::Arc};

use bowline_protocol::Message;
use futures_util::{Stream, StreamExt, stream};

use crate::{
    connection::{Connection, Received},
    conversation::ConversationWatch,
    error::Error,
    messages::Messages,
    options::Options,
    prompt::Prompt,
};

/// A conversation with an agent.
///
/// A client is a handle: clones speak to the same agent, messages can be read in one task while
/// another interrupts, and requests get responses however many messages wait unread. All that
/// reads messages takes them from one queue.
///
/// [`disconnect`](Self::disconnect) ends the agent in order. When the last clone and the last
/// stream are dropped without it, the agent is killed.
///
/// ```no_run
/// use bowline_host::{Client, Message, Options};
///
/// # async fn run() -> Result<(), bowline_host::Error> {
/// let client = Client::connect(Options::default()).await?;
/// for prompt in ["Read the README.", "Now say it in one sentence."] {
///     client.query(prompt).await?;
///     let response = client.receive_response().text().await?;
/// }
/// client.disconnect().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    pub(crate) connection: Arc<Connection>,
}

impl Client {
    /// Starts an agent and waits until it is ready.
    pub async fn connect(options: Options) -> Result<Self, Error> {
        let connection = Connection::open(options, None).await?;
        Ok(Self { connection: Arc::new(connection) })
    }

    /// Sends a prompt. Waits until it is on its way, not for a response.
    pub async fn query(&self, prompt: impl Into<Prompt>) -> Result<(), Error> {
        self.connection.prompt(*prompt.into().0).await
    }

    /// Sends prompts sequentially as the stream yields them. Ends with the last of them.
    pub async fn stream_input(
        &self,
        prompts: impl Stream<Item: Into<Prompt>>,
    ) -> Result<(), Error> {
        let mut prompts = pin!(prompts);
        while let Some(prompt) = prompts.next().await {
            self.query(prompt).await?;
        }
        Ok(())
    }

    /// All messages from now on, until the agent ends.
    pub fn receive_messages(&self) -> Messages {
        let connection = Some(self.connection.clone());
        Messages::new(stream::unfold(connection, async |connection| {
            let connection = connection?;
            match next(&connection).await? {
                Err(error) if !error.is_about_one_message() => Some((Err(error), None)),
                message => Some((message, Some(connection))),
            }
        }))
    }

    /// The messages until the agent will not speak again by itself: there was a result for every
    /// prompt, and nothing works on in the background that would wake it up.
    ///
    /// [`receive_response`](Self::receive_response) ends with the first result, even if work still runs.
    pub fn receive_run(&self) -> Messages {
        let connection = Some(self.connection.clone());
        Messages::new(stream::unfold(connection, async |connection| {
            let connection = connection?;
            loop {
                let received = connection.next().await?;
                let done = connection.run().is_done();
                // The end is known by a result, or by a later state message of the agent.
                return match received {
                    Err(error) if !error.is_about_one_message() => Some((Err(error), None)),
                    Err(error) => Some((Err(error), Some(connection))),
                    Ok(Received::Message(message)) if done => Some((Ok(message), None)),
                    Ok(Received::Message(message)) => Some((Ok(message), Some(connection))),
                    Ok(Received::Internal) if done => None,
                    Ok(Received::Internal) => continue,
                };
            }
        }))
    }

    /// The messages up to and with the next result.
    pub fn receive_response(&self) -> Messages {
        let connection = Some(self.connection.clone());
        Messages::new(stream::unfold(connection, async |connection| {
            let connection = connection?;
            match next(&connection).await? {
                Err(error) if !error.is_about_one_message() => Some((Err(error), None)),
                Ok(message @ Message::Result(_)) => Some((Ok(message), None)),
                message => Some((message, Some(connection))),
            }
        }))
    }

    /// The conversation, from the first call of this on: prompts when they are sent, and messages of the agent
    /// when they are read. It can be inspected and awaited at any time.
    ///
    /// ```
    /// use bowline_host::{Client, Embedded, Options};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), bowline_host::Error> {
    /// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
    /// let client = Client::connect(options).await?;
    /// let conversation = client.conversation();
    /// client.query("SAY hello").await?;
    /// client.receive_response().text().await?;
    /// let texts: Vec<_> = conversation.current().messages().iter().map(|it| it.text()).collect();
    /// assert_eq!(texts, ["SAY hello", "hello"]);
    /// client.disconnect().await;
    /// # Ok(())
    /// # }
    /// ```
    pub fn conversation(&self) -> ConversationWatch {
        self.connection.conversation()
    }

    /// Ends the agent: lets it finish for a while, then makes it. Always ends.
    pub async fn disconnect(&self) {
        self.connection.close().await;
    }
}

/// The next message for the program.
async fn next(connection: &Connection) -> Option<Result<Message, Error>> {
    loop {
        match connection.next().await? {
            Ok(Received::Message(message)) => return Some(Ok(message)),
            Ok(Received::Internal) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}
