//! The part of MCP that a server inside a host speaks: JSON-RPC messages, one answer each.
//!
//! Such a server is asked for its name and its tools and has them called, and its transport is
//! an agent's control requests. That is a page of code; a general MCP server with a transport
//! made up for it would be a hundred times that and slower for every call.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::{RawJson, ToolUseId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{McpServer, ToolContext, ToolResult};

/// The newest version of MCP that we speak, for clients that ask for one we do not know.
const NEWEST: &str = "2025-11-25";

/// All versions of MCP that we speak. What we use of it is the same in all of them.
const VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", NEWEST];

const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

#[derive(Deserialize)]
struct Incoming {
    #[serde(default)]
    id: Option<RawJson>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<RawJson>,
}

#[derive(Serialize)]
struct Outgoing {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<RawJson>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Result(Value),
    Error { code: i32, message: String },
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default = "RawJson::empty_object")]
    arguments: RawJson,
    #[serde(default, rename = "_meta")]
    meta: CallMeta,
}

#[derive(Default, Deserialize)]
struct CallMeta {
    #[serde(default, rename = "claudecode/toolUseId")]
    tool_use_id: Option<ToolUseId>,
}

/// The calls that run, by their id, so that they can be stopped.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<HashMap<String, CancellationToken>>);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that runs. Forgotten when it is dropped.
struct Running<'a> {
    calls: &'a Calls,
    id: &'a str,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.calls.lock().remove(self.id);
    }
}

impl McpServer {
    /// Answers one message. What wants no answer gets a stand-in, because the transport needs one.
    pub(crate) async fn answer(&self, message: &RawJson, cancel: CancellationToken) -> RawJson {
        let (id, outcome) = match message.parse::<Incoming>() {
            Ok(Incoming { id, method: Some(method), params }) => {
                let params = params.unwrap_or_else(RawJson::empty_object);
                let outcome = self.dispatch(&method, &params, id.as_ref(), cancel).await;
                (id, outcome)
            }
            // An answer to a question; we ask none.
            Ok(Incoming { id, method: None, .. }) => {
                let message = "not a request".to_owned();
                (id, Outcome::Error { code: INVALID_REQUEST, message })
            }
            Err(error) => {
                (None, Outcome::Error { code: INVALID_REQUEST, message: error.to_string() })
            }
        };
        RawJson::from_value(&Outgoing { jsonrpc: "2.0", id, outcome })
            .expect("an answer is made of JSON")
    }

    async fn dispatch(
        &self,
        method: &str,
        params: &RawJson,
        id: Option<&RawJson>,
        cancel: CancellationToken,
    ) -> Outcome {
        match method {
            "initialize" => Outcome::Result(self.hello(params)),
            "ping" => Outcome::Result(json!({})),
            "tools/list" => {
                let tools: Vec<_> = self.tools.iter().map(|tool| &tool.listed).collect();
                Outcome::Result(json!({"tools": tools}))
            }
            "tools/call" => match params.parse() {
                Ok(call) => {
                    let result = self.call(call, id.map_or("", RawJson::get), cancel).await;
                    Outcome::Result(json!(result))
                }
                Err(error) => Outcome::Error { code: INVALID_PARAMS, message: error.to_string() },
            },
            "notifications/cancelled" => {
                self.stop(params);
                Outcome::Result(json!({}))
            }
            _ if id.is_none() => Outcome::Result(json!({})),
            _ => {
                let message = format!("Method not found: {method}");
                Outcome::Error { code: METHOD_NOT_FOUND, message }
            }
        }
    }

