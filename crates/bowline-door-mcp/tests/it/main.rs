//! The server as its clients meet it: real pipes and sockets, plain JSON-RPC, the script model.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod agent;
mod calls;
mod endings;
mod floods;
mod http;
mod lines;
mod offer;
mod permissions;
mod prompts;
mod rig;
