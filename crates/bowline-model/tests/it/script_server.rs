//! The script model over HTTP, requested by a plain client and by our own providers.

use bowline_model::{
    Delivery, ErrorKind, Model, ModelMessage, ModelRequest,
    script::{ScriptModel, ScriptServer},
};
use bowline_protocol::ContentBlock;
use serde_json::{Value, json};

use crate::client::{anthropic, call, conversation, events, fold, openai, prompt, result};

const SCRIPT: &str = "THINK hm\nSAY Hello big world\nTOOL Bash {\"command\": \"ls -la\"}\n\
                      TOOL Read {\"file_path\": \"a\"}\nNEXT\nSAY bye";

async fn post(url: String, body: Value) -> (u16, String) {
    // The provider of TLS is ours to install, even where no TLS is spoken.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    let response = client.post(url).json(&body).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn served_and_in_process_responses_are_equal() {
    let server = ScriptServer::local().await.unwrap();
    let over_http = anthropic(&server.url());
    let in_process = ScriptModel::new();
    for delivery in [Delivery::Stream, Delivery::Whole] {
        for script in [SCRIPT, "plain words", "NEXT\nSAY x", "TOKENS 500", "SAY a\nSTOP refusal"] {
            let request = ModelRequest { delivery, ..prompt(script) };
            let far = events(&over_http, request.clone()).await.unwrap();
            let near = events(&in_process, request).await.unwrap();
            match delivery {
                Delivery::Stream => assert_eq!(far, near, "{script}"),
                Delivery::Whole => assert_eq!(json!(fold(&far)), json!(fold(&near)), "{script}"),
            }
        }
    }
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn openai_dialect_loses_only_the_signature() {
    let server = ScriptServer::local().await.unwrap();
    for delivery in [Delivery::Stream, Delivery::Whole] {
        let request = ModelRequest { delivery, ..prompt(SCRIPT) };
        let near = fold(&events(&ScriptModel::new(), request.clone()).await.unwrap());
        let far = fold(&events(&openai(&server.url()), request).await.unwrap());
        let mut near = serde_json::to_value(near).unwrap();
        near["content"][0]["signature"] = "".into();
        assert_eq!(serde_json::to_value(far).unwrap(), near, "{delivery:?}");
    }
}

#[tokio::test]
async fn both_dialects_continue_after_tool_results() {
    let server = ScriptServer::local().await.unwrap();
    let request = || {
        conversation(vec![
            ModelMessage::user(vec![ContentBlock::text("TOOL A\nTOOL B\nNEXT\nECHORESULT")]),
            ModelMessage::assistant(vec![call("1", "A", json!({})), call("2", "B", json!({}))]),
            ModelMessage::user(vec![result("1", "one"), result("2", "two")]),
        ])
    };
    for events in [
        events(&anthropic(&server.url()), request()).await,
        events(&openai(&server.url()), request()).await,
    ] {
        let message = fold(&events.unwrap());
        assert_eq!(message.content[0].as_text(), Some("result was: two"));
    }
}

#[tokio::test]
async fn failures_travel_in_both_dialects() {
    let server = ScriptServer::local().await.unwrap();
    let script = "ERRORS 529 -1\nERRMSG busy\nRETRYAFTER 2";
    for error in [
        events(&anthropic(&server.url()), prompt(script)).await.unwrap_err(),
        events(&openai(&server.url()), prompt(script)).await.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "529 busy");
        assert_eq!(error.api_type.as_deref(), Some("overloaded_error"));
        assert_eq!(error.retry_after.unwrap().as_secs(), 2);
    }
    for (script, kind) in
        [("SAY a b\nCUT", ErrorKind::StreamCut), ("SAY a\nSTREAMERR api_error x", ErrorKind::Api)]
    {
        for error in [
            events(&anthropic(&server.url()), prompt(script)).await.unwrap_err(),
            events(&openai(&server.url()), prompt(script)).await.unwrap_err(),
        ] {
            assert_eq!(error.kind, kind, "{script}: {error}");
        }
    }
}

#[tokio::test]
async fn a_plain_client_of_the_messages_api() {
    let server = ScriptServer::local().await.unwrap();
    let body = json!({ "model": "x", "max_tokens": 5, "stream": true,
                       "messages": [{ "role": "user", "content": "SAY hi" }] });
    let (status, text) = post(format!("{}/v1/messages", server.url()), body.clone()).await;
    assert_eq!(status, 200);
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(
        names,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    let (_, count) = post(format!("{}/v1/messages/count_tokens", server.url()), body).await;
    assert_eq!(count, r#"{"input_tokens":2}"#);
    let seen = server.requests();
    assert_eq!(seen.len(), 2);
    assert_eq!((seen[0].method.as_str(), seen[0].path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(seen[0].body["messages"][0]["content"], "SAY hi");
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn a_plain_client_of_chat_completions() {
    let server = ScriptServer::local().await.unwrap();
    let url = format!("{}/v1/chat/completions", server.url());
    let body = json!({ "model": "x", "messages": [{ "role": "user", "content": "SAY hi" }] });
    let (status, text) = post(url.clone(), body.clone()).await;
    let response: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status, 200);
    assert_eq!(response["object"], "chat.completion");
    assert_eq!(response["choices"][0]["message"], json!({ "role": "assistant", "content": "hi" }));
    assert_eq!(response["choices"][0]["finish_reason"], "stop");

    let mut streamed = body;
    streamed["stream"] = true.into();
    let (_, text) = post(url, streamed).await;
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    assert!(!text.contains("prompt_tokens"), "counts only for those who ask");
}

#[tokio::test]
async fn every_response_has_a_request_id() {
    let server = ScriptServer::local().await.unwrap();
    let request = || std::sync::Arc::new(prompt("SAY hi"));
    let near = ScriptModel::new().stream(request()).await.unwrap();
    let id = near.request_id().unwrap();
    assert!(id.starts_with("req_script_"), "{id}");
    let whole = ModelRequest { delivery: Delivery::Whole, ..prompt("SAY hi") };
    for stream in [
        anthropic(&server.url()).stream(request()).await.unwrap(),
        anthropic(&server.url()).stream(whole.into()).await.unwrap(),
        openai(&server.url()).stream(request()).await.unwrap(),
    ] {
        assert_eq!(stream.request_id(), Some(id));
    }
}

#[tokio::test]
async fn invalid_requests_are_rejected() {
    let server = ScriptServer::local().await.unwrap();
    let table = [
        ("/v1/messages", json!({ "nothing": 1 }), 400),
        ("/v1/chat/completions", json!({ "nothing": 1 }), 400),
        ("/v1/messages", json!({ "messages": [{ "role": "user", "content": "TOOL A {x" }] }), 400),
        ("/v1/unknown", json!({}), 404),
    ];
    for (path, body, expected) in table {
        let (status, text) = post(format!("{}{path}", server.url()), body).await;
        assert_eq!(status, expected, "{path}");
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(error["type"], "error", "{text}");
    }
}

#[tokio::test]
async fn shutdown_ends_a_hanging_response() {
    let server = ScriptServer::local().await.unwrap();
    let model = anthropic(&server.url());
    let stream = model.stream(prompt("SAY a b\nHANG").into()).await.unwrap();
    let (event_lines, stopped) = tokio::join!(crate::client::collect(stream), server.shutdown());
    assert_eq!(event_lines.unwrap_err().kind, ErrorKind::StreamCut);
    stopped.unwrap();
}
