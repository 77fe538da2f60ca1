//! Servers of this program as one session uses them.
//!
//! A [`SdkServer`] belongs to the options and may be used by many sessions. The state here belongs to
//! one of them: its calls in flight, its messages to the agent, its id.

use std::{collections::BTreeMap, pin::pin, sync::Arc};

#[cfg(feature = "embedded")]
use bowline_protocol::ToolResult;
use bowline_protocol::{McpMessage, RawJson, SessionId, ToolUseId};
use parking_lot::{Mutex, RwLock};
#[cfg(feature = "embedded")]
use serde_json::Value;
#[cfg(feature = "embedded")]
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "rmcp")]
use super::rmcp_server::ServedRmcp;
#[cfg(feature = "embedded")]
use super::{McpServer, Tool, ToolContext, arguments::Arguments, context::ProgressSink};
use super::{
    SdkServer, ServerMessages, ServerRequest,
    stoppable::StoppableCalls,
    tool_server::{ServedTools, stopped},
};
use crate::callback::OnElicitation;

/// The id of a session, once it is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct CurrentSession(Arc<Mutex<Option<SessionId>>>);

impl CurrentSession {
    /// Sets the id.
    pub(crate) fn is(&self, id: SessionId) {
        *self.0.lock() = Some(id);
    }

    pub(super) fn id(&self) -> Option<SessionId> {
        self.0.lock().clone()
    }
}

/// The parts of a session that its servers use.
#[derive(Clone)]
pub(super) struct ServerSession {
    pub(super) messages: ServerMessages,
    pub(super) id: CurrentSession,
    /// The callback for elicitations of a server.
    #[cfg_attr(not(feature = "rmcp"), expect(dead_code, reason = "plain tools elicit nothing"))]
    pub(super) on_elicitation: Option<Arc<dyn OnElicitation>>,
}

/// The servers of one session, by name. They may change while it runs.
pub(crate) struct Served {
    servers: RwLock<BTreeMap<String, Server>>,
    session: ServerSession,
    calls: StoppableCalls,
    /// Held while the set of servers is negotiated with the agent.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

/// A call of a tool by an embedded engine.
#[cfg(feature = "embedded")]
pub(crate) struct DirectCall {
    pub(crate) id: ToolUseId,
    pub(crate) arguments: Value,
    /// Restarts the engine's time limit of the call.
    pub(crate) progress: Arc<Notify>,
}

#[derive(Clone)]
enum Server {
    Tools(Arc<ServedTools>),
    #[cfg(feature = "rmcp")]
    Rmcp(Arc<ServedRmcp>),
}

impl Served {
    pub(crate) fn new(
        servers: Vec<SdkServer>,
        messages: ServerMessages,
        id: CurrentSession,
        on_elicitation: Option<Arc<dyn OnElicitation>>,
    ) -> Self {
        let served = Self {
            servers: RwLock::default(),
            session: ServerSession { messages, id, on_elicitation },
            calls: StoppableCalls::default(),
            changing: tokio::sync::Mutex::default(),
        };
        served.add(servers);
        served
    }

    /// Adds servers. One replaces another of the same name.
    pub(crate) fn add(&self, servers: Vec<SdkServer>) {
        let serve = |server: SdkServer| {
            let (name, session) = (server.name().to_owned(), self.session.clone());
            let server = match server {
                SdkServer::Tools(server) => {
                    Server::Tools(Arc::new(ServedTools::new(server, session)))
                }
                #[cfg(feature = "rmcp")]
                SdkServer::Rmcp(server) => Server::Rmcp(Arc::new(ServedRmcp::new(server, session))),
            };
            (name, server)
        };
        self.servers.write().extend(servers.into_iter().map(serve));
    }

    /// Removes all servers but those of these names.
    pub(crate) fn retain(&self, names: &[String]) {
        self.servers.write().retain(|name, _| names.contains(name));
    }

    /// Whether there is a server of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.servers.read().contains_key(name)
    }

    /// The response to a message to one of them, which was read as `request`; `None` if there is no
    /// such server.
    pub(crate) async fn respond(
        &self,
        message: &McpMessage,
        request: ServerRequest,
        cancel: CancellationToken,
    ) -> Option<RawJson> {
        let server = self.servers.read().get(&message.server_name)?.clone();
        // However the call ends, work that its handler left running is cancelled.
        let cancel = cancel.child_token();
        let _over = cancel.clone().drop_guard();
        let id = request.id.clone();
        let call = request.call().and_then(|call| call.meta.tool_use_id.clone());
        let work = pin!(async {
            match &server {
                Server::Tools(server) => server.respond(request, cancel).await,
                // It reads messages itself, of every method.
                #[cfg(feature = "rmcp")]
                Server::Rmcp(server) => server.respond(&message.message).await,
            }
        });
        Some(match call {
            Some(call) => {
                let outcome = self.calls.begin(call).outcome(work).await;
                outcome.unwrap_or_else(|why| stopped(id, why))
            }
            None => work.await,
        })
    }

    /// The server of tools of this name, which an embedded engine calls without messages.
    #[cfg(feature = "embedded")]
    pub(crate) fn tools(&self, name: &str) -> Option<McpServer> {
        match self.servers.read().get(name)? {
            Server::Tools(server) => Some(server.server().clone()),
            #[cfg(feature = "rmcp")]
            Server::Rmcp(_) => None,
        }
    }

    /// Calls a tool of a server without a message.
    #[cfg(feature = "embedded")]
    pub(crate) async fn call(&self, server: &str, tool: &Tool, call: DirectCall) -> ToolResult {
        // However the call ends, work that its handler left running is cancelled.
        let cancel = CancellationToken::new();
        let _over = cancel.clone().drop_guard();
        let context = ToolContext {
            server: server.to_owned(),
            tool_use_id: Some(call.id.clone()),
            session_id: self.session.id.id(),
            cancel,
            progress: Some(ProgressSink::TimeLimit(call.progress)),
        };
        let work = pin!(tool.respond(Arguments::Value(call.arguments), context));
        let outcome = self.calls.begin(call.id).outcome(work).await;
        outcome.unwrap_or_else(ToolResult::error)
    }

    /// Stops a call, whose result is then the error `why`. Returns whether there was such a call.
    pub(crate) fn stop(&self, call: &ToolUseId, why: String) -> bool {
        self.calls.stop(call, why)
    }
}
