//! Sessions: prompts in, messages out.

mod direct;
mod interrupt;
mod limits;
mod permission;
mod queue;
mod skill;
mod subagent;
mod turn;
