//! The door for MCP clients: the built-in tools without a conversation, a whole agent as one more
//! tool, and the user's commands as prompts.
//!
//! A tool call takes the engine's own way (schema, hooks, rules, mode); where the rules leave it
//! open, a client that can elicit is asked, and with any other the answer is no. Sessions are
//! opened through [`Sessions`]; how they are set up is not known here.
//!
//! | subject | where |
//! |---|---|
//! | what is offered | `offer.rs`, `agent.rs`, `prompts.rs` |
//! | a call: its task, its questions, its progress | `call.rs` |
//! | questions to the client | `elicit.rs`, `parked.rs` |
//! | results, in MCP's words | `content.rs` |
//! | over pipes and over HTTP | `serve.rs`, `pipes.rs`, `bounds.rs`, `http.rs`, `origin.rs`, `connections.rs`, `values.rs` |

mod agent;
mod agent_tool;
mod bounds;
mod call;
mod connections;
mod content;
mod elicit;
mod handler;
mod http;
mod offer;
mod origin;
mod parked;
mod pipes;
mod prompts;
mod serve;
mod values;

use std::{fmt, sync::Arc};

use bowline_engine::{BoxFuture, OpenError, Session, SessionEnd, SessionRequest, Sessions};

use crate::{call::ToolHost, handler::Handler, offer::Offer};
pub use crate::{
    http::{Access, Address, AddressError, Token},
    origin::{Origin, OriginError},
};

/// An MCP server that is ready to serve.
pub struct Server {
    handler: Handler,
    offers_nothing: bool,
    /// Where calls without a conversation happen, for all clients.
    session: Session,
    work: BoxFuture<'static, SessionEnd>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The session that tools run in cannot be opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// The engine does not take it.
    #[error("{0}")]
    Start(#[from] bowline_engine::StartError),
    /// The connection failed.
    #[error("{0}")]
    Connection(#[from] std::io::Error),
    /// The client did not say what a client says first.
    #[error("the client did not open the connection as MCP wants it: {0}")]
    Opening(String),
}

impl Server {
    /// Sets a server up; `version` is ours, as clients are told.
    pub fn open(sessions: Arc<dyn Sessions>, version: &str) -> Result<Self, ServerError> {
        let mut config = sessions.open(SessionRequest::new())?;
        // This session has no messages, so there is no transcript to write; and it offers its own
        // tools, not those of others.
        config.transcript = None;
        config.mcp_servers.clear();
        let selection = config.tools.clone();
        let prompts = config.permission_prompts.clone();
        let offers_agent = !config.policy.rules.is_disabled(agent_tool::NAME);
        let host = Arc::new(ToolHost::default());
        let (session, work) = Session::start(config, host.clone())?;
        let offer = Offer::new(&session.tools(), &selection, offers_agent);
        let offers_nothing = offer.tools().is_empty();
        let handler = Handler::new(session.clone(), sessions, host, offer, version, prompts);
        Ok(Self { handler, offers_nothing, session, work: Box::pin(work) })
    }

    /// Whether clients would find no tool at all.
    pub fn offers_nothing(&self) -> bool {
        self.offers_nothing
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
