//! Builder of a fleet agent.

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::{Agent, Inner, warm::Warm};
use crate::{error::Error, journal::Journal, options::Options};

/// Default of concurrent sessions. An agent in its own process may take
/// a quarter of a gigabyte.
const MAX_SESSIONS: usize = 16;

/// Default prompt of a session that is recovered.
const CONTINUATION: &str = "The program that runs you ended while you were working and has been \
                            started again. Go on where you left off.";

/// Makes an [`Agent`].
///
/// ```
/// use bowline_host::{Agent, Embedded, Options};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let embedded = Embedded::script(folder).saved_in(folder.join("config"));
/// let agent = Agent::builder(Options::default().embedded(embedded))
///     .max_sessions(100)
///     .journal(folder.join("journal"))
///     .build()?;
/// // Sessions that a crashed program left unfinished continue before there is new work.
/// for session in agent.recover()? {
///     session.wait().await?;
/// }
/// agent.prewarm(2).await?;
/// agent.start("SAY hello").wait().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct AgentBuilder {
    options: Options,
    max_sessions: usize,
    journal: Option<PathBuf>,
    continuation: String,
}

impl AgentBuilder {
    pub(super) fn new(options: Options) -> Self {
        let continuation = CONTINUATION.to_owned();
        Self { options, max_sessions: MAX_SESSIONS, journal: None, continuation }
    }

    /// Limits the sessions that run at once; the default is 16. Others wait.
    pub fn max_sessions(mut self, count: usize) -> Self {
        self.max_sessions = count;
        self
    }

    /// Notes in this folder which sessions run, so that
    /// [`recover`](super::Agent::recover) finds those of a program that has died. Programs may
    /// share it.
    pub fn journal(mut self, folder: impl Into<PathBuf>) -> Self {
        self.journal = Some(folder.into());
        self
    }

    /// Prompt of a session that is recovered after its program has died.
    pub fn continuation(mut self, prompt: impl Into<String>) -> Self {
        self.continuation = prompt.into();
        self
    }

    /// Builds the agent; an error names invalid options: names that clash, options that do not go
    /// together, a folder that is not there.
    pub fn build(self) -> Result<Agent, Error> {
        let invalid = |message: &str| Err(Error::Options(message.to_owned()));
        self.options.check()?;
        if self.max_sessions == 0 {
            return invalid("`max_sessions` must be at least 1");
        }
        if self.journal.is_some() && self.options.session.no_session_persistence {
            return invalid("a `journal` needs saved sessions: unset `no_session_persistence`");
        }
        if self.journal.is_some() && self.options.transport.is_already_started() {
            return invalid(
                "a `journal` has no effect with `websocket`: the agent cannot be made to resume a \
                 session; use `on_demand`",
            );
        }
        let storage = self.options.transport.connect().and_then(|connect| connect.storage());
        if self.journal.is_some() && storage.is_some_and(|storage| storage.home().is_none()) {
            return invalid("a `journal` needs an embedded agent that is `saved_in` a folder");
        }
        let max_sessions = self.max_sessions.min(Semaphore::MAX_PERMITS);
        let journal = match self.journal {
            None => None,
            Some(folder) => {
                let what = format!("making the journal {}", folder.display());
                let journal = Journal::open(folder);
                Some(journal.map_err(|error| Error::connection(what, error))?)
            }
        };
        Ok(Agent {
            inner: Arc::new(Inner {
                options: self.options,
                slots: Arc::new(Semaphore::new(max_sessions)),
                max_sessions,
                warm: Mutex::new(Warm::default()),
                journal,
                continuation: self.continuation,
            }),
        })
    }
}
