//! A handle to the other end: tell it something, ask it something, close the session.

use std::{mem, sync::Arc, time::Duration};

use bowline_protocol::{Call, Failure, RawJson, ReadError, RequestId, Success};
use serde::Serialize;
use tokio::{sync::oneshot, time};
use tokio_util::sync::CancellationToken;

use crate::{
    frame,
    outbox::{Closed, Outbox},
    pending::{Outcome, Pending},
};

/// A handle to the other end. Cheap to clone; does not keep the session open.
#[derive(Debug, Clone)]
pub struct Peer {
    shared: Arc<Shared>,
    time_limit: Option<Duration>,
}

/// What all handles and the session share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pending: Pending,
    pub(crate) outbox: Arc<Outbox>,
    /// Fires when this end wants the session to end.
    pub(crate) closing: CancellationToken,
}

/// Why nothing could be said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TellError {
    /// The session has ended, or this end of it.
    #[error("the session is closed")]
    Closed,
    /// The message has no form in JSON.
    #[error("cannot be written: {0}")]
    Unwritable(#[source] serde_json::Error),
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The other end has gone, or cannot answer any more.
    #[error("the session is closed")]
    Closed,
    /// The other end answered with an error.
    #[error("the other end refused: {}", .0.error)]
    Refused(Box<Failure>),
    /// The other end took too long. The question was withdrawn.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The question has no form in JSON.
    #[error("cannot be written: {0}")]
    Unwritable(#[source] serde_json::Error),
    /// The answer is not of the expected form.
    #[error("unexpected answer: {0}")]
    Unreadable(#[source] ReadError),
}

impl AskError {
    /// The code of a refusal that has one, as in `unsupported_request`.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(failure) => failure.error_code.as_deref(),
            _ => None,
        }
    }
}

impl From<Closed> for TellError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

impl From<Closed> for AskError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>, time_limit: Option<Duration>) -> Self {
        Self { shared, time_limit }
    }

    /// The same peer, with another time limit for the questions asked through it.
    pub fn within(&self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self.clone() }
    }

    /// The same peer, without a time limit for the questions asked through it.
    pub fn without_time_limit(&self) -> Self {
        Self { time_limit: None, ..self.clone() }
    }

    /// Tells the other end something. Waits for room in the queue, not for the write.
    ///
    /// Cancel safety: the message is sent whole or, when the future is dropped before
    /// it is ready, not at all.
    pub async fn tell(&self, message: &impl Serialize) -> Result<(), TellError> {
        let line = frame::line(message).map_err(TellError::Unwritable)?;
        Ok(self.shared.outbox.send(line, || true).await?)
    }

    /// Passes JSON text on as it is, as a relay does. It is not looked into.
    ///
    /// Cancel safety: as for [`tell`](Self::tell).
    pub async fn tell_line(&self, json: String) -> Result<(), TellError> {
        Ok(self.shared.outbox.send(frame::one_line(json), || true).await?)
    }

    /// Asks the other end and waits for its answer.
    ///
    /// Cancel safety: dropping the future withdraws the question.
    pub async fn ask<C: Call>(&self, call: C) -> Result<C::Response, AskError> {
        let question = self.open(&call.into())?;
        let success = self.settle(question).await?;
        C::read_response(success.response.as_ref()).map_err(AskError::Unreadable)
    }

    /// Like [`ask`](Self::ask); `hear` gets the question as it goes over the wire, with the name
    /// by which it is answered.
    ///
    /// Cancel safety: dropping the future withdraws the question.
    pub async fn ask_aloud<C: Call>(
        &self,
        call: C,
        hear: impl FnOnce(&str),
    ) -> Result<C::Response, AskError> {
        let question = self.open(&call.into())?;
        hear(&question.line);
        let success = self.settle(question).await?;
        C::read_response(success.response.as_ref()).map_err(AskError::Unreadable)
    }

    /// Asks the other end and waits for the body of its answer, which an
    /// acknowledgement does not have.
    ///
    /// Cancel safety: dropping the future withdraws the question.
    pub async fn ask_raw(&self, request: &impl Serialize) -> Result<Option<RawJson>, AskError> {
        self.ask_whole(request).await.map(|success| success.response)
    }

    /// Asks the other end and waits for its answer, with the lists of open questions
    /// that come beside the body of an answer to `initialize`.
    ///
    /// Cancel safety: dropping the future withdraws the question.
    pub async fn ask_whole(&self, request: &impl Serialize) -> Result<Success, AskError> {
        let question = self.open(request)?;
        self.settle(question).await
    }

    /// Says no more: what waits is still written, then our direction of the link is
    /// closed. The other end may go on talking.
    pub fn end_output(&self) {
        self.shared.outbox.close();
    }

    /// Waits until nothing more can be said: the session has ended, or its output, or the
    /// other end has stopped listening.
    ///
    /// Cancel safety: dropping the future changes nothing.
    pub async fn output_ended(&self) {
        self.shared.outbox.closed().await;
    }

    /// Ends the session: reads no more, finishes the answers within the time that
    /// [`Options`](crate::Options) grant, and closes the link.
    pub fn close(&self) {
        self.shared.closing.cancel();
    }

    fn open(&self, request: &impl Serialize) -> Result<Question<'_>, AskError> {
        let (id, answer) = self.shared.pending.open().ok_or(AskError::Closed)?;
        let mut question =
            Question { shared: &self.shared, id, answer, line: String::new(), asked: false };
        question.line = frame::request(&question.id, request).map_err(AskError::Unwritable)?;
        Ok(question)
    }

    async fn settle(&self, question: Question<'_>) -> Result<Success, AskError> {
        match self.time_limit {
            Some(limit) => time::timeout(limit, question.settle())
                .await
                .unwrap_or(Err(AskError::TimedOut(limit))),
            None => question.settle().await,
        }
    }
}

/// A question in flight. Withdraws itself if dropped unanswered.
struct Question<'a> {
    shared: &'a Shared,
    id: RequestId,
    answer: oneshot::Receiver<Outcome>,
    line: String,
    /// The other end knows of it, or will.
    asked: bool,
}

impl Question<'_> {
    async fn settle(mut self) -> Result<Success, AskError> {
        self.shared.outbox.send(mem::take(&mut self.line), || true).await?;
        self.asked = true;
        let outcome = (&mut self.answer).await.map_err(|_| AskError::Closed)?;
        outcome.map_err(|failure| AskError::Refused(Box::new(failure)))
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if self.shared.pending.withdraw(&self.id) && self.asked {
            self.shared.outbox.send_urgent(frame::withdrawal(&self.id));
        }
    }
}
