//! Deadline and cancellation of work on another thread, which cannot be killed from outside.

use std::time::Instant;

use tokio_util::sync::CancellationToken;

/// A time and a token; whichever comes first.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    pub(super) deadline: Instant,
    pub(super) cancel: CancellationToken,
}

impl Stop {
    /// Why to stop now, if there is a reason.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.cancel.is_cancelled() {
            return Err("interrupted".to_owned());
        }
        if Instant::now() > self.deadline {
            return Err("it takes too long to read".to_owned());
        }
        Ok(())
    }
}
