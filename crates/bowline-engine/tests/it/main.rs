//! Integration tests of the engine's public interface.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod command;
mod compaction;
mod context;
mod control;
mod request_log;
mod rig;
mod session;
mod trust;
