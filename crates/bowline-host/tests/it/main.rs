//! The SDK against a fake agent that misbehaves, and against real ones.

mod basics;
mod faults;
mod rig;
mod rmcp_server;
mod stores;
mod unusual;
