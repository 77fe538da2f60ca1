//! The engine's behaviour, subject by subject.

#![expect(clippy::unwrap_used, reason = "a test stops where something is missing")]

mod permission;
