//! What the engine does, seen from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod control;
mod hook;
mod permission;
mod rig;
mod session;
mod settings;
