//! One server of a session: what it is, how it is doing, and the task that looks after it.

mod life;

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline_protocol::{McpGrantType, McpRemoteServer, McpServerConfig, McpServerStatus};
use bowline_tools::Workspace;
use serde_json::Number;
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    catalog::Live,
    config::Scope,
    connection::{Hello, StderrTail, greet},
    host::{Elicit, McpObserver, SdkServers},
    in_process::CallLimits,
    login::{LoginFile, Ongoing, Wanted},
    options::Options,
};

/// What all servers of a session have in common.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) sdk: Option<Arc<dyn SdkServers>>,
    pub(crate) elicit: Option<Arc<dyn Elicit>>,
    pub(crate) observer: Option<Arc<dyn McpObserver>>,
    /// Where logins are kept.
    pub(crate) logins: Option<PathBuf>,
    /// Counts changes of tools.
    pub(crate) version: AtomicU64,
}

/// How a server is doing.
#[derive(Clone)]
pub(crate) enum State {
    Pending,
    Connected(Arc<Live>),
    Failed { error: String },
    NeedsAuth(Wanted),
    Disabled,
}

impl State {
    pub(crate) fn status(&self) -> McpServerStatus {
        match self {
            Self::Pending => McpServerStatus::Pending,
            Self::Connected(_) => McpServerStatus::Connected,
            Self::Failed { .. } => McpServerStatus::Failed,
            Self::NeedsAuth(_) => McpServerStatus::NeedsAuth,
            Self::Disabled => McpServerStatus::Disabled,
        }
    }

    fn live(&self) -> Option<&Arc<Live>> {
        match self {
            Self::Connected(live) => Some(live),
            _ => None,
        }
    }
}

/// A server, as its tools and its task see it.
pub(crate) struct Core {
    pub(crate) name: String,
    pub(crate) config: McpServerConfig,
    pub(crate) scope: Scope,
    pub(crate) shared: Arc<Shared>,
    state: watch::Sender<State>,
    stderr: Mutex<Option<Arc<StderrTail>>>,
}

impl Core {
    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        self.state.borrow().live().cloned()
    }

    pub(crate) fn is_sdk(&self) -> bool {
        matches!(self.config, McpServerConfig::Sdk(_))
    }

    /// How it is reached, if it is on the network.
    pub(crate) fn remote(&self) -> Option<&McpRemoteServer> {
        match &self.config {
            McpServerConfig::Http(remote) | McpServerConfig::Sse(remote) => Some(remote),
            _ => None,
        }
    }

    /// Whether it is logged in to without a person, and so as often as need be.
    pub(crate) fn is_own_client(&self) -> bool {
        let oauth = self.remote().and_then(|remote| remote.oauth.as_ref());
        oauth.is_some_and(|oauth| oauth.grant_type == Some(McpGrantType::ClientCredentials))
    }

    /// Where a login to it is kept.
    pub(crate) fn login_file(&self) -> Option<LoginFile> {
        let folder = self.shared.logins.as_ref()?;
        Some(LoginFile::new(folder, &self.name, &self.remote()?.url))
    }

    /// The next login asks for these scopes too.
    pub(crate) fn note_scopes(&self, wanted: &Wanted) {
        let Some(file) = self.login_file().filter(|_| !wanted.scopes.is_empty()) else { return };
        let noted = file.change(|kept| {
            let new = wanted.scopes.iter().filter(|scope| !kept.wanted_scopes.contains(scope));
            let new: Vec<_> = new.cloned().collect();
            kept.wanted_scopes.extend(new);
        });
        if let Err(error) = noted {
            tracing::warn!(server = self.name, %error, "the scopes that a server wants are lost");
        }
    }

    /// How long a call of one of its tools may be silent.
    pub(crate) fn call_timeout(&self) -> Duration {
        let configured = match &self.config {
            McpServerConfig::Stdio(server) => server.timeout.as_ref(),
            McpServerConfig::Http(server) | McpServerConfig::Sse(server) => server.timeout.as_ref(),
            McpServerConfig::Sdk(server) => server.timeout.as_ref(),
            _ => None,
        };
        let configured = configured.and_then(Number::as_f64).filter(|ms| *ms > 0.0);
        let configured = configured.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
        configured.unwrap_or(self.shared.options.call_timeout)
    }

    /// What calls of its tools are held to, if it runs in this process and until `closed` fires.
    pub(crate) fn call_limits(&self, closed: &CancellationToken) -> CallLimits {
        CallLimits {
            server: self.name.clone(),
            timeout: self.call_timeout(),
            max_result_chars: self.shared.options.max_result_chars(),
            closed: closed.clone(),
        }
    }

    /// From now on, this is what the program writes to stderr.
    pub(crate) fn set_stderr(&self, stderr: Arc<StderrTail>) {
        *lock(&self.stderr) = Some(stderr);
    }

    /// The last that the program wrote to stderr, if the server is one.
    pub(crate) fn stderr(&self) -> Option<String> {
        lock(&self.stderr).as_ref().map(|stderr| stderr.text())
    }

    /// Moves to another state and tells whoever listens what that changed.
    pub(crate) fn set(&self, state: State) {
        let old = self.state.send_replace(state.clone());
        let (before, after) = (old.live(), state.live());
        let counts = |live: Option<&Arc<Live>>| {
            live.map_or((0, 0, 0), |live| {
                (live.tools.len(), live.catalog.prompts.len(), live.catalog.resources.len())
            })
        };
        let (had, has) = (counts(before), counts(after));
        let same = |equal: fn(&Live, &Live) -> bool| {
            before.zip(after).is_some_and(|(before, after)| equal(before, after))
        };
        if had.0 + has.0 > 0 && !same(|a, b| a.catalog.tools == b.catalog.tools) {
            self.shared.version.fetch_add(1, Ordering::Relaxed);
            self.tell(|observer| observer.tools_changed(&self.name));
        }
        if had.1 + has.1 > 0 && !same(|a, b| a.catalog.prompts == b.catalog.prompts) {
            self.tell(|observer| observer.prompts_changed(&self.name));
        }
        let resources_same = same(|a, b| {
            a.catalog.resources == b.catalog.resources
                && a.hello.capabilities.resources() == b.hello.capabilities.resources()
        });
        if had.2 + has.2 > 0 && !resources_same {
            self.tell(|observer| observer.resources_changed(&self.name));
        }
        if old.status() != state.status() {
            // The tools for resources come and go with the servers that have some.
            self.shared.version.fetch_add(1, Ordering::Relaxed);
            self.tell(|observer| observer.status_changed(&self.name, state.status()));
        }
    }

    fn tell(&self, what: impl FnOnce(&dyn McpObserver)) {
        if let Some(observer) = &self.shared.observer {
            what(&**observer);
        }
    }
}

