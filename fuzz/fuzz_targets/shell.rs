//! Fuzz target of `properties/shell.rs`.
#![no_main]

#[path = "../properties/shell.rs"]
mod property;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| property::check(text));
