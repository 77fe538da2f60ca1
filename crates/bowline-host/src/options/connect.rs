//! Ways to reach an agent, as [`Options::transport`] stores them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::Initialize;
use futures_util::future::BoxFuture;

use super::Options;
use crate::{error::Error, responder::Responder, transport::Transport};

/// How an agent is reached: as a process, unless one of the setters of [`Options`] chose another way
/// (`embedded`, `websocket`, `on_demand`, [`carried_by`](Options::carried_by)).
///
/// # The process
///
/// The program is [`ProcessOptions::cli_path`](crate::ProcessOptions::cli_path), or else the first of:
/// `bowline` in the folder of this program, `bowline` and then `claude` in `PATH`, and `claude` where its
/// installers put it (`~/.npm-global/bin`, `/usr/local/bin`, `~/.local/bin`, `~/node_modules/.bin`,
/// `~/.yarn/bin`, `~/.claude/local`). Its stdin and stdout carry the messages.
///
/// The process ends when the session does: its stdin is closed, and if it does not end by itself within
/// [`Limits::close`](crate::Limits::close), it is sent SIGTERM, and after the same time again SIGKILL. A
/// session that is dropped rather than disconnected kills it at once. It leads its own process group,
/// and signals go to the whole group. If this program itself is killed, a shell that was started with the
/// agent sends SIGTERM to the group, and SIGKILL a second later.
#[derive(Clone, Default)]
pub struct AgentTransport(Option<Arc<dyn Connect>>);

impl AgentTransport {
    /// Reaches agents by `connect`.
    pub(crate) fn by(connect: impl Connect) -> Self {
        Self(Some(Arc::new(connect)))
    }

    /// The way to reach the agent, `None` for the process that this program starts.
    pub(crate) fn take(&mut self) -> Option<Arc<dyn Connect>> {
        self.0.take()
    }

    pub(crate) fn connect(&self) -> Option<&dyn Connect> {
        self.0.as_deref()
    }

    pub(crate) fn origin(&self) -> AgentOrigin {
        self.connect().map_or(AgentOrigin::Process, Connect::origin)
    }

    /// Whether the agent is started by others, maybe on another machine.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self.origin(), AgentOrigin::StartedElsewhere | AgentOrigin::AlreadyStarted)
    }

    /// Whether the agent already runs, so that it receives neither flags nor variables from us.
    pub(crate) fn is_already_started(&self) -> bool {
        self.origin() == AgentOrigin::AlreadyStarted
    }
}

impl fmt::Debug for AgentTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(connect) => connect.fmt(f),
            None => f.write_str("Process"),
        }
    }
}

/// Where an agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentOrigin {
    /// This program starts its process.
    Process,
    /// It runs in this process.
    InProcess,
    /// Code of the program starts it, with the flags and variables of the options.
    StartedElsewhere,
    /// It runs before the session does.
    AlreadyStarted,
}

/// A way to reach an agent.
pub(crate) trait Connect: fmt::Debug + Send + Sync + 'static {
    /// Reaches an agent. `opening` will be sent to it first.
    fn open<'a>(
        &'a self,
        options: &'a mut Options,
        opening: &'a Initialize,
        responder: Arc<Responder>,
    ) -> BoxFuture<'a, Result<Arc<dyn Transport>, Error>>;

    fn origin(&self) -> AgentOrigin;

    /// The program, for errors that name it.
    fn program(&self, _options: &Options) -> Option<PathBuf> {
        None
    }

    /// The version of the program, if it can be looked at.
    fn installed_version<'a>(&'a self, _options: &'a Options) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    /// The agent's folders and transcripts, if they are not those of a process.
    fn storage(&self) -> Option<&dyn AgentStorage> {
        None
    }
}

/// Folders of an agent that runs in this process.
#[cfg_attr(not(feature = "sessions"), expect(dead_code, reason = "for stores and settings files"))]
pub(crate) trait AgentStorage {
    /// Working directory.
    fn cwd(&self) -> &Path;

    /// Configuration folder, if it has one. Without one it saves no transcripts.
    fn home(&self) -> Option<&Path>;

    /// The same agent with another configuration folder.
    fn with_home(&self, home: &Path) -> AgentTransport;
}
