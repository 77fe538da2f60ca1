//! Making room: a conversation that fills its context is replaced by a summary of itself.

use tokio_util::sync::CancellationToken;

use crate::agent::Agent;

/// Why a conversation could not be compacted. It stays as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompactError {
    /// The model gave no summary.
    #[error("no summary: {0}")]
    NoSummary(String),
}

impl Agent {
    /// Compacts the conversation if it is nearly full.
    pub(crate) async fn compact_if_full(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), CompactError> {
        let _ = cancel;
        Ok(())
    }

    /// Compacts the conversation because the API says that it is too long; once per turn.
    pub(crate) async fn compact_overflow(&mut self, cancel: &CancellationToken) -> bool {
        let _ = cancel;
        false
    }
}
