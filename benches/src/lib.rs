//! What the benchmarks measure against, and the lines they measure with.

pub mod derived;

/// All that a real agent wrote in one session with partial messages: two turns, three tool calls.
pub const SESSION: &str = include_str!("../session.ndjson");

/// One block of an answer with a text of `length` bytes.
pub fn assistant(length: usize) -> String {
    let text = prose(length);
    format!(
        r#"{{"type":"assistant","message":{{"id":"msg_00000001","type":"message","role":"assistant","model":"claude-bench","content":[{{"type":"text","text":"{text}"}}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":20}}}},"parent_tool_use_id":null,"session_id":"6f1c2a7e-0000-4000-8000-000000000001","uuid":"cccccccc-0000-4000-8000-000000000001"}}"#
    )
}

/// A tool's result with a text of `length` bytes.
pub fn tool_result(length: usize) -> String {
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
