//! Failure of a request of the agent: no callback, an error, a panic, a timeout.

use std::{any::Any, panic::AssertUnwindSafe};

use futures_util::FutureExt;

/// Why a request of the agent has no result, as it is sent to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallbackFailure {
    /// For people.
    pub(crate) message: String,
    /// For programs.
    pub(crate) code: Option<&'static str>,
}

impl CallbackFailure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None }
    }

    pub(crate) fn unsupported(subtype: &str) -> Self {
        // The official SDKs and CLI match this text.
        let message = format!("Unsupported control request subtype: {subtype}");
        Self { message, code: Some("unsupported_request") }
    }
}

/// Runs a callback; a panic is an error like any other.
pub(crate) async fn caught<T>(
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, CallbackFailure> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => result.map_err(CallbackFailure::new),
        Err(panic) => {
            let message = format!("the callback panicked: {}", panic_text(&*panic));
            Err(CallbackFailure::new(message))
        }
    }
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
