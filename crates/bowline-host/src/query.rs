//! One-shot runs: prompts in, a stream of messages out.

use std::{sync::Arc, time::Duration};

use bowline_protocol::Message;
use futures_util::{
    Stream, StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use tokio::time;

use crate::{
    connection::{Connection, Received},
    error::Error,
    messages::Messages,
    options::Options,
    prompt::Prompt,
};

/// Starts an agent, has it work on a prompt, and ends it.
///
/// The agent starts when the stream is first polled. Its input stays open exactly as long as it
/// may send requests: without callbacks it is closed after the prompt, with callbacks
/// when the run is over, which is a result *and* no work in the background. The stream ends when
/// the agent has. Dropping it kills the agent.
///
/// ```no_run
/// use bowline_host::{Options, query};
///
/// # async fn run() -> Result<(), bowline_host::Error> {
/// let response = query("What is 2 + 2?", Options::default()).text().await?;
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: impl Into<Prompt>, options: Options) -> Messages {
    query_all(stream::iter([prompt.into()]), options)
}

/// Starts an agent, has it work on prompts as they come, and ends it when they have ended.
///
/// Otherwise as [`query`]. Prompts are taken while the messages are polled.
pub fn query_all(
    prompts: impl Stream<Item: Into<Prompt>> + Send + 'static,
    options: Options,
) -> Messages {
    let prompts = prompts.map(Into::into).boxed();
    let start = async move {
        let connection = Connection::open(options, None).await?;
        let input_end = match connection.has_callbacks {
            true => InputEnd::RunOver,
            false => InputEnd::Prompted,
        };
        let query = Query::new(Arc::new(connection), prompts, input_end);
        Ok::<_, Error>(stream::unfold(Some(query), step))
    };
    Messages::new(stream::once(start).try_flatten())
}

/// A run: prompts go in, messages come out, until the agent has ended.
pub(crate) struct Query {
    connection: Arc<Connection>,
    /// Prompts to come; `None` when there are no more.
    prompts: Option<BoxStream<'static, Prompt>>,
    /// Whether there was a prompt at all.
    prompted: bool,
    input_end: InputEnd,
    input: Input,
}

/// When the agent's input is closed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum InputEnd {
    /// After the prompts: no callback needs it.
    Prompted,
    /// When the run is over.
    RunOver,
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

/// What can happen to a query.
enum Event {
    /// There is a prompt, or no more of them.
    Prompt(Option<Prompt>),
    /// The agent sent a message, or has ended.
    Received(Option<Result<Received, Error>>),
    /// Nothing happened for too long.
    Timeout,
}

impl Query {
    pub(crate) fn new(
        connection: Arc<Connection>,
        prompts: BoxStream<'static, Prompt>,
        input_end: InputEnd,
    ) -> Self {
        Self { connection, prompts: Some(prompts), prompted: false, input_end, input: Input::Open }
    }

    /// The next message; `None` when the agent has ended in order.
    pub(crate) async fn next(&mut self) -> Option<Result<Message, Error>> {
        loop {
            if self.may_end_input() {
                self.end_input().await;
            }
            match self.event().await {
                Event::Prompt(Some(prompt)) => {
                    self.prompted = true;
                    if let Err(error) = self.connection.prompt(*prompt.0).await {
                        return Some(Err(error));
                    }
                }
                Event::Prompt(None) => self.prompts = None,
                Event::Received(received) => match received? {
                    Ok(Received::Message(message)) => return Some(Ok(message)),
                    Ok(Received::Internal) => {}
                    Err(error) => return Some(Err(error)),
                },
                Event::Timeout => self.time_out().await,
            }
        }
    }

    async fn event(&mut self) -> Event {
        let patience = self.patience();
        let timeout = async {
            match patience {
                Some(limit) => time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let prompt = async {
            match &mut self.prompts {
                Some(prompts) => prompts.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            prompt = prompt => Event::Prompt(prompt),
            received = self.connection.next() => Event::Received(received),
            () = timeout => Event::Timeout,
        }
    }

    /// Whether the agent can know that nothing more follows: there are no more prompts, and it
    /// will send no more requests.
    fn may_end_input(&self) -> bool {
        let asks_nothing = self.input_end == InputEnd::Prompted || !self.prompted;
        self.prompts.is_none() && (asks_nothing || self.connection.run().is_over())
    }

    /// How long to wait for the next message, if not for ever.
    fn patience(&self) -> Option<Duration> {
        let run = self.connection.run();
        let limits = &self.connection.limits;
        if !run.has_result() || self.prompts.is_some() {
            return None;
        }
        // An agent that reports itself idle and knows that nothing follows has no reason to stay.
        match self.input == Input::Ended && run.is_idle() {
            true => Some(limits.close),
            false => limits.background_work,
        }
    }

    async fn time_out(&mut self) {
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
