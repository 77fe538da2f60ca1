//! The Messages API's stream, and every way a server gets it wrong.

use bowline_model::{Delivery, ErrorKind, ModelRequest};
use expect_test::{Expect, expect};
use serde_json::json;

use crate::{
    client::{anthropic, event_lines, events, fold, prompt},
    odd_server::{OddServer, Step, cut, stream_head, streamed, whole},
};

const START: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":1}}}

"#;
const BEGIN: &str = r#"event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

"#;
const HELLO: &str = r#"event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

"#;
const STOP: &str = r#"event: content_block_stop
data: {"type":"content_block_stop","index":0}

"#;
const DELTA: &str = r#"event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}

"#;
const END: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

async fn check(steps: Vec<Step>, expected: &Expect) {
    let server = OddServer::once(steps).await;
    expected.assert_eq(&event_lines(&anthropic(&server.url), prompt("hi")).await);
}

fn all() -> Expect {
    expect![[r#"
        start msg_1 m
        0 begins text
        0 "Hello"
        0 ends
        stops for end_turn, ? in, 2 out
        end
    "#]]
}

#[tokio::test]
async fn text_response() {
    check(streamed(&[START, BEGIN, HELLO, STOP, DELTA, END].concat()), &all()).await;
}

#[tokio::test]
async fn bytes_may_come_in_any_pieces() {
    let body = [START, BEGIN, HELLO, STOP, DELTA, END].concat();
    let pieces = body.as_bytes().chunks(7).map(|piece| Step::Chunk(piece.to_vec()));
    check([stream_head()].into_iter().chain(pieces).chain([Step::End]).collect(), &all()).await;
}

#[tokio::test]
async fn pings_are_ignored_anywhere() {
    let body = [PING, START, PING, BEGIN, PING, HELLO, PING, STOP, DELTA, PING, END, PING].concat();
    check(streamed(&body), &all()).await;
}

#[tokio::test]
async fn events_without_names_go_by_their_type() {
    let body = [START, BEGIN, HELLO, STOP, DELTA, END].concat();
    let nameless: String = body
        .lines()
        .filter(|line| !line.starts_with("event"))
        .map(|line| format!("{line}\r\n"))
        .collect();
    check(streamed(&nameless), &all()).await;
}

#[tokio::test]
async fn unknown_events_are_passed_on() {
    let event = "event: aurora\ndata: {\"type\":\"aurora\",\"n\":1}\n\n";
    let delta = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
                 \"delta\":{\"type\":\"scent_delta\",\"scent\":\"pine\"}}\n\n";
    let block = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\
                 \"content_block\":{\"type\":\"hologram\"}}\n\n";
    let stop = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n";
    let body = [START, event, BEGIN, delta, STOP, block, stop, DELTA, END].concat();
    check(
        streamed(&body),
        &expect![[r#"
            start msg_1 m
            Unknown({"type":"aurora","n":1})
            0 begins text
            0 Unknown({"type":"scent_delta","scent":"pine"})
            0 ends
            1 begins hologram
            1 ends
            stops for end_turn, ? in, 2 out
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn unreadable_stream_is_an_error_that_suggests_a_fallback() {
    check(streamed(""), &expect!["failed: Unreadable\n"]).await;
    check(streamed(PING), &expect!["failed: Unreadable\n"]).await;
    check(streamed("event: message_start\ndata: {oops\n\n"), &expect!["failed: Unreadable\n"])
        .await;
    check(streamed("<html>not events</html>\n"), &expect!["failed: Unreadable\n"]).await;
}

#[tokio::test]
async fn malformed_event_in_the_middle_ends_the_response() {
    let body = [START, BEGIN, "event: content_block_delta\ndata: {\"type\":\n\n", HELLO].concat();
    check(
        streamed(&body),
        &expect![[r#"
            start msg_1 m
            0 begins text
            failed: Unreadable
        "#]],
    )
    .await;
}

#[tokio::test]
async fn truncated_stream_is_an_error_at_every_position() {
    let before = expect![[r#"
        start msg_1 m
        0 begins text
        0 "Hello"
        failed: StreamCut
    "#]];
    let after = expect![[r#"
        start msg_1 m
        0 begins text
        0 "Hello"
        0 ends
        failed: StreamCut
    "#]];
    // The connection breaks, or the server ends the body politely: both too early.
    check(cut(&[START, BEGIN, HELLO].concat()), &before).await;
    check(streamed(&[START, BEGIN, HELLO].concat()), &before).await;
    check(cut(&[START, BEGIN, HELLO, STOP].concat()), &after).await;
    check(streamed(&[START, BEGIN, HELLO, STOP].concat()), &after).await;
    // In the middle of an event.
    check(cut(&[START, BEGIN, HELLO, &STOP[..40]].concat()), &before).await;
    check(vec![stream_head()], &expect!["failed: StreamCut\n"]).await;
}

#[tokio::test]
async fn missing_message_stop_or_stop_reason_is_tolerated() {
    check(streamed(&[START, BEGIN, HELLO, STOP, DELTA].concat()), &all()).await;
    // Not even the blank line after the last event.
    check(streamed([START, BEGIN, HELLO, STOP, DELTA, END].concat().trim_end()), &all()).await;
    check(
        streamed(&[START, BEGIN, HELLO, STOP, END].concat()),
        &expect![[r#"
            start msg_1 m
            0 begins text
            0 "Hello"
            0 ends
            end
        "#]],
    )
    .await;
}

#[tokio::test]
async fn error_event_ends_the_response_at_every_position() {
    let error = r#"event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_9"}

"#;
    check(streamed(error), &expect!["failed: Api\n"]).await;
    check(
        streamed(&[START, BEGIN, HELLO, STOP, error, DELTA, END].concat()),
        &expect![[r#"
            start msg_1 m
            0 begins text
            0 "Hello"
            0 ends
            failed: Api
        "#]],
    )
    .await;
    let server = OddServer::once(streamed(error)).await;
    let failure = events(&anthropic(&server.url), prompt("hi")).await.unwrap_err();
    assert_eq!(failure.api_type.as_deref(), Some("overloaded_error"));
    assert_eq!(failure.request_id.as_deref(), Some("req_9"));
    assert_eq!(failure.to_string(), "Overloaded");
    assert!(failure.is_retryable());
}

#[tokio::test]
async fn events_after_message_stop_are_ignored() {
    let body = [START, BEGIN, HELLO, STOP, DELTA, END, START, HELLO].concat();
    check(streamed(&body), &all()).await;
}

const WHOLE: &str = r#"{"id":"msg_2","type":"message","role":"assistant","model":"m","content":[
  {"type":"thinking","thinking":"hm","signature":"s"},
  {"type":"text","text":"Hello","citations":[]},
  {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}},
  {"type":"redacted_thinking","data":"x"}],
 "stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal"},
 "usage":{"input_tokens":5,"output_tokens":7,"service_tier":"standard"}}"#;

#[tokio::test]
async fn whole_response_yields_the_same_events() {
    let mut server = OddServer::once(whole("200 OK", "", WHOLE)).await;
    let request = ModelRequest { delivery: Delivery::Whole, ..prompt("hi") };
    let events = events(&anthropic(&server.url), request).await.unwrap();
    assert_eq!(server.request().await.body["stream"], json!(null));
    let expected: serde_json::Value = serde_json::from_str(WHOLE).unwrap();
    assert_eq!(serde_json::to_value(fold(&events)).unwrap(), expected);
}

#[tokio::test]
async fn whole_response_to_a_streaming_request_is_accepted() {
    let server = OddServer::once(whole("200 OK", "", WHOLE)).await;
    let events = events(&anthropic(&server.url), prompt("hi")).await.unwrap();
    assert_eq!(fold(&events).id, "msg_2");

    let error = r#"{"type":"error","error":{"type":"api_error","message":"inside 200"}}"#;
    let server = OddServer::once(whole("200 OK", "", error)).await;
    let failure = crate::client::events(&anthropic(&server.url), prompt("hi")).await.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Api, "inside 200"));
}

#[tokio::test]
async fn recorded_stream_with_thinking_and_two_calls() {
    let body = include_str!("samples/thinking_and_calls.sse");
    let server = OddServer::once(streamed(body)).await;
    let events = events(&anthropic(&server.url), prompt("hi")).await.unwrap();
    let message = serde_json::to_value(fold(&events)).unwrap();
    assert_eq!(
        message["content"],
        json!([
            { "type": "thinking", "thinking": "Two files.", "signature": "c2ln" },
            { "type": "text", "text": "I look at both." },
            { "type": "tool_use", "id": "toolu_a", "name": "Read", "input": { "file_path": "a" } },
            { "type": "tool_use", "id": "toolu_b", "name": "Glob", "input": {} },
        ])
    );
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(
        message["usage"],
        json!({ "input_tokens": 3, "cache_creation_input_tokens": 120,
                "cache_read_input_tokens": 4000, "output_tokens": 88,
                "cache_creation": { "ephemeral_5m_input_tokens": 120,
                                    "ephemeral_1h_input_tokens": 0 },
                "service_tier": "standard" })
    );
}
