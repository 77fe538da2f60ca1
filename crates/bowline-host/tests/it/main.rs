//! The SDK against a fake agent that misbehaves, and against real ones.

mod agents;
mod basics;
mod controls;
mod conversations;
mod examples;
mod faults;
mod recovery;
mod rig;
mod rmcp_server;
mod sessions;
mod stores;
mod storm;
mod surroundings;
mod unusual;
mod websocket;