    fn hello(&self, params: &RawJson) -> Value {
        let asked = params.to_value();
        let asked = asked["protocolVersion"].as_str().unwrap_or(NEWEST);
        let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&NEWEST);
        let mut hello = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": self.name, "version": self.version},
        });
        if let Some(text) = &self.instructions {
            hello["instructions"] = json!(text);
        }
        hello
    }

    async fn call(&self, call: CallParams, id: &str, cancel: CancellationToken) -> ToolResult {
        let Some(tool) = self.tools.iter().find(|tool| tool.name() == call.name) else {
            return ToolResult::error(format!("Tool '{}' not found", call.name));
        };
        let cancel = cancel.child_token();
        self.calls.lock().insert(id.to_owned(), cancel.clone());
        let _running = Running { calls: &self.calls, id };
        let context =
            ToolContext { server: self.name.clone(), tool_use_id: call.meta.tool_use_id, cancel };
        tool.call(&call.arguments, context).await
    }

    /// Stops the call that a notification names.
    fn stop(&self, params: &RawJson) {
        let id = params.to_value()["requestId"].to_string();
        if let Some(cancel) = self.calls.lock().get(&id) {
            cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Structured, Tool};
    use schemars::JsonSchema;

    #[derive(Deserialize, JsonSchema)]
    struct Pair {
        /// The first.
        a: i64,
        b: i64,
    }

    fn calculator() -> McpServer {
        let add = Tool::new("add", "Adds", async |pair: Pair| (pair.a + pair.b).to_string());
        let div = Tool::new("div", "Divides", async |pair: Pair, context: ToolContext| {
            let id = context.tool_use_id.map(|id| id.0).unwrap_or_default();
            pair.a.checked_div(pair.b).map(|c| Structured(json!({"c": c, "id": id}))).ok_or("by 0")
        });
        let bad = Tool::new("bad", "Panics", async |_: Pair| -> String { panic!("oh no") });
        McpServer::new("calc").tool(add).tool(div).tool(bad)
    }

    async fn ask(method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let answer =
            calculator().answer(&message.into(), CancellationToken::new()).await.to_value();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
        answer
    }

    async fn call(name: &str, arguments: Value) -> Value {
        let meta = json!({"claudecode/toolUseId": "toolu_1", "progressToken": 7});
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        ask("tools/call", params).await["result"].clone()
    }

    fn text(text: &str) -> Value {
        json!([{"type": "text", "text": text}])
    }

    #[tokio::test]
    async fn a_server_says_who_it_is() {
        let hello = ask("initialize", json!({"protocolVersion": "2025-06-18"})).await;
        let expected = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1.0.0"},
        });
        assert_eq!(hello["result"], expected);
        let hello = ask("initialize", json!({"protocolVersion": "1999"})).await;
        assert_eq!(hello["result"]["protocolVersion"], NEWEST);
    }

    #[tokio::test]
    async fn the_schema_comes_from_the_type() {
        let list = ask("tools/list", json!({})).await;
        let add = &list["result"]["tools"][0];
        assert_eq!((&add["name"], &add["description"]), (&json!("add"), &json!("Adds")));
        assert_eq!(add["inputSchema"]["type"], "object");
        assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
        assert_eq!(add["inputSchema"]["properties"]["a"]["description"], "The first.");
    }

    #[tokio::test]
    async fn results_errors_and_panics_are_all_results() {
        assert_eq!(call("add", json!({"a": 2, "b": 3})).await, json!({"content": text("5")}));
        let told = call("div", json!({"a": 6, "b": 3})).await;
        assert_eq!(told["structuredContent"], json!({"c": 2, "id": "toolu_1"}));
        let failed = [
            ("div", json!({"a": 6, "b": 0}), "by 0"),
            ("bad", json!({"a": 6, "b": 0}), "the tool bad panicked: oh no"),
            ("none", json!({}), "Tool 'none' not found"),
        ];
        for (name, arguments, why) in failed {
            let told = call(name, arguments).await;
            assert_eq!(told, json!({"content": text(why), "isError": true}));
        }
        let told = call("add", json!({"a": "x"})).await;
        assert_eq!(told["isError"], true);
        let why = told["content"][0]["text"].as_str().unwrap();
        assert!(why.starts_with("Input validation error: invalid type"), "{why}");
    }

    #[tokio::test]
    async fn what_is_unknown_is_an_error_and_news_gets_a_stand_in() {
        let answer = ask("resources/list", json!({})).await;
        assert_eq!(answer["error"]["code"], METHOD_NOT_FOUND);
        let news = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = calculator().answer(&news.into(), CancellationToken::new()).await;
        assert_eq!(answer.get(), r#"{"jsonrpc":"2.0","result":{}}"#);
    }

    #[tokio::test]
    async fn a_call_can_be_stopped() {
        let started = std::sync::Arc::new(tokio::sync::Notify::new());
        let signal = started.clone();
        let slow = Tool::with_schema("slow", "", json!({"type": "object"}), move |_: Value| {
            signal.notify_one();
            std::future::pending::<String>()
        });
        let server = McpServer::new("s").tool(slow);
        let call =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "slow"}});
        let call = RawJson::from(call);
        let stop = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
        });
        let stop = async {
            started.notified().await;
            server.answer(&stop.into(), CancellationToken::new()).await
        };
        let (answer, _) = tokio::join!(server.answer(&call, CancellationToken::new()), stop);
        assert_eq!(answer.to_value()["result"]["isError"], true);
        assert!(server.calls.lock().is_empty());
    }
}
