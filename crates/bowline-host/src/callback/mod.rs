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

/// Return value of a callback: a response, or a [`Result`] with one.
pub trait IntoAnswer<T>: Send {
    /// The response, or the error that is sent to the agent.
    fn into_answer(self) -> Result<T, String>;
}

macro_rules! into_answer {
    ($($response:ty),*) => {$(
        impl IntoAnswer<$response> for $response {
            fn into_answer(self) -> Result<$response, String> {
                Ok(self)
            }
        }

        impl<E: fmt::Display + Send> IntoAnswer<$response> for Result<$response, E> {
            fn into_answer(self) -> Result<$response, String> {
                self.map_err(|error| format!("{error:#}"))
            }
        }
    )*};
}

into_answer!(PermissionResult, HookOutput, ElicitationResponse, DialogAnswer, Value);
