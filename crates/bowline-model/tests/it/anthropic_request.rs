//! Requests to the Messages API: body, headers, cache marks.

use std::sync::Arc;

use bowline_model::{
    Anthropic, AnthropicConfig, Metadata, Model, ModelMessage, ModelRequest, Thinking, Timeouts,
    ToolChoice, ToolDefinition,
};
use bowline_protocol::{ContentBlock, Effort, Extra, TextBlock, ThinkingBlock};
use serde_json::{Value, json};

use crate::{
    client::{anthropic, call, conversation, event_lines, prompt, result},
    odd_server::{OddServer, Received, streamed, whole},
};

async fn sent(request: ModelRequest) -> Received {
    let mut server = OddServer::once(streamed("")).await;
    event_lines(&anthropic(&server.url), request).await;
    server.request().await
}

fn system(text: &str) -> TextBlock {
    TextBlock { text: text.to_owned(), extra: Extra::new() }
}

fn tool(name: &str) -> Arc<ToolDefinition> {
    Arc::new(ToolDefinition {
        name: name.to_owned(),
        description: format!("does {name}"),
        input_schema: json!({ "type": "object" }).into(),
        extra: Extra::new(),
    })
}

#[tokio::test]
async fn a_small_request() {
    let received = sent(prompt("hi")).await;
    assert_eq!(received.path, "/v1/messages");
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received.header("content-type"), Some("application/json"));
    assert_eq!(received.header("x-api-key"), None);
    assert_eq!(received.header("authorization"), None);
    let mark = json!({ "type": "ephemeral" });
    let text = json!({ "type": "text", "text": "hi", "cache_control": mark });
    assert_eq!(
        received.body,
        json!({ "model": "m", "max_tokens": 32_000, "stream": true,
                "messages": [{ "role": "user", "content": [text] }] })
    );
}

#[tokio::test]
async fn request_with_every_field() {
    let extra =
        json!({ "output_config": { "format": { "type": "json_schema" } }, "speed": "fast" });
    let request = ModelRequest {
        model: "claude-opus-5-5".to_owned(),
        system: vec![system("be brief"), system("  ")],
        tools: vec![tool("Read"), tool("Bash")],
        tool_choice: Some(ToolChoice::Auto { disable_parallel_tool_use: true }),
        thinking: Some(Thinking::Enabled { budget_tokens: 2048, display: None }),
        effort: Some(Effort::Xhigh),
        stop_sequences: vec!["END".to_owned()],
        metadata: Metadata { user_id: Some("somebody".to_owned()) },
        extra: serde_json::from_value(extra).unwrap(),
        ..prompt("hi")
    };
    let body = sent(request).await.body;
    assert_eq!(body["max_tokens"], 128_000, "what the model can");
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(
        body["system"],
        json!([{ "type": "text", "text": "be brief", "cache_control": mark }]),
        "the API refuses blank texts"
    );
    let schema = json!({ "type": "object" });
    assert_eq!(
        body["tools"],
        json!([
            { "name": "Read", "description": "does Read", "input_schema": schema },
            { "name": "Bash", "description": "does Bash", "input_schema": schema,
              "cache_control": mark },
        ])
    );
    assert_eq!(body["tool_choice"], json!({ "type": "auto", "disable_parallel_tool_use": true }));
    assert_eq!(body["thinking"], json!({ "type": "enabled", "budget_tokens": 2048 }));
    assert_eq!(
        body["output_config"],
        json!({ "effort": "xhigh", "format": { "type": "json_schema" } })
    );
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert_eq!(body["metadata"], json!({ "user_id": "somebody" }));
    assert_eq!(body["speed"], "fast");
}

