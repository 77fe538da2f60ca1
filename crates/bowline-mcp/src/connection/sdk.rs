//! Client of an MCP server inside the host: JSON-RPC in control requests.
//!
//! Each message is one control request, also a notification; the response to a JSON-RPC request is
//! the response to that control request. Messages that a server sends unasked arrive through
//! [`SdkClient::deliver`].

use std::{
    collections::HashMap,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline_protocol::{
    RawJson, ToolUseId,
    jsonrpc::{Envelope, ErrorObject, METHOD_NOT_FOUND, McpRequest, Notification, Response},
};
use parking_lot::Mutex;
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

/// The client of one server inside the host.
pub(crate) struct SdkClient {
    servers: Arc<dyn SdkServers>,
    name: String,
    /// `initialize` has the id 0.
    next_id: AtomicU64,
    /// Calls in flight, by their progress tokens.
    running: Mutex<HashMap<u64, Arc<Notify>>>,
}

/// Sends `initialize` to a server. The rest of the handshake is [`SdkClient::complete_handshake`].
pub(crate) async fn greet(
    servers: &Arc<dyn SdkServers>,
    name: &str,
    client: &ClientInfo,
) -> Result<Hello, RequestError> {
    let params = Initialize {
        protocol_version: PROTOCOL_VERSION,
        capabilities: Map::new(),
        client_info: ClientIdentity {
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
        self.response(id, pin!(self.exchange(&request, id)), limit, asides).await
    }

    async fn exchange(&self, request: &Request, id: u64) -> Result<Value, RequestError> {
        let params = Params::of(request, id);
        exchange(&self.servers, &self.name, request.method(), params.as_ref(), id).await
    }

    /// Waits for the response to a request. Progress reports restart `limit`.
    async fn response(
        &self,
        id: u64,
        mut response: Pin<&mut impl Future<Output = Result<Value, RequestError>>>,
        limit: Duration,
        asides: &TaskTracker,
    ) -> Result<Value, RequestError> {
        let progress = Arc::new(Notify::new());
        self.running.lock().insert(id, Arc::clone(&progress));
        let mut in_flight = InFlight { client: self, asides, id, complete: false };
        let response = loop {
            tokio::select! {
                biased;
                // Restarts the timeout.
                () = progress.notified() => {}
                outcome = timeout(limit, &mut response) => match outcome {
                    Ok(outcome) => break outcome,
                    Err(_) => return Err(RequestError::Timeout(limit)),
                },
            }
        };
        in_flight.complete = true;
        response
    }

    /// A message that the server sends by itself.
    pub(super) fn deliver(&self, message: &RawJson, changes: &Changes, asides: &TaskTracker) {
        let envelope = message.parse::<Envelope>().unwrap_or_default();
        let Some(method) = envelope.method() else {
            tracing::debug!(server = self.name, "invalid message from a server");
            return;
        };
        if let Some(change) = Changed::from_method(method) {
            changes.add(change);
        } else if let Some(id) = envelope.request_id() {
            let outcome = match method {
                "ping" => Ok(Map::new()),
                method => {
                    let message = format!("{method} is not offered to this server");
                    Err(ErrorObject::new(METHOD_NOT_FOUND, message))
                }
            };
            self.aside(&Response { id: Some(id), outcome }, asides);
        } else if method == "notifications/progress"
            && let Some(Progress { progress_token }) =
                envelope.params.and_then(|it| it.parse().ok())
            && let Some(call) = self.running.lock().get(&progress_token)
        {
            call.notify_one();
        }
    }

    async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), RequestError> {
        let message =
            RawJson::from_value(&Notification::new(method, params)).map_err(unwritable)?;
        self.servers.send(&self.name, message).await.map_err(explain).map(drop)
    }

    /// Sends a message that no caller waits for.
    fn aside(&self, message: &impl Serialize, asides: &TaskTracker) {
        // Without a runtime the session is gone too.
        let Ok(runtime) = Handle::try_current() else { return };
        let Ok(message) = RawJson::from_value(message) else { return };
        let (servers, name) = (Arc::clone(&self.servers), self.name.clone());
        asides.spawn_on(
            async move {
                if let Err(error) = servers.send(&name, message).await {
                    tracing::debug!(server = name, %error, "a message was not delivered");
                }
            },
            &runtime,
        );
    }
}

/// A request in flight. Dropped before its response, it is cancelled.
struct InFlight<'a> {
    client: &'a SdkClient,
    asides: &'a TaskTracker,
    id: u64,
    complete: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.client.running.lock().remove(&self.id);
        if !self.complete {
            let params = json!({"requestId": self.id, "reason": "the user interrupted"});
            let message = Notification::new("notifications/cancelled", Some(params));
            self.client.aside(&message, self.asides);
        }
    }
}

/// Sends a request and returns the result in its response.
async fn exchange<P: Serialize>(
    servers: &Arc<dyn SdkServers>,
    name: &str,
    method: &str,
    params: Option<&P>,
    id: u64,
) -> Result<Value, RequestError> {
    let message = RawJson::from_value(&McpRequest::new(id, method, params)).map_err(unwritable)?;
    let response = servers.send(name, message).await.map_err(explain)?;
    let invalid = |error: serde_json::Error| RequestError::Undelivered(error.to_string());
    let response = response.parse::<Envelope>().map_err(invalid)?;
    if let Some(error) = response.error {
        let ErrorObject { code, message, .. } = error.parse().map_err(invalid)?;
        return Err(RequestError::Refused { code, message });
    }
    Ok(response.result.map(|result| result.to_value()).unwrap_or_default())
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    progress_token: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Initialize<'a> {
    protocol_version: &'static str,
    capabilities: Map<String, Value>,
    client_info: ClientIdentity<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientIdentity<'a> {
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
