//! Agents that are started when a session needs one, and connect over a WebSocket.

use std::{
    collections::BTreeMap, error::Error as StdError, ffi::OsString, fmt, path::PathBuf, sync::Arc,
};

use futures_util::future::BoxFuture;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::{Listener, RemoteAgent};
use crate::{
    error::{Cause, Error},
    options::{Options, arguments::variables},
    process,
};

/// What may go wrong while an agent is started or runs.
type Failure = Box<dyn StdError + Send + Sync>;

/// Runs agents that dial in: as processes, in containers, on other machines. A closure that takes
/// [`AgentInvitation`] is one.
pub trait StartAgent: Send + Sync + 'static {
    /// Starts an agent and returns when it has ended. Dropped when its session is over and the agent
    /// has not ended by itself, so what is dropped must take the agent with it.
    fn start(&self, invitation: AgentInvitation) -> BoxFuture<'static, Result<(), Failure>>;
}

impl<F, Fut> StartAgent for F
where
    F: Fn(AgentInvitation) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    fn start(&self, invitation: AgentInvitation) -> BoxFuture<'static, Result<(), Failure>> {
        Box::pin(self(invitation))
    }
}

/// Address, flags, variables and folder with which an agent is to be started, so that it connects.
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentInvitation {
    /// What to dial.
    pub url: String,
    /// Its flags, the URL among them.
    pub arguments: Vec<OsString>,
    /// Its variables, over those it has anyway; `None` removes one. The listener's token is among
    /// them.
    pub variables: BTreeMap<String, Option<String>>,
    /// Where it is to work.
    pub cwd: Option<PathBuf>,
}

impl AgentInvitation {
    /// Runs a program of this machine. Ends when it does: with an error that has its exit code and the
    /// end of its stderr, if it failed. Dropping it kills the program and all that it has started,
    /// and so does the end of this program, however it ends.
    pub async fn run(self, program: impl Into<PathBuf>) -> Result<(), Failure> {
        Ok(process::run(program.into(), self.arguments, self.variables, self.cwd).await?)
    }
}

impl fmt::Debug for AgentInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables may be secrets.
        f.debug_struct("AgentInvitation").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Agents that are started when a session needs one, and dial in at a [`Listener`]. Each session
/// has its own agent.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use bowline_host::{Agent, Listener, ListenerOptions, OnDemand, Options, AgentInvitation};
///
/// # async fn run() -> Result<(), bowline_host::Error> {
/// let listener = Arc::new(Listener::bind("127.0.0.1:0", ListenerOptions::default()).await?);
/// let agents = OnDemand::new(listener, async |invitation: AgentInvitation| invitation.run("bowline").await);
/// let agent = Agent::new(Options::default().on_demand(agents))?;
/// let sessions = ["Read the README.", "Run the tests."].map(|prompt| agent.start(prompt));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OnDemand {
    listener: Arc<Listener>,
    base: Option<String>,
    starter: Arc<dyn StartAgent>,
}

impl OnDemand {
    /// Agents that `starter` starts.
    pub fn new(listener: Arc<Listener>, starter: impl StartAgent) -> Self {
        Self { listener, base: None, starter: Arc::new(starter) }
    }

    /// Has agents dial this instead of the address that the listener is bound to, with the path of
    /// their session appended: `wss://agents.example.org`.
    #[must_use]
    pub fn reached_at(mut self, base: impl Into<String>) -> Self {
        self.base = Some(base.into());
        self
    }

    /// Starts an agent for these options.
    pub(crate) fn start(&self, options: &Options) -> Result<InvitedAgent, Error> {
        let path = format!("/sessions/{}", Uuid::new_v4());
        let agent = self.listener.expect(&path)?;
        let url = match &self.base {
            Some(base) => format!("{}{path}", base.trim_end_matches('/')),
            None => self.listener.url(&path),
        };
        let mut variables = variables(options);
        if let Some(token) = self.listener.token() {
            let name = "CLAUDE_CODE_SESSION_ACCESS_TOKEN".to_owned();
            variables.insert(name, Some(token.to_owned()));
        }
        let arguments = options.remote_arguments(&url)?;
        let invitation = AgentInvitation { url, arguments, variables, cwd: options.cwd.clone() };
        let (running, listener) = (self.starter.start(invitation), self.listener.clone());
        let running = async move {
            let ended = running.await.map_err(explained);
            // As long as the agent runs it may have to dial again.
            drop(listener);
            ended
        };
        Ok(InvitedAgent { agent, running: AbortOnDropHandle::new(tokio::spawn(running)) })
    }
}

/// Why an agent is not there.
fn explained(failure: Failure) -> Error {
    match failure.downcast::<Error>() {
        Ok(error) => *error,
        Err(failure) => Error::Connection {
            what: "starting an agent that dials in".to_owned(),
            source: Some(Cause::of(failure)),
        },
    }
}

impl fmt::Debug for OnDemand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnDemand").field("listener", &self.listener).finish_non_exhaustive()
    }
}

/// An agent that was started and will dial in.
pub(crate) struct InvitedAgent {
    pub(crate) agent: RemoteAgent,
    pub(crate) running: Running,
}

/// The agent as long as it runs.
pub(super) type Running = AbortOnDropHandle<Result<(), Error>>;
