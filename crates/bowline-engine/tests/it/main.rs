//! The engine's behaviour, subject by subject.

mod permission;
