//! Verdicts on tool calls, seen from outside the crate.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod approval_requests;
mod bench;
mod commands;
mod confined;
mod hooks;
mod listing;
mod modes;
mod properties;
mod redteam;
mod rules;
mod settings_file;
mod updates;
