//! Chat-completions streams in every dialect, as Messages events.

use bowline_model::{Delivery, ErrorKind, ModelRequest, ToolDefinition};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::{
    client::{event_lines, events, fold, openai, prompt},
    odd_server::{OddServer, Step, cut, streamed, whole},
};

/// A stream of these choices, each in a chunk, with `[DONE]` at its end.
fn stream(choices: &[Value]) -> String {
    let chunks = choices.iter().map(|choice| {
        data(&json!({
            "id": "chat-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice],
        }))
    });
    chunks.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn data(json: &Value) -> String {
    format!("data: {json}\n\n")
}

fn delta(delta: Value) -> Value {
    json!({ "index": 0, "delta": delta, "finish_reason": null })
}

fn calls(calls: Value) -> Value {
    delta(json!({ "tool_calls": calls }))
}

fn finish(reason: &str) -> Value {
    json!({ "index": 0, "delta": {}, "finish_reason": reason })
}

async fn check(steps: Vec<Step>, expected: &Expect) {
    let server = OddServer::once(steps).await;
    expected.assert_eq(&event_lines(&openai(&server.url), prompt("hi")).await);
}

async fn check_choices(choices: &[Value], expected: &Expect) {
    check(streamed(&stream(choices)), expected).await;
}

#[tokio::test]
async fn text_with_counts_at_the_end() {
    let usage = json!({ "id": "chat-1", "choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109,
        "prompt_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 10 },
        "completion_tokens_details": { "reasoning_tokens": 4 } } });
    let body = [
        stream(&[
            delta(json!({ "role": "assistant", "content": "" })),
            delta(json!({ "content": "Hel" })),
            delta(json!({ "content": "lo" })),
            finish("stop"),
        ])
        .replace("data: [DONE]\n\n", ""),
        ": keep-alive\n\n".to_owned(),
        data(&usage),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let server = OddServer::once(streamed(&body)).await;
    let events = events(&openai(&server.url), prompt("hi")).await.unwrap();
    let message = serde_json::to_value(fold(&events)).unwrap();
    assert_eq!(message["content"], json!([{ "type": "text", "text": "Hello" }]));
    assert_eq!(message["stop_reason"], "end_turn");
    assert_eq!(
        message["usage"],
        json!({ "input_tokens": 30, "cache_read_input_tokens": 60, "output_tokens": 9,
                "cache_creation_input_tokens": 10,
                "output_tokens_details": { "thinking_tokens": 4 } })
    );
}

#[tokio::test]
async fn a_server_that_sends_only_the_least() {
    // No ids, no model, no role, no usage, no [DONE].
    let body = [
        data(&json!({ "choices": [{ "delta": { "content": "Hi" } }] })),
        data(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] })),
    ]
    .concat();
    let server = OddServer::once(streamed(&body)).await;
    let events = events(&openai(&server.url), prompt("hi")).await.unwrap();
    let message = fold(&events);
    assert_eq!(message.content[0].as_text(), Some("Hi"));
    assert_eq!(message.model, "m", "the one that was asked for");
    assert!(message.id.starts_with("msg_"), "{}", message.id);
}

