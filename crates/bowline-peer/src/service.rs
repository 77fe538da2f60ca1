//! What an end does with what it is told and asked.

use bowline_protocol::{Failure, Line, LineFault, RequestId, Success};
use tokio_util::sync::CancellationToken;

use crate::{frame::Request, pending::Stray};

/// What an end does with what it is told and asked. Messages go to the
/// [`Inbox`](crate::Inbox) instead.
///
/// The plain functions are called by the session as it reads, so they must return
/// quickly and not block.
pub trait Service: Send + Sync + 'static {
    /// Answers a question. Runs in its own task, beside all others.
    ///
    /// `cancel` fires when the asker withdraws the question, and then the answer is
    /// dropped: a withdrawn question gets none. It also fires when the session closes
    /// before the answer is there. The peer fills in the `request_id` of the answer.
    fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<Success, Failure>> + Send;

    /// The other end will say no more, but still listens: finish what was begun.
    ///
    /// The session stays open for writing until this returns.
    fn end_of_input(&self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Something arrived that could not be read. The session goes on.
    fn fault(&self, fault: Fault) {
        tracing::warn!(%fault, "skipped");
    }

    /// An answer arrived for which nobody waits.
    fn stray_answer(&self, id: &RequestId, stray: Stray) {
        tracing::debug!(%id, ?stray, "nobody waits for this answer");
    }
}

/// Something that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A line that is not text, or is too long.
    #[error(transparent)]
    Line(#[from] LineFault),
    /// A control frame whose fields do not fit. A question among them was refused
    /// if its id could be read.
    #[error("line {}: bad control frame: {error}", line.number)]
    Control {
        /// The whole line.
        line: Line,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}
