//! One server of a session and the task that supervises it.

mod life;

use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    connection::{Hello, greet},
    endpoint::Endpoint,
    login::Ongoing,
    server_core::{Core, State},
};

/// A server and its task.
pub(crate) struct Server {
    pub(crate) core: Arc<Core>,
    /// Whether `set_servers` may remove it.
    pub(crate) replaceable: bool,
    task: Mutex<Option<Task>>,
    /// The outcome of an `initialize` that was sent ahead of time.
    greeting: Mutex<Greeting>,
    /// The login that waits for its user, or the last one.
    pub(crate) login: tokio::sync::Mutex<Option<Ongoing>>,
}

/// The outcome of an `initialize` that was sent ahead of time.
#[derive(Default)]
enum Greeting {
    #[default]
    NotYet,
    Succeeded(Box<Hello>),
    Failed,
}

struct Task {
    stop: CancellationToken,
    handle: AbortOnDropHandle<()>,
}

impl Server {
    pub(crate) fn new(endpoint: Endpoint, replaceable: bool) -> Self {
        Self {
            core: Arc::new(Core::new(endpoint)),
            replaceable,
            task: Mutex::default(),
            greeting: Mutex::default(),
            login: tokio::sync::Mutex::default(),
        }
    }

    /// Sends `initialize` to a server inside the host, ahead of [`start`](Self::start).
    pub(crate) async fn greet(&self) {
        if self.task.lock().is_some() {
            return;
        }
        let (core, session) = (&self.core, &self.core.session);
        let Some(servers) = session.sdk.as_ref().filter(|_| core.is_sdk()) else { return };
        let limits = core.call_limits(&CancellationToken::new());
        if servers.in_process(&core.name, limits).is_some() {
            return;
        }
        let hello = greet(servers, &core.name, &session.options.client);
        let response = tokio::time::timeout(session.options.connect_timeout, hello).await;
        *self.greeting.lock() = match response {
            Ok(Ok(hello)) => Greeting::Succeeded(Box::new(hello)),
            _ => Greeting::Failed,
        };
    }

    /// Starts its task, unless it runs already.
    pub(crate) fn start(&self) {
        let mut task = self.task.lock();
        if task.is_none() && !matches!(self.core.state(), State::Disabled) {
            let stop = CancellationToken::new();
            let greeting = std::mem::take(&mut *self.greeting.lock());
            let life = life::live(Arc::clone(&self.core), greeting, stop.clone());
            *task = Some(Task { stop, handle: AbortOnDropHandle::new(tokio::spawn(life)) });
        }
    }

    /// Disconnects it and waits until it is gone.
    pub(crate) async fn stop(&self, then: State) {
        let task = self.task.lock().take();
        if let Some(task) = task {
            task.stop.cancel();
            // Ends by itself: every wait of the task ends with `stop`, and closing has a timeout.
            let _ = task.handle.await;
        }
        self.core.set(then);
    }

    /// Disconnects it and starts its task again.
    pub(crate) async fn restart(&self) {
        self.stop(State::Pending).await;
        self.start();
    }

    /// Waits until it is connected or known not to be.
    pub(crate) async fn settled(&self) {
        self.core.settled().await;
    }
}
