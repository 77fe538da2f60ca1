//! The client of a server inside the host: JSON-RPC in control messages.
//!
//! Each message is one question to the host, also a notification, and the answer to a request is
//! the answer to that question. What a server says by itself comes through
//! [`SdkClient::deliver`].

use std::{
    collections::HashMap,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline_protocol::{RawJson, ToolUseId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::{runtime::Handle, sync::Notify, time::timeout};
use tokio_util::task::TaskTracker;

use super::{
    Hello,
    changes::{Changed, Changes},
    request::{Request, RequestError},
};
use crate::{
    host::{SdkServerError, SdkServers},
    options::ClientInfo,
};

/// The version of MCP that servers inside hosts know.
const PROTOCOL_VERSION: &str = "2025-11-25";

/// The way to one server inside the host.
pub(crate) struct SdkClient {
    servers: Arc<dyn SdkServers>,
    name: String,
    /// The greeting is number 0.
    next_id: AtomicU64,
    /// Calls that are running, by the token under which they hear of progress.
    running: Mutex<HashMap<u64, Arc<Notify>>>,
}

/// Says hello to a server. The rest of the handshake is [`SdkClient::complete_handshake`].
pub(crate) async fn greet(
    servers: &Arc<dyn SdkServers>,
    name: &str,
    client: &ClientInfo,
) -> Result<Hello, RequestError> {
    let params = Initialize {
        protocol_version: PROTOCOL_VERSION,
        capabilities: Map::new(),
        client_info: Us {
            name: &client.name,
            title: client.title.as_deref(),
            description: client.description.as_deref(),
            website_url: client.website_url.as_deref(),
            version: &client.version,
        },
    };
    let result = exchange(servers, name, "initialize", Some(&params), 0).await?;
    serde_json::from_value(result).map_err(|error| RequestError::Undelivered(error.to_string()))
}

impl SdkClient {
    /// A client of a server that has been greeted.
    pub(super) fn new(servers: Arc<dyn SdkServers>, name: &str) -> Self {
        Self {
            servers,
            name: name.to_owned(),
            next_id: AtomicU64::new(1),
            running: Mutex::default(),
        }
    }

    /// Completes the handshake after the greeting.
    pub(super) async fn complete_handshake(&self) -> Result<(), RequestError> {
        self.notify("notifications/initialized", None).await
    }

    pub(super) async fn request(
        &self,
        request: Request,
        limit: Duration,
        asides: &TaskTracker,
    ) -> Result<Value, RequestError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        self.answered(id, pin!(self.exchange(&request, id)), limit, asides).await
    }

    async fn exchange(&self, request: &Request, id: u64) -> Result<Value, RequestError> {
        let params = Params::of(request, id);
        exchange(&self.servers, &self.name, request.method(), params.as_ref(), id).await
    }

    /// Waits for the answer to a request. The server may take longer than `limit` as long as it
    /// reports progress.
    async fn answered(
        &self,
        id: u64,
        mut answer: Pin<&mut impl Future<Output = Result<Value, RequestError>>>,
        limit: Duration,
        asides: &TaskTracker,
    ) -> Result<Value, RequestError> {
        let progress = Arc::new(Notify::new());
        lock(&self.running).insert(id, Arc::clone(&progress));
        let mut running = Running { client: self, asides, id, answered: false };
        let answer = loop {
            tokio::select! {
                biased;
                // The clock starts anew.
                () = progress.notified() => {}
                answer = timeout(limit, &mut answer) => match answer {
                    Ok(answer) => break answer,
                    Err(_) => return Err(RequestError::Timeout(limit)),
                },
            }
        };
        running.answered = true;
        answer
    }

    /// A message that the server sends by itself.
    pub(super) fn deliver(&self, message: &RawJson, changes: &Changes, asides: &TaskTracker) {
        let Ok(incoming) = message.parse::<Incoming>() else {
            tracing::debug!(server = self.name, "a server sent something that is not a message");
            return;
        };
        if let Some(change) = Changed::from_method(&incoming.method) {
            changes.add(change);
        } else if let Some(id) = incoming.id {
            let answer = match incoming.method.as_str() {
                "ping" => json!({"jsonrpc": "2.0", "id": id, "result": {}}),
                method => json!({"jsonrpc": "2.0", "id": id, "error": {
                    "code": -32601, "message": format!("{method} is not offered to this server"),
                }}),
            };
            self.aside(answer, asides);
        } else if incoming.method == "notifications/progress"
            && let Some(token) = incoming.params.get("progressToken").and_then(Value::as_u64)
            && let Some(call) = lock(&self.running).get(&token)
        {
            call.notify_one();
        }
    }

    async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), RequestError> {
        let message = Notification { jsonrpc: "2.0", method, params };
        let message = RawJson::from_value(&message).map_err(unwritable)?;
        self.servers.send(&self.name, message).await.map_err(explain).map(drop)
    }

    /// Sends something nobody waits for.
    fn aside(&self, message: Value, asides: &TaskTracker) {
        // Without a runtime the session is gone too.
        let Ok(runtime) = Handle::try_current() else { return };
        let (servers, name) = (Arc::clone(&self.servers), self.name.clone());
        asides.spawn_on(
            async move {
                if let Err(error) = servers.send(&name, RawJson::from(message)).await {
                    tracing::debug!(server = name, %error, "a message is not delivered");
                }
            },
            &runtime,
        );
    }
}

