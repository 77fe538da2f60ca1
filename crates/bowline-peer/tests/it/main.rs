//! Each promise of a session, kept.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dispatch;
mod flood;
mod incoming;
mod messages;
mod outgoing;
mod rig;
mod shutdown;
mod writing;
