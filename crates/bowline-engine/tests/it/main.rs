//! What the engine does, seen from outside.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod command;
mod compaction;
mod context;
mod control;
mod ears;
mod rig;
mod session;
mod trust;
