//! Everything this crate promises about reading and writing.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, and says where")]

mod codec;
mod control;
mod golden;
mod hook;
mod permission_rule;
mod properties;
mod reading;
mod schema;
