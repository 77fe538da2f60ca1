//! The door as its clients meet it: real pipes, the script model.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod cancel;
mod envelope;
mod permissions;
mod rig;
mod runs;
