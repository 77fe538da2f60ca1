//! A login in progress: from its page to the reconnected server.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::{sync::watch, time::timeout};
use tokio_util::task::AbortOnDropHandle;

use super::{Listener, Login, LoginError, LoginPage};

/// How long the user may take.
const USER_TIME: Duration = Duration::from_secs(600);

/// The text of the browser's last page.
const LOGGED_IN: &str = "You are logged in. This window can be closed.";

/// A login in progress. Dropping it ends the wait for the browser.
pub(crate) struct Ongoing {
    login: Arc<Login>,
    port: Option<u16>,
    outcome: watch::Sender<Option<Result<(), LoginError>>>,
    waiting: Option<AbortOnDropHandle<()>>,
}

impl Ongoing {
    /// Waits for the browser where there is a port for it to come back to.
    /// `reconnect` connects the server again after the login.
    pub(crate) fn new(
        login: Login,
        listener: Option<Listener>,
        reconnect: BoxFuture<'static, ()>,
    ) -> Self {
        let login = Arc::new(login);
        let (outcome, port) =
            (watch::Sender::new(None), listener.as_ref().map(|listener| listener.port));
        let waiting = listener.map(|listener| {
            let wait = wait(listener, Arc::clone(&login), reconnect, outcome.clone());
            AbortOnDropHandle::new(tokio::spawn(wait))
        });
        Self { login, port, outcome, waiting }
    }

    pub(crate) fn page(&self) -> LoginPage {
        let Login { url, state, .. } = &*self.login;
        LoginPage { url: url.clone(), state: state.clone(), callback_port: self.port }
    }

    pub(crate) fn login(&self) -> Arc<Login> {
        Arc::clone(&self.login)
    }

    /// The outcome, once there is one.
    pub(crate) fn outcome(&self) -> watch::Receiver<Option<Result<(), LoginError>>> {
        self.outcome.subscribe()
    }

    /// Sets the outcome.
    pub(crate) fn settle(&self, outcome: Result<(), LoginError>) {
        self.outcome.send_replace(Some(outcome));
    }

    /// Ends the wait and gives the port back.
    pub(crate) async fn stop(mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.abort();
            // Aborted on purpose; what it was waiting for is gone with it.
            let _ = waiting.await;
        }
        if self.outcome.borrow().is_none() {
            self.settle(Err(LoginError::Replaced));
        }
    }
}

/// Finishes the login with the address that the browser comes back to, and reconnects the server.
async fn wait(
    mut listener: Listener,
    login: Arc<Login>,
    reconnect: BoxFuture<'static, ()>,
    outcome: watch::Sender<Option<Result<(), LoginError>>>,
) {
    let finished = timeout(USER_TIME, come_back(&mut listener, &login)).await;
    let finished = finished.unwrap_or(Err(LoginError::TimedOut));
    if finished.is_ok() {
        reconnect.await;
    }
    outcome.send_replace(Some(finished));
}

/// Waits until the browser comes back from this login, and shows the user the outcome.
async fn come_back(listener: &mut Listener, login: &Login) -> Result<(), LoginError> {
    loop {
        let visit = listener.next().await;
        if let Err(error) = login.check(&visit.url) {
            visit.reply("400 Bad Request", &error.to_string()).await;
            continue;
        }
        let finished = login.finish(&visit.url).await;
        match &finished {
            Ok(()) => visit.reply("200 OK", LOGGED_IN).await,
            Err(error) => visit.reply("400 Bad Request", &error.to_string()).await,
        }
        return finished;
    }
}
