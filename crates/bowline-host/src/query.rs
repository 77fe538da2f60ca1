//! One prompt, one run, one stream of messages.

use std::time::Duration;

use bowline_protocol::Message;
use futures_util::{TryStreamExt, stream};
use tokio::time;

use crate::{
    Error, Messages, Options, Prompt,
    connection::{Connection, Heard},
};

/// Starts an agent, has it work on a prompt, and ends it.
///
/// The agent starts when the stream is first polled. Its input stays open exactly as long as it
/// may have something to ask: without callbacks it is closed behind the prompt, with callbacks
/// when the run is over, which is a result *and* no work in the background. The stream ends when
/// the agent has. Dropping it kills the agent.
///
/// ```no_run
/// use bowline_host::{Options, query};
///
/// # async fn run() -> Result<(), bowline_host::Error> {
/// let answer = query("What is 2 + 2?", Options::default()).text().await?;
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: impl Into<Prompt>, options: Options) -> Messages {
    let prompt = prompt.into();
    let start = async move {
        let connection = Connection::open(options).await?;
        connection.prompt(prompt.0).await?;
        let mut query = Query { connection, input: Input::Open };
        if !query.connection.has_callbacks {
            query.end_input().await;
        }
        Ok::<_, Error>(stream::unfold(Some(query), step))
    };
    Messages::new(stream::once(start).try_flatten())
}

/// A query that runs.
struct Query {
    connection: Connection,
    input: Input,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Input {
    Open,
    Ended,
}

/// The next message of a query; it is over after an error that is about more than one message.
async fn step(query: Option<Query>) -> Option<(Result<Message, Error>, Option<Query>)> {
    let mut query = query?;
    match query.next().await? {
        Err(error) if !error.is_about_one_message() => Some((Err(error), None)),
        message => Some((message, Some(query))),
    }
}

impl Query {
    async fn next(&mut self) -> Option<Result<Message, Error>> {
        loop {
            if self.connection.run().is_over() {
                self.end_input().await;
            }
            let next = self.connection.next();
            let heard = match self.patience() {
                None => next.await,
                Some(limit) => match time::timeout(limit, next).await {
                    Ok(heard) => heard,
                    Err(_) => {
                        self.lose_patience().await;
                        continue;
                    }
                },
            };
            match heard? {
                Ok(Heard::Message(message)) => return Some(Ok(message)),
                Ok(Heard::News) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// How long to wait for the next message, if not for ever.
    fn patience(&self) -> Option<Duration> {
        let run = self.connection.run();
        let limits = &self.connection.limits;
        if !run.is_answered() {
            return None;
        }
        // An agent that says it is idle and knows that nothing follows has no reason to stay.
        match self.input == Input::Ended && run.is_idle() {
            true => Some(limits.close),
            false => limits.background_work,
        }
    }

    async fn lose_patience(&mut self) {
        match self.input {
            Input::Open => self.end_input().await,
            Input::Ended => self.connection.close().await,
        }
    }

    async fn end_input(&mut self) {
        if self.input == Input::Open {
            self.connection.end_input().await;
            self.input = Input::Ended;
        }
    }
}