#[tokio::test]
async fn one_call_in_pieces() {
    check_choices(
        &[
            delta(json!({ "role": "assistant", "content": null })),
            delta(json!({ "content": "Let me look." })),
            calls(json!([{ "index": 0, "id": "call_1", "type": "function",
                           "function": { "name": "Read", "arguments": "" } }])),
            calls(json!([{ "index": 0, "function": { "arguments": "{\"path\":" } }])),
            calls(json!([{ "index": 0, "function": { "arguments": "\"a\"}" } }])),
            finish("tool_calls"),
        ],
        &expect![[r#"
            start chat-1 m
            0 begins text
            0 "Let me look."
            0 ends
            1 calls Read as call_1
            1 {"path":
            1 "a"}
            1 ends
            stops for tool_use, 0 in, 0 out
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn calls_that_interleave_come_one_after_the_other() {
    check_choices(
        &[
            calls(json!([{ "index": 0, "id": "a", "function": { "name": "A", "arguments": "{\"x\"" } }])),
            calls(json!([{ "index": 1, "id": "b", "function": { "name": "B", "arguments": "{" } }])),
            calls(json!([{ "index": 0, "function": { "arguments": ":1}" } }])),
            calls(json!([{ "index": 1, "function": { "arguments": "}" } }])),
            finish("tool_calls"),
        ],
        &expect![[r#"
            start chat-1 m
            0 calls A as a
            0 {"x"
            0 :1}
            0 ends
            1 calls B as b
            1 {
            1 }
            1 ends
            stops for tool_use, 0 in, 0 out
            end
        "#]],
    )
    .await;
}

/// Both calls are complete when each is ended with an empty piece.
#[tokio::test]
async fn a_call_that_is_ended_twice_is_one_call() {
    let call = |index: u64, id: &str, arguments: &str| {
        let function = json!({ "name": "A", "arguments": arguments });
        calls(json!([{ "index": index, "id": id, "function": function }]))
    };
    let end = |index: u64| calls(json!([{ "index": index, "function": { "arguments": "" } }]));
    let choices = [call(0, "a", "{}"), call(1, "b", "{}"), end(0), end(1), finish("tool_calls")];
    check_choices(
        &choices,
        &expect![[r#"
            start chat-1 m
            0 calls A as a
            0 {}
            0 ends
            1 calls A as b
            1 {}
            1 ends
            stops for tool_use, 0 in, 0 out
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn whole_calls_with_objects_without_ids_or_numbers() {
    let server = OddServer::once(streamed(&stream(&[
        calls(json!([
            { "function": { "name": "A", "arguments": { "x": 1 } } },
            { "id": "", "function": { "name": "B", "arguments": "{\"y\":2}" } },
            { "id": null, "function": { "name": "C", "arguments": null } },
        ])),
        // The calls are there, whatever the stop reason.
        finish("stop"),
    ])))
    .await;
    let message = fold(&events(&openai(&server.url), prompt("hi")).await.unwrap());
    let json = serde_json::to_value(&message.content).unwrap();
    let inputs: Vec<_> =
        json.as_array().unwrap().iter().map(|call| call["input"].clone()).collect();
    assert_eq!(inputs, [json!({ "x": 1 }), json!({ "y": 2 }), json!({})]);
    let mut ids: Vec<_> =
        json.as_array().unwrap().iter().map(|call| call["id"].to_string()).collect();
    assert!(ids.iter().all(|id| id.starts_with("\"toolu_")), "{ids:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "made-up ids differ");
    assert_eq!(message.stop_reason.unwrap().as_str(), "tool_use");
}

#[tokio::test]
async fn every_call_numbered_zero_but_with_its_own_id() {
    check_choices(
        &[
            calls(
                json!([{ "index": 0, "id": "a", "function": { "name": "A", "arguments": "{}" } }]),
            ),
            calls(
                json!([{ "index": 0, "id": "b", "function": { "name": "A", "arguments": "{}" } }]),
            ),
            finish("tool_calls"),
        ],
        &expect![[r#"
            start chat-1 m
            0 calls A as a
            0 {}
            0 ends
            1 calls A as b
            1 {}
            1 ends
            stops for tool_use, 0 in, 0 out
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn id_and_name_repeated_in_every_piece() {
    let piece = |arguments: &str| {
        calls(json!([{ "index": 0, "id": "a",
                       "function": { "name": "A", "arguments": arguments } }]))
    };
    check_choices(
        &[piece("{\"x\""), piece(":1"), piece("}"), finish("tool_calls")],
        &expect![[r#"
            start chat-1 m
            0 calls A as a
            0 {"x"
            0 :1
            0 }
            0 ends
            stops for tool_use, 0 in, 0 out
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn pieces_without_a_number_continue_the_newest_call() {
    check_choices(
        &[
            calls(json!([{ "id": "a", "function": { "name": "A", "arguments": "{" } }])),
            calls(json!([{ "function": { "arguments": "}" } }])),
            finish("tool_calls"),
        ],
        &expect![[r#"
            start chat-1 m
            0 calls A as a
            0 {
            0 }
            0 ends
            stops for tool_use, 0 in, 0 out
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn reasoning_by_either_name_is_thinking() {
    for name in ["reasoning_content", "reasoning"] {
        check_choices(
            &[
                delta(json!({ name: "hm" })),
                delta(json!({ name: ", well" })),
                delta(json!({ name: "", "content": "Yes." })),
                finish("stop"),
            ],
            &expect![[r#"
                start chat-1 m
                0 begins thinking
                0 "hm"
                0 ", well"
                0 ends
                1 begins text
                1 "Yes."
                1 ends
                stops for end_turn, 0 in, 0 out
                end
            "#]],
        )
        .await;
    }
}

#[tokio::test]
async fn every_finish_reason() {
    let table = [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("something_new", "end_turn"),
    ];
    for (finish_reason, stop_reason) in table {
        let body = stream(&[delta(json!({ "content": "x" })), finish(finish_reason)]);
        let server = OddServer::once(streamed(&body)).await;
        let message = fold(&events(&openai(&server.url), prompt("hi")).await.unwrap());
        assert_eq!(message.stop_reason.unwrap().as_str(), stop_reason, "{finish_reason}");
    }
    let body = stream(&[delta(json!({ "refusal": "I will not." })), finish("stop")]);
    let server = OddServer::once(streamed(&body)).await;
    let message = fold(&events(&openai(&server.url), prompt("hi")).await.unwrap());
    assert_eq!(message.content[0].as_text(), Some("I will not."));
    assert_eq!(message.stop_reason.unwrap().as_str(), "refusal");
}

#[tokio::test]
async fn the_old_function_call_and_parts_of_text() {
    let parts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
    let body = stream(&[
        delta(json!({ "content": parts })),
        delta(json!({ "function_call": { "name": "A", "arguments": "{\"x\"" } })),
        delta(json!({ "function_call": { "arguments": ":1}" } })),
        finish("function_call"),
    ]);
    let server = OddServer::once(streamed(&body)).await;
    let message = fold(&events(&openai(&server.url), prompt("hi")).await.unwrap());
    assert_eq!(message.content[0].as_text(), Some("ab"));
    let call = serde_json::to_value(&message.content[1]).unwrap();
    assert_eq!((&call["name"], &call["input"]), (&json!("A"), &json!({ "x": 1 })));
    assert_eq!(message.stop_reason.unwrap().as_str(), "tool_use");
}

#[tokio::test]
async fn errors_inside_a_stream() {
    let begun = data(&json!({ "choices": [{ "delta": { "content": "x" } }] }));
    let table = [
        (
            json!({ "error": { "message": "boom", "type": "server_error", "code": 503 } }),
            "503 boom",
            true,
        ),
        (json!({ "error": { "message": "no", "code": 400 } }), "400 no", false),
        (json!({ "error": "just text" }), "just text", true),
        (json!({ "object": "error", "message": "older", "code": 500 }), "500 older", true),
    ];
    for (error, text, retryable) in table {
        let server = OddServer::once(streamed(&[begun.clone(), data(&error)].concat())).await;
        let failure = events(&openai(&server.url), prompt("hi")).await.unwrap_err();
        assert_eq!(failure.kind, ErrorKind::Api, "{error}");
        assert_eq!(failure.to_string(), text);
        assert_eq!(failure.is_retryable(), retryable, "{error}");
    }
}

#[tokio::test]
async fn an_error_in_a_field_of_its_own() {
    let body = "error: {\"code\":500,\"message\":\"out of memory\",\"type\":\"server_error\"}\n\n";
    let server = OddServer::once(streamed(body)).await;
    let failure = events(&openai(&server.url), prompt("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.to_string().as_str()), (ErrorKind::Api, "500 out of memory"));
}

#[tokio::test]
async fn streams_that_end_too_early() {
    let begun = data(&json!({ "id": "c", "choices": [{ "delta": { "content": "x" } }] }));
    let expected = expect![[r#"
        start c m
        0 begins text
        0 "x"
        failed: StreamCut
    "#]];
    check(streamed(&begun), &expected).await;
    check(cut(&begun), &expected).await;
    check(streamed(""), &expect!["failed: Unreadable\n"]).await;
    check(streamed("data: [DONE]\n\n"), &expect!["failed: Unreadable\n"]).await;
    check(streamed("data: {oops\n\n"), &expect!["failed: Unreadable\n"]).await;
}

#[tokio::test]
async fn whole_response_yields_the_same_events() {
    let response = json!({
        "id": "chat-2", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "Look:", "reasoning_content": "hm",
            "tool_calls": [{ "id": "a", "type": "function",
                             "function": { "name": "A", "arguments": "{\"x\":1}" } }] } }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 4 },
    });
    // Requested whole, or sent whole though a stream was requested.
    for delivery in [Delivery::Whole, Delivery::Stream] {
        let server = OddServer::once(whole("200 OK", "", &response.to_string())).await;
        let request = ModelRequest { delivery, ..prompt("hi") };
        expect![[r#"
            start chat-2 m
            0 begins thinking
            0 "hm"
            0 ends
            1 begins text
            1 "Look:"
            1 ends
            2 calls A as a
            2 {"x":1}
            2 ends
            stops for tool_use, 3 in, 4 out
            end
        "#]]
        .assert_eq(&event_lines(&openai(&server.url), request).await);
    }
}

#[tokio::test]
async fn a_long_tool_name_travels_short_and_comes_back_long() {
    let long = format!("mcp__server__{}", "x".repeat(70));
    let tool = ToolDefinition {
        name: long.clone(),
        input_schema: json!({ "type": "object" }).into(),
        ..ToolDefinition::default()
    };
    let request = ModelRequest { tools: vec![tool.into()], ..prompt("hi") };
    let mut server = OddServer::once(streamed("")).await;
    event_lines(&openai(&server.url), request.clone()).await;
    let sent = server.request().await.body;
    let short = sent["tools"][0]["function"]["name"].as_str().unwrap().to_owned();
    assert_eq!(short.len(), 64);
    let body = stream(&[
        calls(json!([{ "index": 0, "id": "a", "function": { "name": short, "arguments": "{}" } }])),
        finish("tool_calls"),
    ]);
    let server = OddServer::once(streamed(&body)).await;
    let message = fold(&events(&openai(&server.url), request).await.unwrap());
    let json = serde_json::to_value(&message.content[0]).unwrap();
    assert_eq!(json["name"], long);
}

#[tokio::test]
async fn empty_chunks_are_ignored() {
    let body = [
        data(&json!({ "id": "chat-1", "object": "chat.completion.chunk", "choices": null })),
        data(&json!({ "id": "chat-1", "choices": [
            { "index": 0, "delta": { "content": "Hel" }, "finish_reason": "" },
        ] })),
        data(&json!({ "timings": { "predicted_n": 1 } })),
        data(&json!({ "id": "chat-1", "choices": [
            { "index": 0, "delta": { "content": "lo" }, "finish_reason": "stop" },
        ] })),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let server = OddServer::once(streamed(&body)).await;
    let folded = fold(&events(&openai(&server.url), prompt("hi")).await.unwrap());
    assert_eq!(folded.content[0].as_text(), Some("Hello"));

    // An empty reason is none: the end is missing.
    let body = data(&json!({ "id": "chat-1", "choices": [
        { "index": 0, "delta": { "content": "Hel" }, "finish_reason": "" },
    ] }));
    let server = OddServer::once(streamed(&body)).await;
    let error = events(&openai(&server.url), prompt("hi")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::StreamCut);
}
