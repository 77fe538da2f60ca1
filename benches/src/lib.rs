//! What the benchmarks measure against, and the lines they measure with.

use std::hint::black_box;

use bowline_protocol::{AgentLine, Head};
use serde::{Serialize, de::DeserializeOwned};

pub mod derived;

/// All that a real agent wrote in one session with partial messages: two turns, three tool calls.
const SESSION: &str = include_str!("../session.ndjson");

/// What is measured: lines under a name.
pub fn cases() -> [(&'static str, Vec<String>); 6] {
    [
        ("session", SESSION.lines().map(str::to_owned).collect()),
        ("response 1 KB", vec![response(600)]),
        ("call 1 KB", vec![call(500)]),
        ("result 1 KB", vec![tool_result(700)]),
        ("response 40 KB", vec![response(40_000)]),
        ("result 40 KB", vec![tool_result(40_000)]),
    ]
}

/// Something done with all lines of a case, again and again.
pub type Task = Box<dyn FnMut()>;

/// All that is measured with some lines, by name.
pub fn tasks(lines: &[String]) -> Vec<(&'static str, Task)> {
    vec![
        ("read/bowline", each(lines, |line| AgentLine::parse(line).expect("an agent's line"))),
        ("read/derived", each(lines, read::<derived::keeping::Line>)),
        ("read/derived, dropping", each(lines, read::<derived::dropping::Line>)),
        ("read/head", each(lines, |line| Head::read(line).expect("a line").kind.len())),
        ("write/bowline", write::<AgentLine>(lines)),
        ("write/derived", write::<derived::keeping::Line>(lines)),
    ]
}

fn each<T>(lines: &[String], read: impl Fn(&str) -> T + 'static) -> Task {
    let lines = lines.to_vec();
    Box::new(move || {
        for line in &lines {
            black_box(read(black_box(line)));
        }
    })
}

fn read<T: DeserializeOwned>(line: &str) -> T {
    serde_json::from_str(line).expect("the types fit the lines")
}

fn write<T: DeserializeOwned + Serialize + 'static>(lines: &[String]) -> Task {
    let lines: Vec<T> = lines.iter().map(|line| read(line)).collect();
    let mut buffer = Vec::new();
    Box::new(move || {
        for line in &lines {
            buffer.clear();
            serde_json::to_writer(&mut buffer, black_box(line)).expect("it serializes");
            black_box(&buffer);
        }
    })
}

/// A response of one text of `length` bytes.
fn response(length: usize) -> String {
    assistant(&format!(r#"{{"type":"text","text":"{}"}}"#, prose(length)))
}

/// A tool call with a text of `length` bytes among its arguments.
fn call(length: usize) -> String {
    let text = prose(length);
    assistant(&format!(
        r#"{{"type":"tool_use","id":"toolu_01","name":"Edit","input":{{"file_path":"/home/user/notes.md","old_string":"","new_string":"{text}","replace_all":false}}}}"#
    ))
}

/// One block of a response.
fn assistant(block: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"msg_00000001","type":"message","role":"assistant","model":"claude-bench","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":20}}}},"parent_tool_use_id":null,"session_id":"6f1c2a7e-0000-4000-8000-000000000001","uuid":"cccccccc-0000-4000-8000-000000000001"}}"#
    )
}

/// A tool's result with a text of `length` bytes.
fn tool_result(length: usize) -> String {
    let text = prose(length);
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_01","type":"tool_result","content":"{text}"}}]}},"parent_tool_use_id":null,"session_id":"6f1c2a7e-0000-4000-8000-000000000001","uuid":"cccccccc-0000-4000-8000-000000000002"}}"#
    )
}

/// Text as it is in JSON: lines of words, with an escape at the end of each.
fn prose(length: usize) -> String {
    let mut text = String::with_capacity(length + 80);
    while text.len() < length {
        text += "The quick brown fox jumps over the lazy dog, and the dog does not mind.\\n";
    }
    text
}
