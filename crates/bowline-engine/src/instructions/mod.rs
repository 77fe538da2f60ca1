//! Instructions and facts for the model that are read from disk, once per conversation.
//!
//! | subject | where |
//! |---|---|
//! | files of instructions | [`memory`], [`rules`], found by [`markdown`] |
//! | facts about the machine and the project | [`environment`], [`repository`] |
//! | output styles | [`style`] |
//! | cache, and snapshot of the last request | [`ContextState`] |

mod environment;
pub(crate) mod frontmatter;
pub(crate) mod markdown;
pub(crate) mod memory;
mod outline;
mod repository;
mod rules;
mod state;
pub(crate) mod style;

pub(crate) use self::{
    environment::Environment,
    memory::MemoryFile,
    state::{ContextState, LoadReason, Loaded, Snapshot},
};
