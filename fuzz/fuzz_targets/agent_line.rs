//! Any text as a line of the agent: no panic, what is read is written back for good, and a head
//! is what the parser would have found.
#![no_main]

use bowline_protocol::{AgentLine, Head};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let head = Head::read(text);
    if let Ok(parsed) = serde_json::from_str::<Head>(text) {
        assert_eq!(head.expect("the parser found one"), parsed);
    }
    if let Ok(line) = AgentLine::parse(text) {
        let written = serde_json::to_string(&line).expect("wire types always serialize");
        let again = AgentLine::parse(&written).expect("what we write can be read");
        assert_eq!(again, line, "written as {written}");
    }
});
