//! Pool of sessions with the same options: a concurrency limit, prewarmed agents, recovery.

mod builder;
mod warm;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use bowline_protocol::SessionId;
use futures_util::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{sync::Semaphore, time};
use uuid::Uuid;

pub use self::builder::AgentBuilder;
use self::warm::Warm;
use crate::{
    connection::Connection,
    error::Error,
    journal::{Journal, JournalEntry, OrphanedSession},
    options::{Options, Resume},
    prompt::Prompt,
    resume_failure::ResumeFailure,
    session::{FreshStart, Session, SessionWork},
    status::Tracker,
};

/// An agent that works on prompts, each in its own [`Session`].
///
/// So many sessions run at once as it has [room](AgentBuilder::max_sessions) for; others wait
/// their turn, first come, first served. An agent is a handle: clones share their room.
///
/// ```
/// use bowline_host::{Agent, Embedded, Options};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bowline_host::Error> {
/// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
/// let agent = Agent::builder(options).max_sessions(2).build()?;
/// let sessions: Vec<_> = (0..5).map(|n| agent.start(format!("SAY {n}"))).collect();
/// for (n, session) in sessions.iter().enumerate() {
///     assert_eq!(session.wait().await?.result, Some(n.to_string()));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    options: Options,
    slots: Arc<Semaphore>,
    max_sessions: usize,
    warm: Mutex<Warm>,
    journal: Option<Journal>,
    continuation: String,
}

impl Agent {
    /// An agent with these options, or what is wrong with them.
    pub fn new(options: Options) -> Result<Self, Error> {
        Self::builder(options).build()
    }

    /// An agent with these options that is more than the usual.
    pub fn builder(options: Options) -> AgentBuilder {
        AgentBuilder::new(options)
    }

    /// Has the agent work on a prompt. Needs a tokio runtime, and returns at once: the session
    /// starts by itself, and reports its own failures.
    pub fn start(&self, prompt: impl Into<Prompt>) -> Session {
        self.begin(prompt.into(), None, None)
    }

