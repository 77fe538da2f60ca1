//! Folding of events.

use bowline_model::{Folded, MessageFold};
use bowline_protocol::StreamEvent;
use serde_json::{Value, json};

fn event(json: Value) -> StreamEvent {
    StreamEvent::parse(&json.to_string()).unwrap()
}

fn start() -> Value {
    json!({ "type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 12, "output_tokens": 1, "cache_read_input_tokens": 3,
                   "service_tier": "standard" } } })
}

fn begin(index: usize, block: Value) -> Value {
    json!({ "type": "content_block_start", "index": index, "content_block": block })
}

fn grow(index: usize, delta: Value) -> Value {
    json!({ "type": "content_block_delta", "index": index, "delta": delta })
}

fn stop(index: usize) -> Value {
    json!({ "type": "content_block_stop", "index": index })
}

fn fold(events: Vec<Value>) -> MessageFold {
    let mut fold = MessageFold::new();
    for json in events {
        fold.apply(&event(json));
    }
    fold
}

/// The one block that the events in between make.
fn block(events: Vec<Value>) -> Value {
    let events = [vec![start()], events, vec![stop(0)]].concat();
    let message = serde_json::to_value(fold(events).message()).unwrap();
    message["content"][0].clone()
}

fn call(pieces: &[&str]) -> Value {
    let mut events =
        vec![begin(0, json!({ "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {} }))];
    for piece in pieces {
        events.push(grow(0, json!({ "type": "input_json_delta", "partial_json": piece })));
    }
    block(events)["input"].clone()
}

#[test]
fn tool_input_is_parsed_when_its_block_is_complete() {
    assert_eq!(call(&["{\"command\"", ": \"ls\"}"]), json!({ "command": "ls" }));
    assert_eq!(call(&[]), json!({}));
    assert_eq!(call(&[""]), json!({}));
    assert_eq!(call(&["[1]"]), json!([1]), "whether an array will do is the tool's to say");
    assert_eq!(
        call(&["{\"command\": \"echo"]),
        json!({ "__unparsedToolInput": { "raw": "{\"command\": \"echo", "len": 17 } })
    );
}

#[test]
fn blocks_grow_by_their_deltas() {
    let text = block(vec![
        begin(0, json!({ "type": "text", "text": "" })),
        grow(0, json!({ "type": "text_delta", "text": "Hel" })),
        grow(0, json!({ "type": "text_delta", "text": "lo" })),
        grow(0, json!({ "type": "citations_delta", "citation": { "n": 1 } })),
        grow(0, json!({ "type": "citations_delta", "citation": { "n": 2 } })),
        grow(0, json!({ "type": "delta_from_next_year", "x": 1 })),
    ]);
    let citations = json!([{ "n": 1 }, { "n": 2 }]);
    assert_eq!(text, json!({ "type": "text", "text": "Hello", "citations": citations }));

    let thinking = block(vec![
        begin(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        grow(0, json!({ "type": "thinking_delta", "thinking": "hm" })),
        grow(0, json!({ "type": "signature_delta", "signature": "first" })),
        grow(0, json!({ "type": "signature_delta", "signature": "sig" })),
    ]);
    assert_eq!(thinking, json!({ "type": "thinking", "thinking": "hm", "signature": "sig" }));

    let redacted = json!({ "type": "redacted_thinking", "data": "abc" });
    assert_eq!(block(vec![begin(0, redacted.clone())]), redacted);
}

#[test]
fn unknown_blocks_and_deltas_are_kept() {
    let unknown = json!({ "type": "hologram", "beam": { "angle": 1.5 } });
    assert_eq!(block(vec![begin(0, unknown.clone())]), unknown);
    let newer_call = block(vec![
        begin(0, json!({ "type": "mcp_tool_use", "id": "x", "input": {} })),
        grow(0, json!({ "type": "input_json_delta", "partial_json": "{\"a\":1}" })),
    ]);
    assert_eq!(newer_call, json!({ "type": "mcp_tool_use", "id": "x", "input": { "a": 1 } }));
    let server_call = block(vec![
        begin(
            0,
            json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} }),
        ),
        grow(0, json!({ "type": "input_json_delta", "partial_json": "{\"query\":\"q\"}" })),
    ]);
    assert_eq!(server_call["input"], json!({ "query": "q" }));
}

#[test]
fn newer_token_counts_replace_older_ones_where_present() {
    let delta = json!({
        "type": "message_delta",
        "delta": { "stop_reason": "refusal", "stop_sequence": null, "stop_details": { "c": 1 } },
        "usage": { "output_tokens": 21, "input_tokens": null, "service_tier": null, "speed": "fast" },
    });
    let fold = fold(vec![start(), delta, json!({ "type": "message_stop" })]);
    assert!(fold.is_complete());
    let message = serde_json::to_value(fold.message()).unwrap();
    assert_eq!(
        message["usage"],
        json!({ "input_tokens": 12, "cache_read_input_tokens": 3, "output_tokens": 21,
                "service_tier": "standard", "speed": "fast" })
    );
    assert_eq!(message["stop_reason"], "refusal");
    assert_eq!(message["stop_details"], json!({ "c": 1 }));
}

#[test]
fn each_event_returns_its_effect() {
    let mut fold = MessageFold::new();
    let text = json!({ "type": "text", "text": "" });
    let table = [
        (start(), Folded::Started),
        (json!({ "type": "ping" }), Folded::Nothing),
        (begin(0, text.clone()), Folded::Grown),
        (grow(0, json!({ "type": "text_delta", "text": "a" })), Folded::Grown),
        (stop(0), Folded::BlockDone(0)),
        (stop(0), Folded::Nothing),
        (grow(5, json!({ "type": "text_delta", "text": "lost" })), Folded::Nothing),
        (begin(1, text), Folded::Grown),
        (stop(1), Folded::BlockDone(1)),
        (json!({ "type": "event_from_next_year" }), Folded::Nothing),
        (
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
            Folded::Stopping,
        ),
        (json!({ "type": "message_stop" }), Folded::Complete),
    ];
    for (json, expected) in table {
        assert_eq!(fold.apply(&event(json.clone())), expected, "{json}");
    }
}

#[test]
fn broken_response_keeps_whole_blocks_and_can_be_closed() {
    let text = json!({ "type": "text", "text": "" });
    let fold = fold(vec![
        start(),
        begin(0, text.clone()),
        grow(0, json!({ "type": "text_delta", "text": "whole" })),
        stop(0),
        begin(1, text),
        grow(1, json!({ "type": "text_delta", "text": "ha" })),
    ]);
    let texts: Vec<_> = fold.message().content.iter().filter_map(|block| block.as_text()).collect();
    assert_eq!(texts, ["whole"]);
    let partial: Vec<_> = fold.partial().filter_map(|block| block.as_text()).collect();
    assert_eq!(partial, ["ha"]);
    let closing = serde_json::to_value(fold.closing_events()).unwrap();
    assert_eq!(
        closing,
        json!([{ "type": "content_block_stop", "index": 1 }, { "type": "message_stop" }])
    );
    assert_eq!(MessageFold::new().closing_events(), [], "nothing began, nothing to close");
}

#[test]
fn partial_tool_call_is_not_closed() {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {} });
    let half = json!({ "type": "input_json_delta", "partial_json": "{\"command\": \"rm" });
    let fold = fold(vec![start(), begin(0, call), grow(0, half)]);
    let closing = serde_json::to_value(fold.closing_events()).unwrap();
    assert_eq!(closing, json!([{ "type": "message_stop" }]));
}