/// A call that is running. Dropped before its answer, it is withdrawn.
struct Running<'a> {
    client: &'a SdkClient,
    asides: &'a TaskTracker,
    id: u64,
    answered: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(&self.client.running).remove(&self.id);
        if !self.answered {
            let params = json!({"requestId": self.id, "reason": "the user interrupted"});
            let method = "notifications/cancelled";
            let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
            self.client.aside(message, self.asides);
        }
    }
}

/// Sends a request and takes the result out of the answer.
async fn exchange<P: Serialize>(
    servers: &Arc<dyn SdkServers>,
    name: &str,
    method: &str,
    params: Option<&P>,
    id: u64,
) -> Result<Value, RequestError> {
    let message = Outgoing { method, params, jsonrpc: "2.0", id };
    let message = RawJson::from_value(&message).map_err(unwritable)?;
    let answer = servers.send(name, message).await.map_err(explain)?;
    let answer = answer.parse::<Answer>();
    match answer.map_err(|error| RequestError::Undelivered(error.to_string()))? {
        Answer { error: Some(error), .. } => {
            Err(RequestError::Refused { code: error.code, message: error.message })
        }
        Answer { result, .. } => Ok(result),
    }
}

fn unwritable(error: serde_json::Error) -> RequestError {
    RequestError::Undelivered(error.to_string())
}

fn explain(error: SdkServerError) -> RequestError {
    match error {
        SdkServerError::Refused(message) => RequestError::Undelivered(message),
        SdkServerError::Closed => RequestError::Closed,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a P>,
    jsonrpc: &'static str,
    id: u64,
}

#[derive(Serialize)]
struct Notification<'a> {
    jsonrpc: &'static str,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    protocol_version: &'static str,
    capabilities: Map<String, Value>,
    client_info: Us<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Us<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    website_url: Option<&'a str>,
    version: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Params<'a> {
    Page { cursor: &'a str },
    Resource { uri: &'a str },
    Prompt { name: &'a str, arguments: &'a Map<String, Value> },
    Call { name: &'a str, arguments: &'a Map<String, Value>, _meta: Meta<'a> },
}

#[derive(Serialize)]
struct Meta<'a> {
    // The same key as `request::TOOL_USE_ID`; attributes take no constants.
    #[serde(rename = "claudecode/toolUseId", skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a ToolUseId>,
    #[serde(rename = "progressToken")]
    progress_token: u64,
}

impl<'a> Params<'a> {
    fn of(request: &'a Request, id: u64) -> Option<Self> {
        match request {
            Request::ListTools { cursor }
            | Request::ListPrompts { cursor }
            | Request::ListResources { cursor } => {
                cursor.as_deref().map(|cursor| Self::Page { cursor })
            }
            Request::ReadResource { uri } => Some(Self::Resource { uri }),
            Request::GetPrompt { name, arguments } => Some(Self::Prompt { name, arguments }),
            Request::CallTool { name, arguments, tool_use_id } => Some(Self::Call {
                name,
                arguments,
                _meta: Meta { tool_use_id: tool_use_id.as_ref(), progress_token: id },
            }),
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    result: Value,
    error: Option<AnswerError>,
}

#[derive(Deserialize)]
struct AnswerError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Incoming {
    method: String,
    id: Option<Value>,
    #[serde(default)]
    params: Value,
}
