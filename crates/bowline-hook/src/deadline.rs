//! Deadlines of hooks that are waited for.

use std::time::Duration;

use tokio::time::timeout;

use super::{
    output::HookReply,
    report::FailureKind,
    services::{BoxFuture, HookCallError},
};

/// Waits for a reply, at most as long as the hook may take.
pub(super) async fn within<T>(
    limit: Duration,
    call: BoxFuture<'_, Result<T, HookCallError>>,
    read: impl FnOnce(T) -> HookReply,
) -> HookReply {
    match timeout(limit, call).await {
        Ok(Ok(reply)) => read(reply),
        Ok(Err(HookCallError::Closed)) => {
            HookReply::Failed(FailureKind::Closed, HookCallError::Closed.to_string())
        }
        Ok(Err(error)) => HookReply::Failed(FailureKind::NotRun, error.to_string()),
        Err(_) => timed_out(limit),
    }
}

pub(super) fn timed_out(limit: Duration) -> HookReply {
    HookReply::Failed(FailureKind::TimedOut, format!("timed out after {}ms", limit.as_millis()))
}
