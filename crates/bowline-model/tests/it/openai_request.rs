//! Requests to a chat-completions server.

use bowline_model::{
    LimitField, ModelMessage, ModelRequest, OpenAi, OpenAiConfig, Timeouts, ToolChoice,
    ToolDefinition,
};
use bowline_protocol::{
    Content, ContentBlock, Effort, Extra, ImageBlock, Role, Source, TextBlock, ThinkingBlock,
    ToolResultBlock,
};
use serde_json::{Value, json};

use crate::{
    client::{call, conversation, event_lines, openai, prompt, result},
    odd_server::{OddServer, Received, streamed},
};

async fn sent(request: ModelRequest) -> Received {
    let mut server = OddServer::once(streamed("")).await;
    event_lines(&openai(&server.url), request).await;
    server.request().await
}

async fn messages(messages: Vec<ModelMessage>) -> Value {
    sent(conversation(messages)).await.body["messages"].clone()
}

fn image() -> ContentBlock {
    let source = Source::base64("image/png", "QUJD");
    ContentBlock::Image(ImageBlock { source, extra: Extra::new() })
}

#[tokio::test]
async fn a_small_request() {
    let received = sent(prompt("hi")).await;
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), None, "local servers need no key");
    assert_eq!(
        received.body,
        json!({ "model": "m", "stream": true, "stream_options": { "include_usage": true },
                "messages": [{ "role": "user", "content": "hi" }] })
    );
}

#[tokio::test]
async fn request_with_every_field() {
    let tool = ToolDefinition {
        name: "Read".to_owned(),
        description: "reads".to_owned(),
        input_schema: json!({ "type": "object" }).into(),
        extra: Extra::new(),
    };
    let server_tool = ToolDefinition { name: "web_search".to_owned(), ..ToolDefinition::default() };
    let system = |text: &str| TextBlock { text: text.to_owned(), extra: Extra::new() };
    let schema = json!({ "type": "object" });
    let extra = json!({ "output_config": { "format": { "type": "json_schema", "schema": schema } },
                        "temperature": 0.5, "context_management": {} });
    let body = sent(ModelRequest {
        system: vec![system("one"), system("two")],
        tools: vec![tool.into(), server_tool.into()],
        tool_choice: Some(ToolChoice::Tool {
            name: "Read".to_owned(),
            disable_parallel_tool_use: true,
        }),
        max_tokens: Some(100),
        effort: Some(Effort::High),
        stop_sequences: vec!["END".to_owned()],
        extra: serde_json::from_value(extra).unwrap(),
        ..prompt("hi")
    })
    .await
    .body;
    assert_eq!(
        body,
        json!({
            "model": "m", "stream": true, "stream_options": { "include_usage": true },
            "messages": [
                { "role": "system", "content": "one\n\ntwo" },
                { "role": "user", "content": "hi" },
            ],
            "tools": [{ "type": "function", "function": {
                "name": "Read", "description": "reads", "parameters": { "type": "object" } } }],
            "tool_choice": { "type": "function", "function": { "name": "Read" } },
            "parallel_tool_calls": false,
            "max_tokens": 100, "stop": ["END"], "reasoning_effort": "high", "temperature": 0.5,
            "response_format": { "type": "json_schema", "json_schema": {
                "name": "answer", "strict": true, "schema": { "type": "object" } } },
        })
    );
}

#[tokio::test]
async fn calls_and_results_in_their_order() {
    let thinking = ContentBlock::Thinking(ThinkingBlock::default());
    let failed = ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: "b".into(),
        content: Some("no such file".into()),
        is_error: Some(true),
        extra: Extra::new(),
    });
    let sent = messages(vec![
        ModelMessage::user(vec![ContentBlock::text("do it")]),
        ModelMessage::assistant(vec![
            thinking,
            ContentBlock::text("I will."),
            call("a", "Bash", json!({ "command": "ls" })),
            call("b", "Read", json!({})),
        ]),
        ModelMessage::user(vec![result("a", "file"), failed, ContentBlock::text("and then?")]),
    ])
    .await;
    let function = |name: &str, arguments: &str| json!({ "name": name, "arguments": arguments });
    assert_eq!(
        sent,
        json!([
            { "role": "user", "content": "do it" },
            { "role": "assistant", "content": "I will.", "tool_calls": [
                { "id": "a", "type": "function", "function": function("Bash", r#"{"command":"ls"}"#) },
                { "id": "b", "type": "function", "function": function("Read", "{}") },
            ] },
            { "role": "tool", "tool_call_id": "a", "content": "file" },
            { "role": "tool", "tool_call_id": "b", "content": "Error: no such file" },
            { "role": "user", "content": "and then?" },
        ])
    );
}

#[tokio::test]
async fn images_of_the_user_and_of_tools() {
    let shown = ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: "a".into(),
        content: Some(Content::Blocks(vec![ContentBlock::text("a picture"), image()])),
        ..ToolResultBlock::default()
    });
    let sent = messages(vec![
        ModelMessage::user(vec![ContentBlock::text("what is it?"), image()]),
        ModelMessage::assistant(vec![call("a", "Read", json!({}))]),
        ModelMessage::user(vec![shown]),
    ])
    .await;
    let url = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,QUJD" } });
    assert_eq!(sent[0]["content"], json!([{ "type": "text", "text": "what is it?" }, url]));
    assert_eq!(sent[1]["content"], Value::Null);
    assert_eq!(sent[2]["role"], "tool");
    assert_eq!(sent[2]["content"], "a picture\n(see the attachment in the next message)");
    assert_eq!(sent[3]["role"], "user");
    assert_eq!(sent[3]["content"][1], url, "only users can show pictures here");
}

#[tokio::test]
async fn documents_and_system_messages() {
    let block = |json: Value| ContentBlock::parse(&json.to_string()).unwrap();
    let text = block(json!({ "type": "document", "title": "Notes", "source": {
        "type": "text", "media_type": "text/plain", "data": "line" } }));
    let pdf = block(json!({ "type": "document", "source": {
        "type": "base64", "media_type": "application/pdf", "data": "JVBE" } }));
    let sent = messages(vec![
        ModelMessage { role: Role::System, content: vec![ContentBlock::text("mind this")] },
        ModelMessage::user(vec![text, pdf]),
    ])
    .await;
    let file =
        json!({ "filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBE" });
    assert_eq!(
        sent,
        json!([
            { "role": "system", "content": "mind this" },
            { "role": "user", "content": [
                { "type": "text", "text": "Notes\nline" },
                { "type": "file", "file": file },
            ] },
        ])
    );
}

#[tokio::test]
async fn a_key_and_the_other_name_of_the_limit() {
    let mut server = OddServer::once(streamed("")).await;
    let config = OpenAiConfig {
        base_url: Some(format!("{}/v1/", server.url)),
        api_key: Some("key-1".into()),
        headers: vec![("x-title".to_owned(), "t".to_owned())],
        limit_field: Some(LimitField::MaxCompletionTokens),
    };
    let model = OpenAi::new(&config, Timeouts::default()).unwrap();
    assert!(!format!("{config:?} {model:?}").contains("key-1"), "keys are never shown");
    event_lines(&model, ModelRequest { max_tokens: Some(9), ..prompt("hi") }).await;
    let received = server.request().await;
    assert_eq!(received.path, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), Some("Bearer key-1"));
    assert_eq!(received.header("x-title"), Some("t"));
    assert_eq!(received.body["max_completion_tokens"], 9);
    assert_eq!(received.body["max_tokens"], Value::Null);
}
