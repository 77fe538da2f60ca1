//! Servers inside the host: the handshake as hosts have seen it, calls, and news.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_mcp::{McpCallResult, McpContent, McpToolCall, SdkServerError, SdkServers};
use bowline_protocol::{McpServerStatus, RawJson};
use bowline_tools::{FailureStage, ToolSource};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    rig::{PATIENCE, Rig},
    script::Script,
};

/// A host with one scripted server called `calc`.
#[derive(Default)]
struct Host {
    script: Mutex<Script>,
    sent: Mutex<Vec<Value>>,
    /// Answers in place of the script's.
    instead: Mutex<VecDeque<Result<Value, SdkServerError>>>,
}

impl Host {
    fn sent(&self) -> Vec<Value> {
        self.sent.lock().unwrap().clone()
    }

    fn methods(&self) -> Vec<String> {
        let method = |message: &Value| message["method"].as_str().unwrap_or_default().to_owned();
        self.sent().iter().map(method).collect()
    }
}

impl SdkServers for Host {
    fn send(
        &self,
        server: &str,
        message: RawJson,
    ) -> BoxFuture<'_, Result<RawJson, SdkServerError>> {
        let message = message.to_value();
        self.sent.lock().unwrap().push(message.clone());
        let answer = if let Some(instead) = self.instead.lock().unwrap().pop_front() {
            instead
        } else if server != "calc" {
            let error = json!({"code": -32601, "message": format!("Server '{server}' not found")});
            Ok(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
        } else {
            let act = self.script.lock().unwrap().hear(&message);
            let answers = act.perform(&mut io::sink(), &mut io::sink()).unwrap().unwrap();
            let hangs = message["params"]["name"] == "hang";
            if hangs {
                return Box::pin(std::future::pending());
            }
            Ok(answers.last().cloned().unwrap_or(json!({"jsonrpc": "2.0", "result": {}})))
        };
        Box::pin(async move { answer.map(RawJson::from) })
    }
}

async fn connected() -> (Rig, Arc<Host>) {
    let host = Arc::new(Host::default());
    let rig = Rig::with(|setup| setup.sdk = Some(host.clone()));
    rig.add("calc", json!({"type": "sdk", "name": "calc"}));
    (rig.start().await, host)
}

#[tokio::test]
async fn the_greeting_comes_first_and_the_rest_after_start() {
    let host = Arc::new(Host::default());
    let rig = Rig::with(|setup| setup.sdk = Some(host.clone()));
    rig.add("calc", json!({"type": "sdk", "name": "calc"}));
    rig.servers.greet_sdk_servers().await;
    let version = env!("CARGO_PKG_VERSION");
    let us = json!({"name": "bowline", "title": "Bowline", "version": version});
    let greeting = json!({
        "method": "initialize", "jsonrpc": "2.0", "id": 0,
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": us},
    });
    assert_eq!(host.sent(), [greeting]);
    assert_eq!(rig.status_of("calc"), McpServerStatus::Pending);

    let rig = rig.start().await;
    let sent = host.sent();
    assert_eq!(sent[1], json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(sent[2], json!({"method": "tools/list", "jsonrpc": "2.0", "id": 1}));
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    assert_eq!(status[0]["transport"], "sdk");
    assert_eq!(status[0]["source"], "sdk");
    assert_eq!(status[0]["scope"], "dynamic");
    assert_eq!(status[0].get("config"), None);
}

#[tokio::test]
async fn calls_carry_their_ids() {
    let (rig, host) = connected().await;
    assert_eq!(rig.text("mcp__calc__echo", json!({"text": "hi"})).await, "echo: hi");
    let sent = host.sent();
    let call = sent.last().unwrap();
    let id = &call["id"];
    let meta = json!({"claudecode/toolUseId": "toolu_1", "progressToken": id});
    let params = json!({"name": "echo", "arguments": {"text": "hi"}, "_meta": meta});
    let expected = json!({"method": "tools/call", "params": params, "jsonrpc": "2.0", "id": id});
    assert_eq!(*call, expected);
    assert_eq!(rig.servers.server_of("mcp__calc__echo").unwrap().source.as_deref(), Some("sdk"));
}

/// The same host, which takes calls of `echo` as they are.
#[derive(Default)]
struct DirectHost {
    messages: Host,
    calls: Mutex<Vec<(McpToolCall, u64)>>,
}

impl SdkServers for DirectHost {
    fn send(
        &self,
        server: &str,
        message: RawJson,
    ) -> BoxFuture<'_, Result<RawJson, SdkServerError>> {
        self.messages.send(server, message)
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        call: &'a McpToolCall,
        progress_token: u64,
    ) -> Option<BoxFuture<'a, Result<McpCallResult, SdkServerError>>> {
        if call.name != "echo" {
            return None;
        }
        self.calls.lock().unwrap().push((call.clone(), progress_token));
        let text = format!("directly: {}", call.arguments["text"].as_str().unwrap());
        let content = vec![McpContent::Text { text }];
        Some(Box::pin(async { Ok(McpCallResult { content, ..McpCallResult::default() }) }))
    }
}

