//! Turn: everything between a prompt and its result.
//!
//! [`machine`] decides, as a pure state machine; the rest of this folder performs
//! its effects: it requests the model, runs tools, and sends messages.

pub(crate) mod batch_hooks;
pub(crate) mod call;
pub(crate) mod call_slot;
mod listed_task;
pub mod machine;
pub(crate) mod outcome;
pub(crate) mod permit;
pub(crate) mod pipeline;
mod prompt_tool;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schedule;
mod structured;
pub(crate) mod texts;
