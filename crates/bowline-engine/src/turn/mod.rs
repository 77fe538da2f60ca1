//! One turn: everything between a prompt and its result.

pub mod machine;
mod schedule;
