//! Servers written with `rmcp`, served to an agent through its control requests.
//!
//! The service runs in a task of its own over a [`Bridge`]. Requests of the agent go in and are
//! answered one by one; what the service says by itself goes to the agent, except for questions to
//! the user: they are answered by this program's own callback, because agents offer servers inside
//! their hosts no way to ask.

use std::{
    collections::HashMap,
    fmt, io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bowline_protocol::{Elicitation, ElicitationResponse, RawJson};
use rmcp::{
    RoleServer, ServerHandler,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    serve_server,
    transport::Transport,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{guarded::Guarded, served::Surroundings};
use crate::callback::{ElicitationRequest, caught};

/// Messages to a service that wait to be taken. It takes each at once and works on it beside the
/// others, so this is a burst.
const ROOM: usize = 64;

const INTERNAL_ERROR: i32 = -32603;

/// A server written with `rmcp`, with all it has: tools, resources, prompts, notifications, and
/// questions to the user, which [`Options::on_elicitation`](crate::Options::on_elicitation)
/// answers.
///
/// ```
/// use bowline_host::{Options, RmcpServer};
/// use rmcp::ServerHandler;
///
/// #[derive(Default)]
/// struct Library;
///
/// // Its tools, resources and prompts are methods of this trait.
/// impl ServerHandler for Library {}
///
/// let options = Options::default().sdk_mcp_server(RmcpServer::new("library", Library::default));
/// ```
#[derive(Clone)]
pub struct RmcpServer {
    name: String,
    pub(super) time_limit: Option<Duration>,
    start: Arc<Start>,
}

/// Starts a service on a bridge, with a limit for each of its tools.
type Start = dyn Fn(Bridge, Option<Duration>) -> AbortOnDropHandle<()> + Send + Sync;

impl RmcpServer {
    /// A server whose service is made by `make`, once for each session and once more if the agent
    /// connects to it again.
    pub fn new<S: ServerHandler>(
        name: impl Into<String>,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        let server = name.clone();
        let start = move |bridge: Bridge, time_limit| {
            let (service, server) = (Guarded { service: make(), time_limit }, server.clone());
            AbortOnDropHandle::new(tokio::spawn(async move {
                match serve_server(service, bridge).await {
                    Ok(running) => drop(running.waiting().await),
                    Err(error) => tracing::warn!(server, %error, "an MCP server did not start"),
                }
            }))
        };
        Self { name, time_limit: None, start: Arc::new(start) }
    }

    /// Its name: the `docs` of `mcp__docs__find`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long a call of any of its tools may take. The agent is told, too.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }
}

impl fmt::Debug for RmcpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RmcpServer").field(&self.name).finish()
    }
}

/// A server of `rmcp` in one session.
pub(super) struct ServedRmcp {
    server: RmcpServer,
    around: Surroundings,
    running: Mutex<Option<Running>>,
}

/// A service that runs.
struct Running {
    incoming: mpsc::Sender<ClientJsonRpcMessage>,
    line: Arc<Line>,
    /// Dropping it ends the service.
    _life: AbortOnDropHandle<()>,
}

impl ServedRmcp {
    pub(super) fn new(server: RmcpServer, around: Surroundings) -> Self {
        Self { server, around, running: Mutex::default() }
    }

    /// Answers one message. What wants no answer gets a stand-in, because the transport needs one.
    pub(super) async fn answer(&self, message: &RawJson) -> RawJson {
        let head = message.parse::<Head>().unwrap_or_default();
        let asked = head.id.filter(|_| head.method.is_some());
        match self.exchange(message, head.method.as_deref(), asked.as_ref()).await {
            Ok(answer) => answer,
            Err(why) => {
                let error = json!({"code": INTERNAL_ERROR, "message": why});
                RawJson::from(json!({"jsonrpc": "2.0", "id": asked, "error": error}))
            }
        }
    }

    async fn exchange(
        &self,
        message: &RawJson,
        method: Option<&str>,
        id: Option<&Value>,
    ) -> Result<RawJson, String> {
        let greeting = method == Some("initialize");
        let parsed = match greeting {
            true => serde_json::from_value(self.greeting(message)),
            false => message.parse(),
        };
        let parsed: ClientJsonRpcMessage = parsed.map_err(|error| error.to_string())?;
        let (incoming, line) = self.way_in(greeting);
        let gone = |_| "the MCP server has ended".to_owned();
        let Some(id) = id else {
            incoming.send(parsed).await.map_err(gone)?;
            return Ok(RawJson::from(json!({"jsonrpc": "2.0", "result": {}})));
        };
        let waiting = line.expect_answer(id);
        incoming.send(parsed).await.map_err(gone)?;
        waiting.answer().await.ok_or_else(|| "the MCP server gave no answer".to_owned())
    }

