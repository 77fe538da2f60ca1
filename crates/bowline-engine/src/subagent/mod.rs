//! Subagents: launching one, running it, and the tool that does so.

mod brief;
mod launch;
mod run;
mod servers;
mod tool;
mod toolset;

pub(crate) use self::{servers::startable as startable_servers, tool::agent_tool};

/// The maximum nesting of agents. Each sees only its prompt, so deeper ones know too little to be
/// useful.
pub(crate) const MAX_DEPTH: u32 = 3;