#[tokio::test]
async fn a_host_may_take_calls_as_they_are() {
    let host = Arc::new(DirectHost::default());
    let rig = Rig::with(|setup| setup.sdk = Some(host.clone()));
    rig.add("calc", json!({"type": "sdk", "name": "calc"}));
    let rig = rig.start().await;
    let before = host.messages.sent();
    assert_eq!(rig.text("mcp__calc__echo", json!({"text": "hi"})).await, "directly: hi");
    assert_eq!(host.messages.sent(), before, "no message is sent");
    let (call, token) = host.calls.lock().unwrap().pop().unwrap();
    let arguments = json!({"text": "hi"}).as_object().cloned().unwrap();
    let tool_use_id = Some("toolu_1".into());
    assert_eq!(call, McpToolCall { name: "echo".to_owned(), arguments, tool_use_id });

    // What it does not take comes in a message, and both are numbered in one row.
    rig.text("mcp__calc__grow", json!({})).await;
    let sent = host.messages.sent();
    let call = sent.iter().find(|message| message["method"] == "tools/call").unwrap();
    assert_eq!((&call["params"]["name"], &call["id"]), (&json!("grow"), &json!(token + 1)));
}

#[tokio::test]
async fn a_server_the_host_does_not_know_is_greeted_twice_and_fails() {
    let host = Arc::new(Host::default());
    let rig = Rig::with(|setup| setup.sdk = Some(host.clone()));
    rig.add("ghost", json!({"type": "sdk", "name": "ghost"}));
    rig.servers.greet_sdk_servers().await;
    assert_eq!(host.methods(), ["initialize"]);
    let rig = rig.start().await;
    assert_eq!(host.methods(), ["initialize", "initialize"]);
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    let expected = json!([{
        "name": "ghost", "status": "failed", "transport": "sdk", "scope": "user", "source": "sdk",
    }]);
    assert_eq!(status, expected);
    assert!(rig.servers.tools().is_empty());
}

#[tokio::test]
async fn news_from_the_server_is_read() {
    let (rig, host) = connected().await;
    let deliver = |message: Value| rig.servers.deliver("calc", &RawJson::from(message));
    rig.text("mcp__calc__grow", json!({})).await;
    deliver(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    rig.log.wait_for("calc has tools", 2).await;
    assert_eq!(rig.text("mcp__calc__extra", json!({})).await, "extra called");

    deliver(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    rig.servers.deliver("nobody", &RawJson::from(json!(1)));
    deliver(json!("nonsense"));
    let answered = async {
        while !host.sent().contains(&json!({"jsonrpc": "2.0", "id": "p", "result": {}})) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, answered).await.unwrap();
}

#[tokio::test]
async fn errors_of_every_kind_are_answers() {
    let (rig, host) = connected().await;
    let call = async |instead: Result<Value, SdkServerError>| {
        host.instead.lock().unwrap().push_back(instead);
        rig.call("mcp__calc__echo", json!({})).await.unwrap_err()
    };
    let refused =
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": -32000, "message": "not today"}});
    assert_eq!(call(Ok(refused)).await.content, "not today");
    let missing = SdkServerError::Refused("SDK MCP server not found: calc".to_owned());
    assert_eq!(call(Err(missing)).await.content, "SDK MCP server not found: calc");
    let closed = call(Err(SdkServerError::Closed)).await;
    assert_eq!(closed.stage, FailureStage::Interrupted);
    assert!(closed.content.starts_with("The tool call was interrupted before"));
}

#[tokio::test]
async fn a_cancelled_call_is_withdrawn() {
    let (rig, host) = connected().await;
    let call = rig.tool_call(json!({}));
    let cancel = call.cancel.clone();
    let tool = rig.tool("mcp__calc__hang");
    let withdrawn = async {
        while !host.methods().contains(&"tools/call".to_owned()) {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
        while !host.methods().contains(&"notifications/cancelled".to_owned()) {
            tokio::task::yield_now().await;
        }
    };
    let (failure, withdrawn) =
        tokio::join!(bowline_tools::run(&*tool, call), tokio::time::timeout(PATIENCE, withdrawn));
    withdrawn.unwrap();
    assert_eq!(failure.unwrap_err().stage, FailureStage::Interrupted);
    let sent = host.sent();
    assert_eq!(sent.last().unwrap()["params"]["requestId"], sent[sent.len() - 2]["id"]);
}

#[tokio::test(start_paused = true)]
async fn progress_starts_the_clock_anew() {
    let host = Arc::new(Host::default());
    let rig = Rig::with(|setup| setup.sdk = Some(host.clone()));
    rig.add("calc", json!({"type": "sdk", "name": "calc", "timeout": 10_000}));
    let rig = rig.start().await;
    let begun = Instant::now();
    let (failure, ()) = tokio::join!(rig.call("mcp__calc__hang", json!({})), async {
        tokio::time::sleep(Duration::from_secs(6)).await;
        let token = host.sent().last().unwrap()["id"].clone();
        let params = json!({"progressToken": token, "progress": 1});
        let progress =
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        rig.servers.deliver("calc", &RawJson::from(progress));
    });
    let failure = failure.unwrap_err();
    assert_eq!(failure.content, "MCP server \"calc\" tool \"hang\" timed out after 10s");
    assert_eq!(begun.elapsed().as_secs(), 16);
}

#[tokio::test]
async fn switching_on_again_repeats_the_handshake() {
    let (rig, host) = connected().await;
    rig.servers.set_enabled("calc", false).await.unwrap();
    assert_eq!(rig.status_of("calc"), McpServerStatus::Disabled);
    let before = host.methods().len();
    rig.servers.set_enabled("calc", true).await.unwrap();
    rig.servers.wait_ready(PATIENCE).await;
    let again = host.methods()[before..].to_vec();
    assert_eq!(again[..3], ["initialize", "notifications/initialized", "tools/list"]);
    assert!(rig.servers.reconnect("calc").await.is_err());
}
