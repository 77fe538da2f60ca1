//! Sessions: prompts in, messages out.

mod agent_kinds;
mod agent_servers;
mod deferred;
mod direct;
mod faults;
mod hook_kinds;
mod interrupt;
mod limits;
mod opening;
mod permission;
mod queue;
mod rare_hooks;
mod skill;
mod subagent;
mod terminal_failure;
mod tools;
mod transcript;
mod turn;
mod watching;
mod worktree;
