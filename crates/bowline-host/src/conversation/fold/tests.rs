//! Conversations as they look between messages.

use super::*;
use serde_json::{Value, json};

fn receive(conversation: &mut Conversation, message: Value) {
    conversation.receive(&Message::parse(&message.to_string()).unwrap());
}

fn event(event: Value) -> Value {
    json!({
        "type": "stream_event", "event": event, "parent_tool_use_id": null, "uuid": "e",
        "session_id": "s",
    })
}

fn assistant(id: &str, uuid: &str, block: Value) -> Value {
    json!({
        "type": "assistant", "parent_tool_use_id": null, "session_id": "s", "uuid": uuid,
        "message": {
            "id": id, "type": "message", "role": "assistant", "model": "m", "content": [block],
            "stop_reason": null, "stop_sequence": null, "usage": {"output_tokens": 3},
        },
    })
}

/// Each utterance in short: who, what, and `…` if more is to come.
fn shown(conversation: &Conversation) -> Vec<String> {
    let shown = conversation.messages().iter().map(|utterance| {
        let blocks = utterance.content.iter().map(|block| match block {
            bowline_protocol::ContentBlock::Text(block) => block.text.clone(),
            bowline_protocol::ContentBlock::Thinking(block) => format!("({})", block.thinking),
            bowline_protocol::ContentBlock::ToolUse(block) => {
                format!("{} {}", block.name, block.input.get())
            }
            bowline_protocol::ContentBlock::ToolResult(_) => "result".to_owned(),
            _ => "?".to_owned(),
        });
        let blocks: Vec<_> = blocks.collect();
        let end = if utterance.is_partial { " …" } else { "" };
        format!("{}: {}{end}", utterance.role.as_str(), blocks.join(" | "))
    });
    shown.collect()
}

#[test]
fn model_response_grows_and_its_blocks_come_together() {
    let mut it = Conversation::default();
    it.say(&"hello?".into());
    let start = json!({"type": "message_start", "message": {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": [],
    }});
    let block = |index: usize, block: Value| {
        event(json!({"type": "content_block_start", "index": index, "content_block": block}))
    };
    let delta = |index: usize, delta: Value| {
        event(json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let call =
        |input: Value| json!({"type": "tool_use", "id": "t", "name": "Read", "input": input});
    let json_delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let steps = [
        (event(start), "assistant:  …"),
        (block(0, text("")), "assistant:  …"),
        (delta(0, json!({"type": "text_delta", "text": "Hel"})), "assistant: Hel …"),
        (delta(0, json!({"type": "text_delta", "text": "lo"})), "assistant: Hello …"),
        // The complete block replaces the partial one.
        (assistant("m1", "a", text("Hello.")), "assistant: Hello. …"),
        (block(1, call(json!({}))), "assistant: Hello. | Read {} …"),
        (delta(1, json_delta("{\"a\"")), "assistant: Hello. | Read {} …"),
        (delta(1, json_delta(":1}")), "assistant: Hello. | Read {\"a\":1} …"),
        (assistant("m1", "b", call(json!({"a": 1}))), "assistant: Hello. | Read {\"a\":1} …"),
        (event(json!({"type": "message_stop"})), "assistant: Hello. | Read {\"a\":1}"),
    ];
    for (message, expected) in steps {
        receive(&mut it, message.clone());
        assert_eq!(shown(&it), ["user: hello?", expected], "{message}");
    }
    assert_eq!(it.messages()[1].uuids, ["a".into(), "b".into()]);
}

#[test]
fn discarded_attempt_is_removed_and_truncated_one_completes() {
    let mut it = Conversation::default();
    let start = |id: &str| {
        json!({"type": "message_start", "message": {
            "id": id, "type": "message", "role": "assistant", "model": "m", "content": [],
        }})
    };
    receive(&mut it, event(start("m1")));
    let mut again = event(start("m2"));
    again["abandoned_blocks"] = json!({"api_message_id": "m1", "from_block_index": 0});
    receive(&mut it, again);
    assert_eq!(shown(&it), ["assistant:  …"]);
    assert_eq!(it.messages()[0].id.as_deref(), Some("m2"));
    receive(
        &mut it,
        json!({
            "type": "result", "subtype": "success", "is_error": false, "result": "x",
            "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "stop_reason": null,
            "total_cost_usd": 0.25, "usage": {"output_tokens": 7}, "uuid": "u", "session_id": "s2",
        }),
    );
    assert_eq!(shown(&it), ["assistant: "]);
    assert_eq!((it.cost_usd(), it.session_id().unwrap().as_str()), (0.25, "s2"));
}

#[test]
fn replayed_prompt_is_in_the_conversation_once() {
    let mut it = Conversation::default();
    let mut prompt = UserMessage::prompt("hi");
    prompt.uuid = Some("p".into());
    it.say(&prompt.clone().into());
    receive(&mut it, serde_json::to_value(Message::from(prompt)).unwrap());
    assert_eq!(shown(&it), ["user: hi"]);
}
