//! What a confined thread, and a process that it starts, can and cannot do on this kernel.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "what was not tried is told")]

mod cost;
mod escapes;
mod programs;
mod rig;
