//! Hooks: programs, callbacks, HTTP endpoints, models and MCP tools that observe the events of a session or decide about them.
//!
//! [`Hooks`] holds the registered hooks and runs those of an event; a [`HookReport`] is their merged output. What
//! follows from it for a session is decided elsewhere.

mod activity;
mod command;
mod command_run;
mod deadline;
mod event_context;
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

pub use activity::{HookActivity, HookObserver};
pub use command::HookEnvironment;
pub use matcher::Matcher;
pub use registry::{HookAction, HookOrigin, HookPolicy, Hooks, Registration};
pub use report::{
    Block, BlockKind, Completed, Failure, FailureKind, HookReport, HookText, StopRequest, Verdict,
};

pub use scripts::Scripts;
pub use services::{BoxFuture, HookCallError, HookCallbacks, HookServices, NoServices};
