//! The servers that this program serves to one session.
//!
//! A [`SdkServer`] is what the options say and may be used by many sessions; what is here belongs
//! to one of them: its calls that run, its way to the agent, its name.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

#[cfg(feature = "embedded")]
use bowline_protocol::ToolResult;
use bowline_protocol::{McpMessage, RawJson, SessionId, ToolUseId};
#[cfg(feature = "embedded")]
use serde_json::Value;
#[cfg(feature = "embedded")]
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "rmcp")]
use super::rmcp::ServedRmcp;
use super::{
    Incoming, Outlet, SdkServer,
    rpc::{ServedTools, stopped},
    stops::Stops,
};
#[cfg(feature = "embedded")]
use super::{McpServer, Tool, ToolContext, arguments::Arguments, context::ProgressSink};
use crate::callback::OnElicitation;

/// The id of a session, as soon as anybody has said it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CurrentSession(Arc<Mutex<Option<SessionId>>>);

impl CurrentSession {
    /// It has this id from now on.
    pub(crate) fn is(&self, id: SessionId) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
    }

    pub(super) fn id(&self) -> Option<SessionId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What servers need from their session.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) outlet: Outlet,
    pub(super) session: CurrentSession,
    /// Who answers when a server has a question for the user.
    #[cfg_attr(not(feature = "rmcp"), expect(dead_code, reason = "plain tools ask nothing"))]
    pub(super) on_elicitation: Option<Arc<dyn OnElicitation>>,
}

/// The servers of one session, by name. They may change while it runs.
pub(crate) struct Served {
    servers: RwLock<ByName>,
    around: Surroundings,
    stops: Stops,
    /// Held by whoever agrees with the agent on other servers.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

type ByName = BTreeMap<String, Server>;

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
        outlet: Outlet,
        session: CurrentSession,
        on_elicitation: Option<Arc<dyn OnElicitation>>,
    ) -> Self {
        let served = Self {
            servers: RwLock::default(),
            around: Surroundings { outlet, session, on_elicitation },
            stops: Stops::default(),
            changing: tokio::sync::Mutex::default(),
        };
        served.add(servers);
        served
    }

    /// Serves these as well, each in place of one of its name.
    pub(crate) fn add(&self, servers: Vec<SdkServer>) {
        let serve = |server: SdkServer| {
            let (name, around) = (server.name().to_owned(), self.around.clone());
            let server = match server {
                SdkServer::Tools(server) => {
                    Server::Tools(Arc::new(ServedTools::new(server, around)))
                }
                #[cfg(feature = "rmcp")]
                SdkServer::Rmcp(server) => Server::Rmcp(Arc::new(ServedRmcp::new(server, around))),
            };
            (name, server)
        };
        self.write().extend(servers.into_iter().map(serve));
    }

    /// Serves no others than those of these names any more.
    pub(crate) fn retain(&self, names: &[String]) {
        self.write().retain(|name, _| names.contains(name));
    }

    /// Whether there is one of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.read().contains_key(name)
    }

    /// Answers a message to one of them, which was read as `read`; `None` if there is no such server.
    pub(crate) async fn answer(
        &self,
        message: &McpMessage,
        read: Incoming,
        cancel: CancellationToken,
    ) -> Option<RawJson> {
        let server = self.read().get(&message.server_name)?.clone();
        // Whatever ends the call, what its handler left running hears of it.
        let cancel = cancel.child_token();
        let _over = cancel.clone().drop_guard();
        let id = read.id.clone();
        let call = read.call().and_then(|call| call.meta.tool_use_id.clone());
        let work = pin!(async {
            match &server {
                Server::Tools(server) => server.answer(read, cancel).await,
                // It reads messages by itself, and all that MCP has.
                #[cfg(feature = "rmcp")]
                Server::Rmcp(server) => server.answer(&message.message).await,
            }
        });
        Some(match call {
            Some(call) => {
                let outcome = self.stops.begin(call).outcome(work).await;
                outcome.unwrap_or_else(|why| stopped(id, why))
            }
            None => work.await,
        })
    }

    /// The server of tools of this name, which an embedded engine calls without messages.
    #[cfg(feature = "embedded")]
    pub(crate) fn tools(&self, name: &str) -> Option<McpServer> {
        match self.read().get(name)? {
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
            session_id: self.around.session.id(),
            cancel,
            progress: Some(ProgressSink::TimeLimit(call.progress)),
        };
        let work = pin!(tool.respond(Arguments::Value(call.arguments), context));
        let outcome = self.stops.begin(call.id).outcome(work).await;
        outcome.unwrap_or_else(ToolResult::error)
    }

    /// Stops a call, which is answered with `why`. Says whether there was one to stop.
    pub(crate) fn stop(&self, call: &ToolUseId, why: String) -> bool {
        self.stops.stop(call, why)
    }

    fn read(&self) -> RwLockReadGuard<'_, ByName> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, ByName> {
        self.servers.write().unwrap_or_else(PoisonError::into_inner)
    }
}
