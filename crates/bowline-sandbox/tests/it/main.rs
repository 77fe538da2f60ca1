//! Rights of a confined thread, and of a process that it starts, on this kernel.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "what was not tried is told")]

mod cost;
mod escapes;
mod programs;
mod rig;
