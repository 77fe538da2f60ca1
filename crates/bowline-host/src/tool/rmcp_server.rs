//! Servers written with `rmcp`, served to an agent through its control requests.
//!
//! The service runs in its own task over a [`Bridge`]. Each request of the agent gets its response;
//! messages that the service sends unasked go to the agent, except for elicitations: this program's
//! own callback handles them, because agents do not accept them from servers inside their hosts.

use std::{collections::HashMap, fmt, io, sync::Arc, time::Duration};

use bowline_protocol::{
    Elicitation, ElicitationResponse, RawJson,
    jsonrpc::{Envelope, ErrorObject, INTERNAL_ERROR, Id, Notification, Response},
};
use parking_lot::Mutex;
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

use super::{rmcp_guard::Guarded, served::ServerSession};
use crate::callback::{ElicitationRequest, caught};

/// Messages to a service that may be queued. It takes each at once and works on it beside the
/// others, so this is a burst.
const CAPACITY: usize = 64;

/// A server written with `rmcp`: tools, resources, prompts, notifications, and elicitations, which
/// [`Options::on_elicitation`](crate::Options::on_elicitation) handles.
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

    /// Limits the time of a call of any of its tools, here and in the agent.
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
    session: ServerSession,
    running: Mutex<Option<RunningService>>,
}

/// A service that runs.
struct RunningService {
    incoming: mpsc::Sender<ClientJsonRpcMessage>,
    router: Arc<Router>,
    /// Dropping it ends the service.
    _life: AbortOnDropHandle<()>,
}

impl ServedRmcp {
    pub(super) fn new(server: RmcpServer, session: ServerSession) -> Self {
        Self { server, session, running: Mutex::default() }
    }

    /// The response to one message. A notification gets a stand-in, because the transport needs one.
    pub(super) async fn respond(&self, message: &RawJson) -> RawJson {
        let envelope = message.parse::<Envelope>().unwrap_or_default();
        let id = envelope.request_id().filter(|_| envelope.method.is_some());
        match self.exchange(message, envelope.method(), id.as_ref()).await {
            Ok(response) => response,
            Err(why) => {
                let error = ErrorObject::new(INTERNAL_ERROR, why);
                let id = Some(id.unwrap_or_else(Id::null));
                written(&Response::<()> { id, outcome: Err(error) }).unwrap_or_default()
            }
        }
    }

    async fn exchange(
        &self,
        message: &RawJson,
        method: Option<&str>,
        id: Option<&Id>,
    ) -> Result<RawJson, String> {
        let greeting = method == Some("initialize");
        let parsed = match greeting {
            true => serde_json::from_value(self.greeting(message)),
            false => message.parse(),
        };
        let parsed: ClientJsonRpcMessage = parsed.map_err(|error| error.to_string())?;
        let (incoming, router) = self.service(greeting);
        let gone = |_| "the MCP server has ended".to_owned();
        let Some(id) = id else {
            incoming.send(parsed).await.map_err(gone)?;
            return Ok(RawJson::from(json!({"jsonrpc": "2.0", "result": {}})));
        };
        let pending = router.register(id);
        incoming.send(parsed).await.map_err(gone)?;
        pending.response().await.ok_or_else(|| "the MCP server sent no response".to_owned())
    }

    /// The agent's `initialize`, to which the elicitation capability is added.
    fn greeting(&self, message: &RawJson) -> Value {
        let mut greeting = message.to_value();
        if self.session.on_elicitation.is_some() {
            greeting["params"]["capabilities"]["elicitation"] = json!({"form": {}, "url": {}});
        }
        greeting
    }

    /// The service, which is started again for each `initialize`.
    fn service(&self, greeting: bool) -> (mpsc::Sender<ClientJsonRpcMessage>, Arc<Router>) {
        let mut running = self.running.lock();
        if greeting {
            *running = None;
        }
        let running = running.get_or_insert_with(|| self.start());
        (running.incoming.clone(), running.router.clone())
    }

    fn start(&self) -> RunningService {
        let (incoming, received) = mpsc::channel(CAPACITY);
        let router = Arc::new(Router {
            server: self.server.name.clone(),
            session: self.session.clone(),
            pending: Mutex::default(),
            incoming: incoming.downgrade(),
        });
        let bridge = Bridge { received, router: router.clone() };
        RunningService {
            incoming,
            router,
            _life: (self.server.start)(bridge, self.server.time_limit),
        }
    }
}

