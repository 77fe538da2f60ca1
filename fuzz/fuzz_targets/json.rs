//! Fuzz target of `properties/json.rs`.
#![no_main]

#[path = "../properties/json.rs"]
mod property;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| property::check(text));
