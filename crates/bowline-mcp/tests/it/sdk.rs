//! Servers inside the host: the handshake as hosts have seen it, calls, and news.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_mcp::{CallLimits, InProcessServer, SdkServerError, SdkServers, ServerTool};
use bowline_protocol::{McpServerInfo, McpServerStatus, RawJson, ToolListing, ToolResult};
use bowline_tools::{
    Access, FailureStage, Tool, ToolCall, ToolFailure, ToolOutput, ToolSource, ToolSpec, Workspace,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};

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

/// The same host, one of whose servers runs in this process.
#[derive(Default)]
struct InProcessHost {
    messages: Host,
}

impl SdkServers for InProcessHost {
    fn send(
        &self,
        server: &str,
        message: RawJson,
    ) -> BoxFuture<'_, Result<RawJson, SdkServerError>> {
        self.messages.send(server, message)
    }

    fn in_process(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        if server != "here" {
            return None;
        }
        let tool = |name: &str| {
            let listing = ToolListing { name: name.to_owned(), ..ToolListing::default() };
            let spec = limits.spec(&listing);
            ServerTool { tool: Arc::new(Echo { spec, limits: limits.clone() }), listing }
        };
        let info = McpServerInfo { name: "here".to_owned(), ..McpServerInfo::default() };
        Some(InProcessServer::new(info, vec![tool("echo"), tool("wait")]))
    }
}

/// A tool that repeats its input, or waits forever.
struct Echo {
    spec: ToolSpec,
    limits: CallLimits,
}

impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Other
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(async move {
            let progress = Notify::new();
            let work = async {
                if self.spec.name.ends_with("wait") {
                    for _ in 0..call.input["reports"].as_u64().unwrap_or_default() {
                        tokio::time::sleep(Duration::from_secs(8)).await;
                        progress.notify_one();
                    }
                    std::future::pending::<()>().await;
                }
                ToolResult::text(format!("directly: {}", call.input["text"].as_str().unwrap()))
            };
            let results_dir = call.workspace.results_dir();
            self.limits.run("wait", &self.spec, results_dir, &progress, work).await
        })
    }
}

async fn in_process() -> (Rig, Arc<InProcessHost>) {
    let host = Arc::new(InProcessHost::default());
    let rig = Rig::with(|setup| setup.sdk = Some(host.clone()));
    rig.add("here", json!({"type": "sdk", "name": "here", "timeout": 10_000}));
    rig.add("calc", json!({"type": "sdk", "name": "calc"}));
    rig.servers.greet_sdk_servers().await;
    (rig.start().await, host)
}

#[tokio::test]
async fn in_process_server_gets_no_messages() {
    let (rig, host) = in_process().await;
    assert_eq!(rig.text("mcp__here__echo", json!({"text": "hi"})).await, "directly: hi");
    let others = ["tools/list", "tools/list", "prompts/list", "resources/list"];
    let expected = [&["initialize", "notifications/initialized"][..], &others].concat();
    assert_eq!(host.messages.methods(), expected, "all of them to the other server");
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    let expected = json!({
        "name": "here", "status": "connected", "transport": "sdk", "scope": "dynamic",
        "source": "sdk", "serverInfo": {"name": "here", "version": ""},
        "tools": [{"name": "echo", "annotations": {}}, {"name": "wait", "annotations": {}}],
    });
    assert_eq!(status[0], expected);
    let name = rig.servers.display_name("mcp__here__echo").unwrap();
    assert_eq!((&*name.tool, &*name.server), ("Echo", "here"));

    // A server that does not run here gets its calls in messages.
    rig.text("mcp__calc__echo", json!({"text": "hi"})).await;
    assert_eq!(host.messages.methods().last().unwrap(), "tools/call");
}

#[tokio::test]
async fn in_process_server_can_be_disabled_and_enabled() {
    let (rig, _) = in_process().await;
    let tool = rig.tool("mcp__here__wait");
    let call = tokio::spawn({
        let call = rig.tool_call(json!({}));
        async move { bowline_tools::run(&*tool, call).await }
    });
    tokio::task::yield_now().await;
    rig.servers.set_enabled("here", false).await.unwrap();
    let failure = call.await.unwrap().unwrap_err();
    assert_eq!(failure.stage, FailureStage::Interrupted);
    let names = |rig: &Rig| {
        rig.servers.tools().iter().map(|it| it.spec().name.to_string()).collect::<Vec<_>>()
    };
    assert!(!names(&rig).contains(&"mcp__here__echo".to_owned()));
    rig.servers.set_enabled("here", true).await.unwrap();
    rig.servers.wait_ready(PATIENCE).await;
    assert_eq!(rig.text("mcp__here__echo", json!({"text": "hi"})).await, "directly: hi");
}

#[tokio::test(start_paused = true)]
async fn in_process_call_times_out_unless_it_reports_progress() {
    let (rig, _) = in_process().await;
    let start = Instant::now();
    let failure = rig.call("mcp__here__wait", json!({"reports": 2})).await.unwrap_err();
    let expected = "MCP server \"here\" tool \"wait\" timed out after 10s";
    assert_eq!((&*failure.content, start.elapsed().as_secs()), (expected, 26));
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
async fn progress_restarts_the_timeout() {
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
