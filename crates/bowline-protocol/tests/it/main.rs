//! Everything this crate promises about reading and writing.

mod codec;
mod control;
mod golden;
mod hook;
mod permission_rule;
mod properties;
mod reading;