/// Where the marks are, as in `messages[0].content[1]`.
fn marks(body: &Value) -> Vec<String> {
    fn walk(path: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("cache_control") {
                    found.push(path.to_owned());
                }
                fields.iter().for_each(|(key, value)| walk(&format!("{path}.{key}"), value, found));
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(place, item)| walk(&format!("{path}[{place}]"), item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk("", body, &mut found);
    found.sort();
    found
}

fn long_conversation() -> ModelRequest {
    let user = |text: &str| ModelMessage::user(vec![ContentBlock::text(text)]);
    ModelRequest {
        system: vec![system("one"), system("two")],
        tools: vec![tool("Read"), tool("Bash")],
        ..conversation(vec![
            user("first"),
            ModelMessage::assistant(vec![ContentBlock::text("answer")]),
            user("second"),
            ModelMessage::assistant(vec![call("t1", "Bash", json!({}))]),
            ModelMessage::user(vec![result("t1", "ok"), ContentBlock::text(" ")]),
        ])
    }
}

#[tokio::test]
async fn four_cache_marks_end_the_stable_prefixes() {
    let body = sent(long_conversation()).await.body;
    let expected =
        [".messages[2].content[0]", ".messages[4].content[0]", ".system[1]", ".tools[1]"];
    assert_eq!(marks(&body), expected);
}

#[tokio::test]
async fn existing_cache_marks_count_against_the_limit() {
    let mut request = long_conversation();
    let marked = json!({ "text": "first", "cache_control": { "type": "ephemeral", "ttl": "1h" } });
    let marked = ContentBlock::Text(serde_json::from_value(marked).unwrap());
    request.messages[0] = Arc::new(ModelMessage::user(vec![marked.clone(), marked]));
    let body = sent(request).await.body;
    let expected = [
        ".messages[0].content[0]",
        ".messages[0].content[1]",
        ".messages[4].content[0]",
        ".system[1]",
    ];
    assert_eq!(marks(&body), expected);
}

#[tokio::test]
async fn thinking_is_sent_back_only_with_its_signature() {
    let thinking = |signature: &str| {
        ContentBlock::Thinking(ThinkingBlock {
            thinking: "hm".to_owned(),
            signature: signature.to_owned(),
            extra: Extra::new(),
        })
    };
    let body = sent(conversation(vec![
        ModelMessage::assistant(vec![thinking("sig"), thinking("")]),
        ModelMessage::assistant(vec![thinking("")]),
        ModelMessage::user(vec![ContentBlock::text("go on")]),
    ]))
    .await
    .body;
    let kept = json!({ "type": "thinking", "thinking": "hm", "signature": "sig" });
    assert_eq!(body["messages"][0], json!({ "role": "assistant", "content": [kept] }));
    assert_eq!(body["messages"][1]["role"], "user", "an empty message is none");
}

#[tokio::test]
async fn credentials_betas_and_headers() {
    let mut server = OddServer::once(streamed("")).await;
    let config = AnthropicConfig {
        base_url: Some(format!("{}/v1/", server.url)),
        api_key: Some("key-1".into()),
        auth_token: Some("token-2".into()),
        betas: vec!["a".to_owned(), "b".to_owned()],
        headers: vec![("x-team".to_owned(), "blue".to_owned())],
    };
    assert!(!format!("{config:?}").contains("key-1"), "keys are never shown");
    let model = Anthropic::new(&config, Timeouts::default()).unwrap();
    assert!(!format!("{model:?}").contains("key-1"));
    event_lines(
        &model,
        ModelRequest { betas: vec!["b".to_owned(), "c".to_owned()], ..prompt("hi") },
    )
    .await;
    let received = server.request().await;
    assert_eq!(received.path, "/v1/messages", "a version in the base URL is not doubled");
    assert_eq!(received.header("x-api-key"), Some("key-1"));
    assert_eq!(received.header("authorization"), Some("Bearer token-2"));
    assert_eq!(received.header("anthropic-beta"), Some("a,b,c"));
    assert_eq!(received.header("x-team"), Some("blue"));
}

#[tokio::test]
async fn counting_tokens() {
    let mut server = OddServer::once(whole("200 OK", "", r#"{"input_tokens":42}"#)).await;
    let request = ModelRequest { max_tokens: Some(5), ..prompt("hi") };
    let count = anthropic(&server.url).count_tokens(request.into()).await.unwrap();
    assert_eq!(count, Some(42));
    let received = server.request().await;
    assert_eq!(received.path, "/v1/messages/count_tokens");
    assert_eq!(received.body["max_tokens"], json!(null), "the call refuses it");
    assert_eq!(received.body["messages"][0]["content"][0]["text"], "hi");
}
