//! Recorded lines of an official agent and its hosts, read into types and written back.
//!
//! `agent.ndjson` and `host.ndjson` hold one line of every shape found in recordings of a real
//! agent; the `-handmade` files add what no recording shows. Each line must be understood to its
//! last content block and come back as the same JSON value.

use std::{collections::BTreeSet, fmt::Debug};

use bowline_protocol::{AgentLine, HostLine, Message, ReadError, ResultSubtype, SystemMessage};
use serde::Serialize;
use serde_json::Value;

const AGENT: [&str; 2] =
    [include_str!("../fixtures/agent.ndjson"), include_str!("../fixtures/agent-handmade.ndjson")];
const HOST: [&str; 2] =
    [include_str!("../fixtures/host.ndjson"), include_str!("../fixtures/host-handmade.ndjson")];

/// Lines that a host sent to see how the agent takes what it does not know.
const UNKNOWN: [&str; 5] = [
    r#"{"type":"no_such_type","x":1}"#,
    r#"{"type":"system","subtype":"whatever"}"#,
    r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"earlier"}]},"parent_tool_use_id":null,"session_id":""}"#,
    r#"{"type":"control_request","request_id":"host_0_1","request":{"subtype":"no_such_thing"}}"#,
    r#"{"type":"control_request","request_id":"host_0_2","request":{"subtype":"set_permission_mode","mode":"nonsense"}}"#,
];

/// Lines that a host got wrong on purpose, and a response without the id that the request lacked.
const MALFORMED: [(&str, &str); 3] = [
    (
        r#"{"type":"control_request","request_id":"odd1"}"#,
        "control_request: .: missing field `request`",
    ),
    (
        r#"{"type":"control_request","request":{"subtype":"mcp_status"}}"#,
        "control_request: .: missing field `request_id`",
    ),
    (
        r#"{"type":"control_response","response":{"subtype":"success","response":{"mcpServers":[]}}}"#,
        "control_response: response: success: .: missing field `request_id`",
    ),
];

fn lines(files: [&'static str; 2]) -> impl Iterator<Item = &'static str> {
    files
        .into_iter()
        .flat_map(str::lines)
        .filter(|line| !MALFORMED.iter().any(|bad| bad.0 == *line))
}

fn value(line: &str) -> Value {
    serde_json::from_str(line).expect("fixtures are JSON")
}

/// Checks that `line` is understood throughout and written back as the same value.
fn round_trip<T: Serialize + Debug>(line: &str, parse: impl FnOnce(&str) -> Result<T, ReadError>) {
    let parsed = parse(line).unwrap_or_else(|error| panic!("{error}\n{line}"));
    assert!(is_known(&parsed), "{parsed:?}\n{line}");
    let written = serde_json::to_string(&parsed).expect("wire types always serialize");
    assert!(same(&value(&written), &value(line)), "wrote\n{written}\nfor\n{line}");
}

/// Whether there is neither an `Unknown` variant nor an `Other` value in it, however deep.
fn is_known(parsed: &impl Debug) -> bool {
    let debug = format!("{parsed:?}");
    !debug.contains("Unknown(") && !debug.contains("Other(")
}

/// Equal as JSON. Numbers are compared by value: a cost of nothing may be `0` or `0.0`.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, l)| right.get(key).is_some_and(|r| same(l, r)))
        }
        _ => left == right,
    }
}

#[test]
fn recorded_agent_lines_survive_a_round_trip() {
    for line in lines(AGENT) {
        round_trip(line, AgentLine::parse);
    }
}

#[test]
fn recorded_host_lines_survive_a_round_trip() {
    for line in lines(HOST) {
        if UNKNOWN.contains(&line) {
            let parsed = HostLine::parse(line).unwrap();
            assert!(!is_known(&parsed), "{parsed:?}");
            assert_eq!(serde_json::to_string(&parsed).unwrap(), line);
        } else {
            round_trip(line, HostLine::parse);
        }
    }
}

#[test]
fn a_malformed_line_names_what_it_lacks() {
    for (line, expected) in MALFORMED {
        let error = match line.contains("control_response") {
            true => AgentLine::parse(line).unwrap_err().to_string(),
            false => HostLine::parse(line).unwrap_err().to_string(),
        };
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn unknown_message_survives_byte_for_byte() {
    for line in [
        r#"{"z":1.0,"type":"no_such_type","a":[1,  2]}"#,
        r#"{"z":1.0,"type":"system","subtype":"no_such_subtype","a":[1,  2]}"#,
    ] {
        let parsed = AgentLine::parse(line).unwrap();
        assert_eq!(serde_json::to_string(&parsed).unwrap(), line);
    }
}

#[test]
fn a_known_message_keeps_the_fields_it_does_not_know() {
    let line = r#"{"type":"command_lifecycle","command_uuid":"c","state":"paused","uuid":"u","session_id":"s","new":{"a":[1]}}"#;
    let AgentLine::Message(Message::CommandLifecycle(message)) = AgentLine::parse(line).unwrap()
    else {
        panic!("not a command lifecycle");
    };
    assert_eq!(message.state.as_str(), "paused");
    assert_eq!(serde_json::to_string(&Message::CommandLifecycle(message)).unwrap(), line);
}

#[test]
fn a_bad_message_names_its_subtype_and_field() {
    let line = r#"{"type":"system","subtype":"api_retry","attempt":"one"}"#;
    let error = AgentLine::parse(line).unwrap_err().to_string();
    assert!(error.starts_with("api_retry: attempt: invalid type: string \"one\""), "{error}");
}

/// What the fixtures say under `key`, among the lines that `belongs` picks.
fn tags(key: &str, belongs: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    lines(AGENT)
        .map(value)
        .filter(belongs)
        .map(|line| line[key].as_str().expect("a tag is a string").to_owned())
        .collect()
}

#[test]
fn fixtures_cover_every_known_message() {
    let is = |kind: &'static str| move |line: &Value| line["type"] == kind;
    let known = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<BTreeSet<_>>();

    let messages = tags("type", |line| {
        !line["type"].as_str().unwrap().starts_with("control_") && line["type"] != "keep_alive"
    });
    assert_eq!(messages, known(Message::TAGS));
    assert_eq!(tags("subtype", is("system")), known(SystemMessage::TAGS));
    let results: Vec<_> = ResultSubtype::KNOWN.iter().map(ResultSubtype::as_str).collect();
    assert_eq!(tags("subtype", is("result")), known(&results));
}
