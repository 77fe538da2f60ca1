//! MCP servers as they are: real programs, real sockets, a host that answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod authority;
mod elicitation;
mod faults;
mod login;
mod network;
mod program;
mod rig;
mod script;
mod sdk;
mod tools;
