//! A session that only waits until its host claims one.

use std::sync::{Arc, Mutex, PoisonError};

use bowline_engine::{BoxFuture, Host, Session, SessionConfig, SessionEnd};
use bowline_protocol::{ClaimSession, SessionId};

/// The work of a session: it lives while this is polled.
pub(crate) type Work = BoxFuture<'static, SessionEnd>;

/// Where the sessions come from that hosts claim.
pub trait Claims: Send + Sync + 'static {
    /// How the session is set up that takes the place of the one that waits, and its name; or why
    /// there can be none, in words for the host.
    fn open(&self, claim: &ClaimSession, waiting: &SessionId) -> Result<SessionConfig, String>;
}

/// The session behind a door, which another one may take the place of.
#[derive(Clone)]
pub struct Spare {
    host: Arc<dyn Host>,
    claims: Arc<dyn Claims>,
    session: Arc<Mutex<Session>>,
}

impl Spare {
    /// A session that waits for `host` to claim one.
    pub fn new(waiting: Session, host: Arc<dyn Host>, claims: impl Claims) -> Self {
        Self { host, claims: Arc::new(claims), session: Arc::new(Mutex::new(waiting)) }
    }

    /// The session there is now: the one that waits, or the one that was claimed.
    pub fn session(&self) -> Session {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets up what was claimed. Nothing happens in it before its work is polled.
    pub(crate) fn open(&self, claim: &ClaimSession) -> Result<(Session, Work), String> {
        let config = self.claims.open(claim, &self.session().id())?;
        let started = Session::start(config, Arc::clone(&self.host));
        let (session, work) = started.map_err(|error| format!("claim_failed: {error}"))?;
        Ok((session, Box::pin(work)))
    }

    /// Puts the session that was claimed into its place.
    pub(crate) fn replace(&self, claimed: Session) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = claimed;
    }
}

impl std::fmt::Debug for Spare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spare").field("session", &self.session()).finish_non_exhaustive()
    }
}
