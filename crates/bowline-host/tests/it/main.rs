//! The SDK against a fake agent that misbehaves, and against real ones.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]

mod agents;
mod basics;
mod carried;
mod controls;
mod conversations;
mod examples;
mod faults;
mod occasions;
mod random_faults;
mod recovery;
mod rig;
mod rmcp_server;
mod sessions;
mod single_calls;
mod stores;
mod strange;
mod surroundings;
mod traces;
mod unusual;
mod websocket;
