//! The SDK against a fake agent that misbehaves, and against real ones.

mod agents;
mod basics;
mod carried;
mod controls;
mod conversations;
mod examples;
mod faults;
mod occasions;
mod recovery;
mod rig;
mod rmcp_server;
mod sessions;
mod single_calls;
mod stores;
mod storm;
mod strange;
mod surroundings;
mod traces;
mod unusual;
mod websocket;
