//! The servers that this program serves to one session.
//!
//! A [`SdkServer`] is what the options say and may be used by many sessions; what is here belongs
//! to one of them: its calls that run, its way to the agent, its name.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bowline_protocol::{McpMessage, RawJson, SessionId};
use tokio_util::sync::CancellationToken;

#[cfg(feature = "rmcp")]
use super::rmcp::ServedRmcp;
use super::{Incoming, Outlet, SdkServer, rpc::ServedTools};
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

/// The servers of one session, by name.
pub(crate) struct Served(BTreeMap<String, Server>);

enum Server {
    Tools(ServedTools),
    #[cfg(feature = "rmcp")]
    Rmcp(ServedRmcp),
}

impl Served {
    pub(crate) fn new(
        servers: Vec<SdkServer>,
        outlet: Outlet,
        session: CurrentSession,
        on_elicitation: Option<Arc<dyn OnElicitation>>,
    ) -> Self {
        let around = Surroundings { outlet, session, on_elicitation };
        let serve = |server: SdkServer| {
            let name = server.name().to_owned();
            let server = match server {
                SdkServer::Tools(server) => Server::Tools(ServedTools::new(server, around.clone())),
                #[cfg(feature = "rmcp")]
                SdkServer::Rmcp(server) => Server::Rmcp(ServedRmcp::new(server, around.clone())),
            };
            (name, server)
        };
        Self(servers.into_iter().map(serve).collect())
    }

    /// Answers a message to one of them, which was read as `read`; `None` if there is no such server.
    pub(crate) async fn answer(
        &self,
        message: &McpMessage,
        read: Incoming,
        cancel: CancellationToken,
    ) -> Option<RawJson> {
        Some(match self.0.get(&message.server_name)? {
            Server::Tools(server) => server.answer(read, cancel).await,
            // It reads messages by itself, and all that MCP has.
            #[cfg(feature = "rmcp")]
            Server::Rmcp(server) => server.answer(&message.message).await,
        })
    }
}
