//! Subagents: launching one, running it, and the tool that does so.

mod brief;
mod launch;
mod run;
mod servers;
mod tool;
mod toolset;

pub(crate) use self::{servers::startable as startable_servers, tool::agent_tool};

/// How many agents may be above one another. Each sees only what it is told; deeper ones know too
/// little to be of use.
pub(crate) const MAX_DEPTH: u32 = 3;