    /// The greeting of the agent, to which we add that questions to the user are possible.
    fn greeting(&self, message: &RawJson) -> Value {
        let mut greeting = message.to_value();
        if self.around.on_elicitation.is_some() {
            greeting["params"]["capabilities"]["elicitation"] = json!({"form": {}, "url": {}});
        }
        greeting
    }

    /// The way to the service, which is started anew for a greeting.
    fn way_in(&self, greeting: bool) -> (mpsc::Sender<ClientJsonRpcMessage>, Arc<Line>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if greeting {
            *running = None;
        }
        let running = running.get_or_insert_with(|| self.start());
        (running.incoming.clone(), running.line.clone())
    }

    fn start(&self) -> Running {
        let (incoming, received) = mpsc::channel(ROOM);
        let line = Arc::new(Line {
            server: self.server.name.clone(),
            around: self.around.clone(),
            waiting: Mutex::default(),
            incoming: incoming.downgrade(),
        });
        let bridge = Bridge { received, line: line.clone() };
        Running { incoming, line, _life: (self.server.start)(bridge, self.server.time_limit) }
    }
}

#[derive(Default, Deserialize)]
struct Head {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
}

/// What a service says, on its way to whoever it is for.
struct Line {
    server: String,
    around: Surroundings,
    /// Who waits for an answer, by its id.
    waiting: Mutex<HashMap<String, oneshot::Sender<RawJson>>>,
    incoming: mpsc::WeakSender<ClientJsonRpcMessage>,
}

impl Line {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<RawJson>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expect_answer(self: &Arc<Self>, id: &Value) -> Waiting {
        let (answer, receiver) = oneshot::channel();
        self.waiting().insert(id.to_string(), answer);
        Waiting { line: self.clone(), id: id.clone(), receiver: Some(receiver) }
    }

    async fn pass(&self, message: ServerJsonRpcMessage) -> io::Result<()> {
        let message = RawJson::from_value(&message)?;
        let head = message.parse::<Head>()?;
        match (head.method.as_deref(), head.id) {
            (None, Some(id)) => {
                if let Some(asker) = self.waiting().remove(&id.to_string()) {
                    asker.send(message).ok();
                }
            }
            (Some("elicitation/create"), Some(id)) => self.elicit(&message, &id).await?,
            _ => self.around.outlet.send(&self.server, message).await,
        }
        Ok(())
    }

    /// Has this program answer a question to the user.
    async fn elicit(&self, message: &RawJson, id: &Value) -> io::Result<()> {
        let Asked { params } = message.parse()?;
        let question = Elicitation {
            mcp_server_name: self.server.clone(),
            message: params.message,
            mode: params.mode,
            url: params.url,
            elicitation_id: params.elicitation_id,
            requested_schema: params.requested_schema,
            ..Elicitation::default()
        };
        let cancel = CancellationToken::new();
        let _withdrawn = cancel.clone().drop_guard();
        let answer = match &self.around.on_elicitation {
            Some(callback) => {
                let request = ElicitationRequest::new(question, cancel);
                caught(async { callback.answer(request).await }).await
            }
            None => Ok(ElicitationResponse::decline()),
        };
        let answer = match answer {
            Ok(answer) => json!({"jsonrpc": "2.0", "id": id, "result": answer}),
            Err(refusal) => {
                let error = json!({"code": INTERNAL_ERROR, "message": refusal.message});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        };
        if let Some(incoming) = self.incoming.upgrade() {
            incoming.send(serde_json::from_value(answer)?).await.ok();
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Asked {
    params: Question,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    message: String,
    mode: Option<String>,
    url: Option<String>,
    elicitation_id: Option<String>,
    requested_schema: Option<RawJson>,
}

/// Somebody waits for an answer. Dropped before it came, the request is withdrawn.
struct Waiting {
    line: Arc<Line>,
    id: Value,
    /// Taken when there is an answer, or none can come.
    receiver: Option<oneshot::Receiver<RawJson>>,
}

impl Waiting {
    async fn answer(mut self) -> Option<RawJson> {
        let answer = self.receiver.as_mut()?.await.ok();
        self.receiver = None;
        answer
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.receiver.is_none() {
            return;
        }
        self.line.waiting().remove(&self.id.to_string());
        let params = Cancelled { request_id: &self.id };
        let message = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
        });
        if let Some(incoming) = self.line.incoming.upgrade()
            && let Ok(message) = serde_json::from_value(message)
        {
            // A service that is this far behind will find out when it has an answer.
            incoming.try_send(message).ok();
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    request_id: &'a Value,
}

/// The transport on which a service runs.
struct Bridge {
    received: mpsc::Receiver<ClientJsonRpcMessage>,
    line: Arc<Line>,
}

impl Transport<RoleServer> for Bridge {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = self.line.clone();
        async move { line.pass(message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.received.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // However the service has ended, whoever comes now or still waits is told that nothing
        // comes.
        self.received.close();
        self.line.waiting().clear();
    }
}
