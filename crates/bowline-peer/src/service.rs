//! The callbacks of an end: requests, end of input, faults.

use bowline_protocol::{Failure, Line, LineFault, RequestId, Success};
use tokio_util::sync::CancellationToken;

use crate::{frame::Request, outgoing::StrayResponse};

/// What an end does with what it receives. Messages go to the
/// [`Inbox`](crate::Inbox) instead.
///
/// The plain functions are called by the session as it reads, so they must return
/// quickly and not block.
pub trait Service: Send + Sync + 'static {
    /// Handles a request. Runs in its own task, concurrently with all others. Unless overridden,
    /// every request is refused; with
    /// [`RequestRouting::Inbox`](crate::RequestRouting::Inbox) it is never called.
    ///
    /// `cancel` fires when the other end cancels the request, and then no response is sent. It
    /// also fires when the session closes before there is a response. The peer fills in the
    /// `request_id` of the response.
    fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<Success, Failure>> + Send {
        drop((request, cancel));
        let failure = Failure {
            error: "this end takes no requests".to_owned(),
            error_code: Some("unsupported_request".to_owned()),
            ..Failure::default()
        };
        async { Err(failure) }
    }

    /// The other end sends no more, but still reads: finish what was begun.
    ///
    /// The session stays open for writing until this returns.
    fn end_of_input(&self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// A line could not be read. The session continues.
    fn fault(&self, fault: Fault) {
        tracing::warn!(%fault, "skipped a line");
    }

    /// A response arrived that no request waits for.
    fn stray_response(&self, id: &RequestId, stray: StrayResponse) {
        tracing::debug!(%id, ?stray, "no request waits for this response");
    }
}

/// A line that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A line that is not text, or is too long.
    #[error(transparent)]
    Line(#[from] LineFault),
    /// A control frame whose fields are invalid. A request among them was refused
    /// if its id could be read.
    #[error("line {}: bad control frame: {error}", line.number)]
    Control {
        /// The whole line.
        line: Line,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}