/// A server and its task.
pub(crate) struct Server {
    pub(crate) core: Arc<Core>,
    /// Whether `set_servers` may take it away.
    pub(crate) replaceable: bool,
    task: Mutex<Option<Task>>,
    /// What a server inside the host answered when it was greeted ahead of time.
    greeting: Mutex<Greeting>,
    /// The login that waits for its user, or was the last one.
    pub(crate) login: tokio::sync::Mutex<Option<Ongoing>>,
}

/// What became of greeting a server inside the host ahead of time.
#[derive(Default)]
enum Greeting {
    #[default]
    NotYet,
    Answered(Box<Hello>),
    Unanswered,
}

struct Task {
    stop: CancellationToken,
    handle: AbortOnDropHandle<()>,
}

impl Server {
    pub(crate) fn new(
        name: String,
        config: McpServerConfig,
        scope: Scope,
        replaceable: bool,
        shared: Arc<Shared>,
    ) -> Self {
        let core = Core {
            name,
            config,
            scope,
            shared,
            state: watch::Sender::new(State::Pending),
            stderr: Mutex::default(),
        };
        Self {
            core: Arc::new(core),
            replaceable,
            task: Mutex::default(),
            greeting: Mutex::default(),
            login: tokio::sync::Mutex::default(),
        }
    }

    /// Says hello to a server inside the host, ahead of [`start`](Self::start).
    pub(crate) async fn greet(&self) {
        if lock(&self.task).is_some() {
            return;
        }
        let (core, shared) = (&self.core, &self.core.shared);
        let Some(servers) = shared.sdk.as_ref().filter(|_| core.is_sdk()) else { return };
        let limits = core.call_limits(&CancellationToken::new());
        if servers.in_process(&core.name, limits).is_some() {
            return;
        }
        let hello = greet(servers, &core.name, &shared.options.client);
        let answer = tokio::time::timeout(shared.options.connect_timeout, hello).await;
        *lock(&self.greeting) = match answer {
            Ok(Ok(hello)) => Greeting::Answered(Box::new(hello)),
            _ => Greeting::Unanswered,
        };
    }

    /// Begins to look after it, unless that has been done already.
    pub(crate) fn start(&self) {
        let mut task = lock(&self.task);
        if task.is_none() && !matches!(self.core.state(), State::Disabled) {
            let stop = CancellationToken::new();
            let greeting = std::mem::take(&mut *lock(&self.greeting));
            let life = life::live(Arc::clone(&self.core), greeting, stop.clone());
            *task = Some(Task { stop, handle: AbortOnDropHandle::new(tokio::spawn(life)) });
        }
    }

    /// Lets go of it and waits until it is gone.
    pub(crate) async fn stop(&self, then: State) {
        let task = lock(&self.task).take();
        if let Some(task) = task {
            task.stop.cancel();
            // Ends by itself: every wait of the task listens to `stop`, and goodbyes have limits.
            let _ = task.handle.await;
        }
        self.core.set(then);
    }

    /// Lets go of it and begins to reach it again.
    pub(crate) async fn restart(&self) {
        self.stop(State::Pending).await;
        self.start();
    }

    /// Waits until it is reached or known not to be.
    pub(crate) async fn settled(&self) {
        let mut state = self.core.state.subscribe();
        // The sender is in `self.core`, so the wait cannot fail.
        let _ = state.wait_for(|state| !matches!(state, State::Pending)).await;
    }
}

/// What is behind these locks stays whole even if a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
