//! Any text as a line of the host: no panic, and what is read is written back for good.
#![no_main]

use bowline_protocol::{Head, HostLine};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Head::read(text);
    if let Ok(line) = HostLine::parse(text) {
        let written = serde_json::to_string(&line).expect("wire types always serialize");
        let again = HostLine::parse(&written).expect("what we write can be read");
        assert_eq!(again, line, "written as {written}");
    }
});
