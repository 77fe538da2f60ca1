//! Messages of the agent, read line by line.

use bowline_peer::Inbox;
use bowline_protocol::{Line, Message};
use futures_util::lock::Mutex;
use tokio::{sync::mpsc, task::coop};

use crate::error::{Error, beginning};

/// Messages of the agent, in order.
pub(crate) struct Incoming(Mutex<Queues>);

struct Queues {
    inbox: Inbox,
    faults: mpsc::Receiver<Error>,
}

impl Incoming {
    pub(crate) fn new(inbox: Inbox, faults: mpsc::Receiver<Error>) -> Self {
        Self(Mutex::new(Queues { inbox, faults }))
    }

    /// The next message, if one has arrived and no other reader waits.
    pub(crate) fn try_next(&self) -> Option<Result<Message, Error>> {
        let mut queues = self.0.try_lock()?;
        loop {
            let line = queues.at_hand()?;
            if let Some(message) = read(line.text).transpose() {
                return Some(message);
            }
        }
    }

    /// The next message; `None` after the last.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn next(&self) -> Option<Result<Message, Error>> {
        // A reader with a long backlog yields to other tasks.
        coop::consume_budget().await;
        let mut queues = self.0.lock().await;
        loop {
            let line = match queues.at_hand() {
                Some(line) => line,
                None => match queues.wait().await? {
                    Ok(line) => line,
                    Err(fault) => return Some(Err(fault)),
                },
            };
            match read(line.text) {
                Ok(None) => {}
                Ok(Some(message)) => return Some(Ok(message)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Queues {
    /// A line that need not be waited for: in a flood that is nearly every one.
    fn at_hand(&mut self) -> Option<Line<&str>> {
        if self.faults.is_empty() { self.inbox.try_next() } else { None }
    }

    /// The next line, or the fault of one that could not be read.
    async fn wait(&mut self) -> Option<Result<Line<&str>, Error>> {
        tokio::select! {
            biased;
            Some(fault) = self.faults.recv() => Some(Err(fault)),
            line = self.inbox.next() => line.map(Ok),
        }
    }
}

/// Reads a line. `None` is one that was not meant for us.
fn read(line: &str) -> Result<Option<Message>, Error> {
    match Message::parse(line) {
        Ok(message) => Ok(Some(message)),
        Err(_) if !line.trim_start().starts_with('{') => {
            // Libraries and shells print such things; nothing of the conversation is lost.
            tracing::warn!(line = beginning(line), "skipped a line that is no message");
            Ok(None)
        }
        Err(error) => {
            let line_begins = beginning(line);
            match serde_json::from_str::<serde::de::IgnoredAny>(line) {
                Ok(_) => Err(Error::Message { line: line_begins, source: error.into() }),
                Err(syntax) => Err(Error::Json { line: line_begins, source: syntax.into() }),
            }
        }
    }
}
