//! MCP servers as they are: real programs, real sockets, a host that answers.

mod elicitation;
mod faults;
mod network;
mod program;
mod rig;
mod script;
mod sdk;
mod tools;
