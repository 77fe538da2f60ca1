//! Responses of a server of tools to JSON-RPC messages.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::*;
use crate::{
    Progress, Structured,
    tool::{CurrentSession, server_messages},
};

#[derive(Deserialize, JsonSchema)]
struct Pair {
    /// The first.
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn calculator() -> McpServer {
    let add = Tool::new("add", "Adds", async |pair: Pair| (pair.a + pair.b).to_string());
    let div = Tool::new("div", "Divides", async |pair: Pair, context: ToolContext| {
        let id = context.tool_use_id.map(|id| id.0).unwrap_or_default();
        pair.a.checked_div(pair.b).map(|c| Structured(json!({"c": c, "id": id}))).ok_or("by 0")
    });
    let bad = Tool::new("bad", "Panics", async |_: Pair| -> String { panic!("oh no") });
    McpServer::new("calc").tool(add).tool(div).tool(bad)
}

/// The server in a session, and the messages that it sends unasked.
fn served(server: McpServer) -> (ServedTools, mpsc::Receiver<bowline_protocol::McpServerMessage>) {
    let (messages, sent) = server_messages();
    let id = CurrentSession::default();
    id.is("session-1".into());
    let session = ServerSession { messages, id, on_elicitation: None };
    (ServedTools::new(server, session), sent)
}

async fn request(method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let (server, _said) = served(calculator());
    let response = server
        .respond(ServerRequest::read(&message.into()), CancellationToken::new())
        .await
        .to_value();
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!(7)));
    response
}

async fn call(name: &str, arguments: Value) -> Value {
    let meta = json!({"claudecode/toolUseId": "toolu_1", "progressToken": 7});
    let params = json!({"name": name, "arguments": arguments, "_meta": meta});
    request("tools/call", params).await["result"].clone()
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[tokio::test]
async fn initialize_returns_name_version_and_protocol() {
    let hello = request("initialize", json!({"protocolVersion": "2025-06-18"})).await;
    let expected = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "calc", "version": "1.0.0"},
    });
    assert_eq!(hello["result"], expected);
    let hello = request("initialize", json!({"protocolVersion": "1999"})).await;
    assert_eq!(hello["result"]["protocolVersion"], NEWEST);
}

#[tokio::test]
async fn listed_schema_comes_from_the_argument_type() {
    let list = request("tools/list", json!({})).await;
    let add = &list["result"]["tools"][0];
    assert_eq!((&add["name"], &add["description"]), (&json!("add"), &json!("Adds")));
    assert_eq!(add["inputSchema"]["type"], "object");
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(add["inputSchema"]["properties"]["a"]["description"], "The first.");
}

#[tokio::test]
async fn failures_and_panics_are_error_results() {
    assert_eq!(call("add", json!({"a": 2, "b": 3})).await, json!({"content": text("5")}));
    let result = call("div", json!({"a": 6, "b": 3})).await;
    assert_eq!(result["structuredContent"], json!({"c": 2, "id": "toolu_1"}));
    let failed = [
        ("div", json!({"a": 6, "b": 0}), "by 0"),
        ("bad", json!({"a": 6, "b": 0}), "the tool bad panicked: oh no"),
        ("none", json!({}), "Tool 'none' not found"),
    ];
    for (name, arguments, why) in failed {
        let result = call(name, arguments).await;
        assert_eq!(result, json!({"content": text(why), "isError": true}));
    }
    let result = call("add", json!({"a": "x"})).await;
    assert_eq!(result["isError"], true);
    let why = result["content"][0]["text"].as_str().unwrap();
    assert!(why.starts_with("Input validation error: invalid type"), "{why}");
}

#[tokio::test]
async fn unknown_method_is_an_error_and_notification_gets_a_stand_in() {
    let response = request("resources/list", json!({})).await;
    assert_eq!(response["error"]["code"], METHOD_NOT_FOUND);
    let news = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let (server, _said) = served(calculator());
    let response =
        server.respond(ServerRequest::read(&news.into()), CancellationToken::new()).await;
    assert_eq!(response.get(), r#"{"jsonrpc":"2.0","result":{}}"#);
}

#[tokio::test]
async fn cancelled_notification_stops_the_call() {
    let started = std::sync::Arc::new(tokio::sync::Notify::new());
    let signal = started.clone();
    let slow = Tool::new("slow", "", move |_: Nothing| {
        signal.notify_one();
        std::future::pending::<String>()
    });
    let (server, _said) = served(McpServer::new("s").tool(slow));
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow"}});
    let call = RawJson::from(call);
    let stop = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
    });
    let stop = async {
        started.notified().await;
        server.respond(ServerRequest::read(&stop.into()), CancellationToken::new()).await
    };
    let (response, _) =
        tokio::join!(server.respond(ServerRequest::read(&call), CancellationToken::new()), stop);
    assert_eq!(response.to_value()["result"]["isError"], true);
    assert!(server.calls.lock().is_empty());
}

#[tokio::test]
async fn call_reports_progress_and_knows_its_session() {
    let walk = Tool::new("walk", "", async |_: Nothing, context: ToolContext| {
        context.progress(Progress::of(1.0, 2.0).saying("half way")).await;
        context.session_id.map(|id| id.0).unwrap_or_default()
    });
    let (server, mut sent) = served(McpServer::new("s").tool(walk));
    for (meta, expected) in [(json!({"progressToken": "t"}), true), (json!({}), false)] {
        let params = json!({"name": "walk", "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let response = server
            .respond(ServerRequest::read(&call.into()), CancellationToken::new())
            .await
            .to_value();
        assert_eq!(response["result"]["content"], text("session-1"));
        let report = sent.try_recv().ok();
        assert_eq!(report.is_some(), expected);
        if let Some(report) = report {
            assert_eq!(report.server_name, "s");
            assert_eq!(
                report.message.get(),
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.0,"total":2.0,"message":"half way"}}"#
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn call_beyond_its_time_limit_is_an_error_result() {
    let slow = Tool::new("slow", "", async |_: Nothing| std::future::pending::<String>().await)
        .time_limit(Duration::from_secs(3));
    let (server, _said) = served(McpServer::new("s").tool(slow));
    let params = json!({"name": "slow"});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let response = server
        .respond(ServerRequest::read(&call.into()), CancellationToken::new())
        .await
        .to_value();
    let why = "the tool slow took longer than 3s";
    assert_eq!(response["result"], json!({"content": text(why), "isError": true}));
}

#[cfg(feature = "schema")]
#[tokio::test]
async fn arguments_are_checked_against_the_schema_before_the_handler_runs() {
    use crate::Field;

    let fields = [("sql", Field::String), ("params", Field::Array)];
    let query = Tool::with_fields("query", "", fields, async |it: Value| it["sql"].to_string());
    let (server, _said) = served(McpServer::new("s").tool(query));
    for (arguments, expected) in [
        (json!({"sql": "select 1", "params": []}), json!({"content": text("\"select 1\"")})),
        (
            json!({"sql": 1, "params": []}),
            json!({
                "content": text("Input validation error: 1 is not of type \"string\" (at /sql)"),
                "isError": true,
            }),
        ),
    ] {
        let params = json!({"name": "query", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let response = server
            .respond(ServerRequest::read(&call.into()), CancellationToken::new())
            .await
            .to_value();
        assert_eq!(response["result"], expected);
    }
}
