//! The part of MCP that a server of tools speaks: JSON-RPC messages, one answer each.
//!
//! Such a server is asked for its name and its tools and has them called, and its transport is
//! an agent's control requests. That is a page of code and some microseconds a call. Whoever wants
//! more of MCP than tools registers a server of `rmcp` (`RmcpServer`): there is no second MCP here.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::{RawJson, ToolListing, ToolResult};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Incoming, McpServer, Tool, ToolContext,
    arguments::Arguments,
    context::ProgressSink,
    incoming::{Asked, CallParams, METHOD_NOT_FOUND, Refusal},
    served::Surroundings,
};

/// The newest version of MCP that we speak, for clients that ask for one we do not know.
const NEWEST: &str = "2025-11-25";

/// All versions of MCP that we speak. What we use of it is the same in all of them.
const VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", NEWEST];

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Answer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Refusal>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer<'a> {
    Nothing {},
    Hello(Value),
    List { tools: Vec<&'a ToolListing> },
    Called(ToolResult),
}

impl Outgoing<'_> {
    fn written(&self) -> RawJson {
        RawJson::from_value(self).expect("an answer is made of JSON")
    }
}

/// The answer to a call that this program stopped: a result that the model can read.
pub(super) fn stopped(id: Option<RawJson>, why: String) -> RawJson {
    let result = Some(Answer::Called(ToolResult::error(why)));
    Outgoing { jsonrpc: "2.0", id, result, error: None }.written()
}

/// The calls that run, by their id, so that they can be stopped.
#[derive(Debug, Default)]
struct Calls(Mutex<HashMap<String, CancellationToken>>);

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

/// A server of tools in one session.
pub(crate) struct ServedTools {
    server: McpServer,
    around: Surroundings,
    calls: Calls,
}

impl ServedTools {
    pub(super) fn new(server: McpServer, around: Surroundings) -> Self {
        Self { server, around, calls: Calls::default() }
    }

    /// The server, for an engine that calls its tools without messages.
    #[cfg(feature = "embedded")]
    pub(super) fn server(&self) -> &McpServer {
        &self.server
    }

    /// Answers one message. What wants no answer gets a stand-in, because the transport needs one.
    pub(super) async fn answer(&self, message: Incoming, cancel: CancellationToken) -> RawJson {
        let Incoming { id, asked } = message;
        let outcome = match asked {
            Ok(Asked::Call(call)) => {
                let result = self.call(call, id.as_ref().map_or("", RawJson::get), cancel).await;
                Ok(Answer::Called(result))
            }
            Ok(Asked::Other { method, params }) => self.dispatch(&method, &params, id.as_ref()),
            Err(refusal) => Err(refusal),
        };
        let (result, error) = match outcome {
            Ok(answer) => (Some(answer), None),
            Err(refusal) => (None, Some(refusal)),
        };
        Outgoing { jsonrpc: "2.0", id, result, error }.written()
    }

    fn dispatch(
        &self,
        method: &str,
        params: &RawJson,
        id: Option<&RawJson>,
    ) -> Result<Answer<'_>, Refusal> {
        match method {
            "initialize" => Ok(Answer::Hello(self.hello(params))),
            "ping" => Ok(Answer::Nothing {}),
            "tools/list" => {
                let tools = self.server.tools.iter().map(Tool::listing).collect();
                Ok(Answer::List { tools })
            }
            "notifications/cancelled" => {
                self.stop(params);
                Ok(Answer::Nothing {})
            }
            _ if id.is_none() => Ok(Answer::Nothing {}),
            _ => {
                let message = format!("Method not found: {method}");
                Err(Refusal { code: METHOD_NOT_FOUND, message })
            }
        }
    }

    fn hello(&self, params: &RawJson) -> Value {
        let asked = params.to_value();
        let asked = asked["protocolVersion"].as_str().unwrap_or(NEWEST);
        let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&NEWEST);
        let McpServer { name, version: own_version, instructions, .. } = &self.server;
        let mut hello = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": own_version},
        });
        if let Some(text) = instructions {
            hello["instructions"] = json!(text);
        }
        hello
    }

    /// Runs a tool. Whatever happens, there is a result.
    async fn call(&self, call: CallParams, id: &str, cancel: CancellationToken) -> ToolResult {
        let cancel = cancel.child_token();
        self.calls.lock().insert(id.to_owned(), cancel.clone());
        let _running = Running { calls: &self.calls, id };
        let Some(tool) = self.server.tools.iter().find(|tool| tool.name() == call.name) else {
            return ToolResult::error(format!("Tool '{}' not found", call.name));
        };
        let outlet = self.around.outlet.clone();
        let token = call.meta.progress_token;
        let context = ToolContext {
            server: self.server.name.clone(),
            tool_use_id: call.meta.tool_use_id,
            session_id: self.around.session.id(),
            cancel,
            progress: token.map(|token| ProgressSink::Notification { outlet, token }),
        };
        tool.respond(Arguments::Json(call.arguments), context).await
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
mod tests;