fn written(message: &impl Serialize) -> serde_json::Result<RawJson> {
    RawJson::from_value(message)
}

/// Routes messages of a service: responses to their callers, the rest to the agent.
struct Router {
    server: String,
    session: ServerSession,
    /// The requests in flight, by id.
    pending: Mutex<HashMap<String, oneshot::Sender<RawJson>>>,
    incoming: mpsc::WeakSender<ClientJsonRpcMessage>,
}

impl Router {
    fn register(self: &Arc<Self>, id: &Id) -> PendingResponse {
        let (response, receiver) = oneshot::channel();
        self.pending.lock().insert(id.to_string(), response);
        PendingResponse { router: self.clone(), id: id.clone(), receiver: Some(receiver) }
    }

    async fn pass(&self, message: ServerJsonRpcMessage) -> io::Result<()> {
        let message = written(&message)?;
        let envelope = message.parse::<Envelope>()?;
        match (envelope.method(), envelope.request_id()) {
            (None, Some(id)) => {
                let caller = self.pending.lock().remove(id.get());
                if let Some(caller) = caller {
                    caller.send(message).ok();
                }
            }
            (Some("elicitation/create"), Some(id)) => self.elicit(&message, &id).await?,
            _ => self.session.messages.send(&self.server, message).await,
        }
        Ok(())
    }

    /// Has this program's callback respond to an elicitation.
    async fn elicit(&self, message: &RawJson, id: &Id) -> io::Result<()> {
        let ElicitationMessage { params } = message.parse()?;
        let elicitation = Elicitation {
            mcp_server_name: self.server.clone(),
            message: params.message,
            mode: params.mode,
            url: params.url,
            elicitation_id: params.elicitation_id,
            requested_schema: params.requested_schema,
            ..Elicitation::default()
        };
        let cancel = CancellationToken::new();
        let _over = cancel.clone().drop_guard();
        let outcome = match &self.session.on_elicitation {
            Some(callback) => {
                let request = ElicitationRequest::new(elicitation, cancel);
                caught(async { callback.answer(request).await }).await
            }
            None => Ok(ElicitationResponse::decline()),
        };
        let outcome = outcome.map_err(|error| ErrorObject::new(INTERNAL_ERROR, error.message));
        let response = written(&Response { id: Some(id.clone()), outcome })?;
        if let Some(incoming) = self.incoming.upgrade() {
            incoming.send(response.parse()?).await.ok();
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct ElicitationMessage {
    params: ElicitationParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams {
    message: String,
    mode: Option<String>,
    url: Option<String>,
    elicitation_id: Option<String>,
    requested_schema: Option<RawJson>,
}

/// A request in flight. Dropped before its response, it is cancelled.
struct PendingResponse {
    router: Arc<Router>,
    id: Id,
    /// Taken when the response has arrived, or none can arrive.
    receiver: Option<oneshot::Receiver<RawJson>>,
}

impl PendingResponse {
    async fn response(mut self) -> Option<RawJson> {
        let response = self.receiver.as_mut()?.await.ok();
        self.receiver = None;
        response
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        if self.receiver.is_none() {
            return;
        }
        self.router.pending.lock().remove(self.id.get());
        let params = CancelledParams { request_id: &self.id };
        let message = written(&Notification::new("notifications/cancelled", Some(params)));
        if let Some(incoming) = self.router.incoming.upgrade()
            && let Ok(message) = message.and_then(|message| message.parse())
        {
            // A service whose queue is full finds out when it sends the response.
            incoming.try_send(message).ok();
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CancelledParams<'a> {
    request_id: &'a Id,
}

/// The transport on which a service runs.
struct Bridge {
    received: mpsc::Receiver<ClientJsonRpcMessage>,
    router: Arc<Router>,
}

impl Transport<RoleServer> for Bridge {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let router = self.router.clone();
        async move { router.pass(message).await }
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
        // However the service has ended, requests in flight and later ones fail at once.
        self.received.close();
        self.router.pending.lock().clear();
    }
}
