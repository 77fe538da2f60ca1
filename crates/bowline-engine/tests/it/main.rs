//! What the engine does, seen from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod command;
mod compaction;
mod context;
mod control;
mod ears;
mod hook;
mod permission;
mod redteam;
mod rig;
mod session;
mod settings;
mod trust;
