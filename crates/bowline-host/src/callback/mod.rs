//! Callbacks for the agent's requests: one small trait each, implemented by every async closure of
//! the right shape.

mod dialog;
mod elicitation;
mod failure;
mod hook;
mod hook_output;
mod permission;
mod request;

pub use dialog::{DialogAnswer, DialogRequest, OnUserDialog};
pub use elicitation::{ElicitationRequest, OnElicitation};
pub(crate) use failure::{CallbackFailure, caught, panic_text};
pub(crate) use hook::RegisteredHooks;
pub use hook::{Hook, HookCall, HookMatcher};
pub use hook_output::HookOutput;
pub use permission::{CanUseTool, ToolRequest};
pub use request::{OnRequest, OtherRequest};

use std::fmt;

use bowline_protocol::{ElicitationResponse, PermissionResult};
use serde_json::Value;

/// What a callback returns: an answer, or a [`Result`] with one.
pub trait IntoAnswer<T>: Send {
    /// The answer, or the error that is sent to the agent.
    fn into_answer(self) -> Result<T, String>;
}

macro_rules! into_answer {
    ($($answer:ty),*) => {$(
        impl IntoAnswer<$answer> for $answer {
            fn into_answer(self) -> Result<$answer, String> {
                Ok(self)
            }
        }

        impl<E: fmt::Display + Send> IntoAnswer<$answer> for Result<$answer, E> {
            fn into_answer(self) -> Result<$answer, String> {
                self.map_err(|error| format!("{error:#}"))
            }
        }
    )*};
}

into_answer!(PermissionResult, HookOutput, ElicitationResponse, DialogAnswer, Value);