    /// The same, in this folder instead of [`Options::cwd`]. All other options apply.
    ///
    /// The folder must exist where the agent is started. A session that is [recovered](Self::recover)
    /// works in it again. Agents that were [started before](Self::prewarm) work elsewhere and are not used;
    /// one that others have started, and that dials in, has its folder already, and the session fails.
    ///
    /// ```
    /// use bowline_host::{Agent, Embedded, Options};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let home = home.path();
    /// let options = Options::default().embedded(Embedded::script(home)).allow(["Bash(pwd)"]);
    /// let agent = Agent::new(options)?;
    /// for project in ["docs", "site"] {
    ///     let folder = home.join(project);
    ///     std::fs::create_dir(&folder)?;
    ///     let session = agent.start_in(folder, "TOOL Bash {\"command\": \"pwd\"}\nNEXT\nECHORESULT");
    ///     assert!(session.wait().await?.result.is_some_and(|text| text.contains(project)));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn start_in(&self, folder: impl Into<PathBuf>, prompt: impl Into<Prompt>) -> Session {
        let folder = folder.into();
        // The program that recovers the session may run in another folder.
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        self.begin(prompt.into(), Some(folder), None)
    }

    /// Starts a session, in `folder` if one is given. `left` is the journal entry of the unfinished session
    /// that this one replaces.
    fn begin(
        &self,
        prompt: Prompt,
        folder: Option<PathBuf>,
        left: Option<JournalEntry>,
    ) -> Session {
        let warm = if folder.is_none() { self.warm(Warm::take) } else { None };
        let (tracker, open) = match warm {
            Some((connection, tracker)) => (tracker, std::future::ready(Ok(connection)).boxed()),
            None => self.open(folder.as_deref()),
        };
        let id = tracker.status().session_id().cloned();
        let entry = self.inner.journal.as_ref().and_then(|journal| {
            // Without its line a session runs all the same; it would only not be found again.
            let entry = journal.write(&id?, &prompt, folder.as_deref());
            entry.inspect_err(|error| tracing::warn!(%error, "the journal cannot be written")).ok()
        });
        // The prompt is in the journal at all times: twice for a moment rather than not at all.
        let entry = match (entry, left) {
            (Some(entry), Some(left)) => {
                left.remove();
                Some(entry)
            }
            (entry, left) => entry.or(left),
        };
        self.run(tracker, open, prompt, entry, None)
    }

    /// Opens the connection of a new session when it is its turn.
    fn open(&self, folder: Option<&Path>) -> (Arc<Tracker>, Opening) {
        let (mut options, id) = self.options_for_session();
        if let Some(folder) = folder {
            if options.transport.is_already_started() {
                let what = "`start_in` is not possible with `websocket`: the agent already runs in a folder";
                let refused = std::future::ready(Err(Error::Options(what.to_owned())));
                return (Tracker::new(id), refused.boxed());
            }
            options.cwd = Some(folder.to_owned());
        }
        opening(options, id)
    }

    /// Starts agents before they are needed, so that as many sessions begin at once. Each is used
    /// for one session; agents that are already prewarmed are included in the number.
    ///
    /// There are never more than [`max_sessions`](AgentBuilder::max_sessions) of them.
    pub async fn prewarm(&self, count: usize) -> Result<(), Error> {
        let count = count.min(self.inner.max_sessions);
        let missing = count.saturating_sub(self.warm(Warm::count));
        let open = (0..missing).map(|_| async {
            let (tracker, open) = self.open(None);
            let connection = open.await?;
            self.warm(|warm| warm.keep(connection, tracker));
            Ok::<_, Error>(())
        });
        futures_util::future::try_join_all(open).await.map(|_| ())
    }

    /// Resumes the unfinished sessions of programs that have died, as recorded in the
    /// [journal](AgentBuilder::journal): sessions whose agents had responded continue where they
    /// were, with [a prompt](AgentBuilder::continuation) that explains why; others start from scratch with their
    /// prompt, and so do those of which their agent has saved nothing.
    ///
    /// Each is found by one program only, however many look. An agent that has outlived its program is
    /// waited for; a session that another agent still runs then fails and stays in the journal for a
    /// later time. Sessions that this program has dropped before
    /// they were over are found as well: [cancel](Session::cancel) those that must not be recovered.
    pub fn recover(&self) -> Result<Vec<Session>, Error> {
        let Some(journal) = &self.inner.journal else { return Ok(Vec::new()) };
        let found = journal.orphans();
        let found = found.map_err(|error| Error::connection("reading the journal", error))?;
        Ok(found.into_iter().map(|orphan| self.resume_orphan(orphan)).collect())
    }

    fn resume_orphan(&self, orphan: OrphanedSession) -> Session {
        let OrphanedSession { session_id, prompt, folder, begun, entry } = orphan;
        // Whether the agent of one that had not begun has used its id is unknown; it gets
        // another, unless the options specify one.
        if !begun && self.inner.options.session.session_id.is_none() {
            return self.begin(prompt, folder, Some(entry));
        }
        let mut options = self.inner.options.clone();
        options.cwd = folder.or(options.cwd);
        options.resume = Resume::Session(session_id.to_string());
        options.session.session_id = None;
        options.session.fork_session = false;
        options.session.resume_session_at = None;
        options.session.resume_drops_turn = None;
        let mut fresh_options = options.clone();
        fresh_options.resume = Resume::No;
        fresh_options.session.session_id = Some(session_id.to_string());
        let continuation = Prompt::from(self.inner.continuation.as_str());
        let tracker = Tracker::new(Some(session_id));
        let open = open_after_another(options, &tracker);
        let fresh_start = FreshStart { prompt, open: open_with(fresh_options, &tracker) };
        self.run(tracker, open, continuation, Some(entry), Some(fresh_start))
    }

    fn run(
        &self,
        tracker: Arc<Tracker>,
        open: Opening,
        prompt: Prompt,
        entry: Option<JournalEntry>,
        fresh_start: Option<FreshStart>,
    ) -> Session {
        let slots = self.inner.slots.clone();
        let slot = async { slots.acquire_owned().await.map_err(|_| Error::Closed) }.boxed();
        Session::begin(SessionWork { tracker, prompt, slot, open, entry, fresh_start })
    }

    /// The options of the next session, and its id where we may choose it.
    fn options_for_session(&self) -> (Options, Option<SessionId>) {
        let mut options = self.inner.options.clone();
        if options.transport.is_already_started() {
            // It chooses its id itself and reports it.
            return (options, None);
        }
        if options.session.session_id.is_none()
            && (options.resume == Resume::No || options.session.fork_session)
        {
            options.session.session_id = Some(Uuid::new_v4().to_string());
        }
        let id = options.session.session_id.as_deref().map(SessionId::from);
        (options, id)
    }

    fn warm<T>(&self, work: impl FnOnce(&mut Warm) -> T) -> T {
        work(&mut self.inner.warm.lock())
    }
}

/// How long the agent of a program that was killed may still work on its session. After a second it is
/// killed as well.
const LINGERS: Duration = Duration::from_secs(2);

/// How long to wait for it at a time.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// A connection that is being opened.
type Opening = BoxFuture<'static, Result<Arc<Connection>, Error>>;

/// Opens a connection when it is its turn, with what watches over it.
fn opening(options: Options, id: Option<SessionId>) -> (Arc<Tracker>, Opening) {
    let tracker = Tracker::new(id);
    let open = open_with(options, &tracker);
    (tracker, open)
}

fn open_with(options: Options, tracker: &Arc<Tracker>) -> Opening {
    let open = Connection::open(options, Some(tracker.clone()));
    open.map(|connection| connection.map(Arc::new)).boxed()
}

/// Opens a connection to a session whose program has died, as soon as its agent has, too.
fn open_after_another(options: Options, tracker: &Arc<Tracker>) -> Opening {
    let tracker = tracker.clone();
    let open = async move {
        let start = Instant::now();
        loop {
            let opened = open_with(options.clone(), &tracker).await;
            let locked =
                opened.as_ref().err().and_then(ResumeFailure::of) == Some(ResumeFailure::Locked);
            if !locked || start.elapsed() >= LINGERS {
                return opened;
            }
            time::sleep(BETWEEN_ATTEMPTS).await;
        }
    };
    open.boxed()
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = self.inner.slots.available_permits();
        f.debug_struct("Agent")
            .field("options", &self.inner.options)
            .field("free", &free)
            .finish_non_exhaustive()
    }
}
