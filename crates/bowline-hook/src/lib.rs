//! Hooks: programs, callbacks and others that are told what happens and may have a say in it.
//!
//! [`Hooks`] knows which hooks there are and runs those of an event; a [`HookReport`]
//! is what they said, merged. What a session does with it is not decided here.

mod command;
mod command_run;
mod listing;
mod matcher;
mod notice;
mod output;
mod process;
mod registry;
mod report;
mod run;
mod scripts;
mod service_run;
mod services;
pub mod texts;

pub use command::HookEnvironment;
pub use matcher::Matcher;
pub use registry::{HookAction, HookOrigin, HookPolicy, Hooks, Registration};
pub use report::{
    Block, BlockKind, Completed, Failure, FailureKind, HookReport, HookText, StopRequest, Verdict,
};
pub use run::{HookActivity, HookObserver};
pub use scripts::Scripts;
pub use services::{BoxFuture, HookCallError, HookCallbacks, HookServices, NoServices};
