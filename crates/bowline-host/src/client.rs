//! A conversation of many turns.

use std::{fmt, sync::Arc};

use bowline_protocol::Message;
use futures_util::stream;

use crate::{
    Error, Messages, Options, Prompt,
    connection::{Connection, Heard},
};

/// A conversation with an agent.
///
/// A client is a handle: clones speak to the same agent, messages can be read in one task while
/// another interrupts, and requests are answered however many messages wait unread. All that
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
///     let answer = client.receive_response().text().await?;
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

    /// Tells the agent to do something. Waits until the prompt is on its way, not for an answer.
    pub async fn query(&self, prompt: impl Into<Prompt>) -> Result<(), Error> {
        self.connection.prompt(*prompt.into().0).await
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

    /// Ends the agent: lets it finish for a while, then makes it. Always ends.
    pub async fn disconnect(&self) {
        self.connection.close().await;
    }
}

/// The next message for the program.
async fn next(connection: &Connection) -> Option<Result<Message, Error>> {
    loop {
        match connection.next().await? {
            Ok(Heard::Message(message)) => return Some(Ok(message)),
            Ok(Heard::News) => {}
            Err(error) => return Some(Err(error)),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}
