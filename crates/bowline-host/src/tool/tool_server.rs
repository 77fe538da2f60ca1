//! MCP server of tools over JSON-RPC: the five methods that a server of tools needs.
//!
//! Its transport is an agent's control requests. That is a page of code and some microseconds a
//! call. A program that wants more of MCP than tools registers a server of `rmcp` (`RmcpServer`):
//! there is no second MCP implementation here.

use std::collections::HashMap;

use bowline_protocol::{
    RawJson, ToolListing, ToolResult,
    jsonrpc::{ErrorObject, Id, METHOD_NOT_FOUND, Response},
};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    McpServer, ServerRequest, Tool, ToolContext,
    arguments::Arguments,
    context::ProgressSink,
    served::ServerSession,
    server_request::{CallParams, RequestBody},
};

/// The newest supported version of MCP, for clients that request an unknown one.
const NEWEST: &str = "2025-11-25";

/// All supported versions of MCP. The part used here is the same in all of them.
const VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", NEWEST];

#[derive(Serialize)]
#[serde(untagged)]
enum ServerResult<'a> {
    Empty {},
    Initialize(Value),
    List { tools: Vec<&'a ToolListing> },
    Call(ToolResult),
}

/// The response to a call that this program stopped: a result that the model can read.
pub(super) fn stopped(id: Option<Id>, why: String) -> RawJson {
    written(&Response { id, outcome: Ok(ToolResult::error(why)) })
}

fn written<T: Serialize>(response: &Response<T>) -> RawJson {
    RawJson::from_value(response).expect("results and errors are JSON")
}

/// The calls in flight, by request id, so that `notifications/cancelled` finds them.
type Calls = Mutex<HashMap<String, CancellationToken>>;

/// A call in flight. Deregistered when dropped.
struct InFlight<'a> {
    calls: &'a Calls,
    id: &'a str,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.calls.lock().remove(self.id);
    }
}

/// A server of tools in one session.
pub(super) struct ServedTools {
    server: McpServer,
    session: ServerSession,
    calls: Calls,
}

impl ServedTools {
    pub(super) fn new(server: McpServer, session: ServerSession) -> Self {
        Self { server, session, calls: Calls::default() }
    }

    /// The server, for an engine that calls its tools without messages.
    #[cfg(feature = "embedded")]
    pub(super) fn server(&self) -> &McpServer {
        &self.server
    }

    /// The response to one message. A notification gets a stand-in, because the transport needs one.
    pub(super) async fn respond(
        &self,
        request: ServerRequest,
        cancel: CancellationToken,
    ) -> RawJson {
        let ServerRequest { id, body } = request;
        let outcome = match body {
            Ok(RequestBody::Call(call)) => {
                let result = self.call(call, id.as_ref().map_or("", Id::get), cancel).await;
                Ok(ServerResult::Call(result))
            }
            Ok(RequestBody::Other { method, params }) => {
                self.dispatch(&method, &params, id.as_ref())
            }
            Err(error) => Err(error),
        };
        written(&Response { id, outcome })
    }

    fn dispatch(
        &self,
        method: &str,
        params: &RawJson,
        id: Option<&Id>,
    ) -> Result<ServerResult<'_>, ErrorObject> {
        match method {
            "initialize" => Ok(ServerResult::Initialize(self.initialize(params))),
            "ping" => Ok(ServerResult::Empty {}),
            "tools/list" => {
                let tools = self.server.tools.iter().map(Tool::listing).collect();
                Ok(ServerResult::List { tools })
            }
            "notifications/cancelled" => {
                self.cancel(params);
                Ok(ServerResult::Empty {})
            }
            _ if id.is_none() => Ok(ServerResult::Empty {}),
            _ => {
                let message = format!("Method not found: {method}");
                Err(ErrorObject::new(METHOD_NOT_FOUND, message))
            }
        }
    }

    fn initialize(&self, params: &RawJson) -> Value {
        let params = params.to_value();
        let requested = params["protocolVersion"].as_str().unwrap_or(NEWEST);
        let version = VERSIONS.iter().find(|version| **version == requested).unwrap_or(&NEWEST);
        let McpServer { name, version: own_version, instructions, .. } = &self.server;
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": own_version},
        });
        if let Some(text) = instructions {
            result["instructions"] = json!(text);
        }
        result
    }

    /// Runs a tool. There is always a result.
    async fn call(&self, call: CallParams, id: &str, cancel: CancellationToken) -> ToolResult {
        let cancel = cancel.child_token();
        self.calls.lock().insert(id.to_owned(), cancel.clone());
        let _in_flight = InFlight { calls: &self.calls, id };
        let Some(tool) = self.server.tools.iter().find(|tool| tool.name() == call.name) else {
            return ToolResult::error(format!("Tool '{}' not found", call.name));
        };
        let messages = self.session.messages.clone();
        let token = call.meta.progress_token;
        let context = ToolContext {
            server: self.server.name.clone(),
            tool_use_id: call.meta.tool_use_id,
            session_id: self.session.id.id(),
            cancel,
            progress: token.map(|token| ProgressSink::Notification { messages, token }),
        };
        tool.respond(Arguments::Json(call.arguments), context).await
    }

    /// Cancels the call that a `notifications/cancelled` names.
    fn cancel(&self, params: &RawJson) {
        let id = params.to_value()["requestId"].to_string();
        if let Some(cancel) = self.calls.lock().get(&id) {
            cancel.cancel();
        }
    }
}

#[cfg(test)]
mod tests;
