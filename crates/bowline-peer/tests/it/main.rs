//! Each promise of a session, kept.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answering;
mod asking;
mod ending;
mod flood;
mod messages;
mod rig;
mod writing;
