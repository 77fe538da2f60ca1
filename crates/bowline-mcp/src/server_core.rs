//! State of a server, shared by its tools and its task.

use std::{
    ops::Deref,
    sync::{Arc, atomic::Ordering},
};

use bowline_protocol::McpServerStatus;
use tokio::sync::watch;

use crate::{catalog::Live, endpoint::Endpoint, host::McpObserver, login::Wanted};

/// The state of a server.
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

/// A server: its endpoint and its state.
pub(crate) struct Core {
    endpoint: Endpoint,
    state: watch::Sender<State>,
}

/// Tools and prompts mostly need what is configured.
impl Deref for Core {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Core {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, state: watch::Sender::new(State::Pending) }
    }

    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(crate) fn live(&self) -> Option<Arc<Live>> {
        self.state.borrow().live().cloned()
    }

    /// Waits until it is connected or known not to be.
    pub(crate) async fn settled(&self) {
        let mut state = self.state.subscribe();
        // The sender is in `self`, so the wait cannot fail.
        let _ = state.wait_for(|state| !matches!(state, State::Pending)).await;
    }

    /// Moves to another state and notifies the observer of the changes.
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
            self.session.version.fetch_add(1, Ordering::Relaxed);
            self.notify(|observer| observer.tools_changed(&self.name));
        }
        if had.1 + has.1 > 0 && !same(|a, b| a.catalog.prompts == b.catalog.prompts) {
            self.notify(|observer| observer.prompts_changed(&self.name));
        }
        let resources_same = same(|a, b| {
            a.catalog.resources == b.catalog.resources
                && a.hello.capabilities.resources() == b.hello.capabilities.resources()
        });
        if had.2 + has.2 > 0 && !resources_same {
            self.notify(|observer| observer.resources_changed(&self.name));
        }
        if old.status() != state.status() {
            // The tools for resources come and go with the servers that have some.
            self.session.version.fetch_add(1, Ordering::Relaxed);
            self.notify(|observer| observer.status_changed(&self.name, state.status()));
        }
    }

    fn notify(&self, what: impl FnOnce(&dyn McpObserver)) {
        if let Some(observer) = &self.session.observer {
            what(&**observer);
        }
    }
}
