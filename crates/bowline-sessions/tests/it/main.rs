//! Tests of sessions on disk.
#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod checkpoint;
mod edit;
mod ending;
mod golden;
mod list;
mod lock;
mod names;
mod project;
mod resume;
mod start;
mod store;
mod torn;
mod transcript;
mod writer;
