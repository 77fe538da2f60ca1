//! Fuzz target of `properties/sse.rs`.
#![no_main]

#[path = "../properties/sse.rs"]
mod property;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| property::check(input.1, input.0));
