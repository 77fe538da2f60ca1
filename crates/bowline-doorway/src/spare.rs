//! A spare session, which idles until its host claims one.

use std::sync::Arc;

use bowline_engine::{BoxFuture, Host, Session, SessionConfig, SessionEnd};
use bowline_protocol::{ClaimSession, SessionId};
use parking_lot::Mutex;

/// The work of a session, which makes progress while it is polled.
pub(crate) type Work = BoxFuture<'static, SessionEnd>;

/// Source of the sessions that hosts claim.
pub trait Claims: Send + Sync + 'static {
    /// The configuration of the claimed session, which replaces the spare one; or an error for the
    /// host.
    fn open(&self, claim: &ClaimSession, waiting: &SessionId) -> Result<SessionConfig, String>;
}

/// The session of a door, which a claimed one may replace.
#[derive(Clone)]
pub struct Spare {
    host: Arc<dyn Host>,
    claims: Arc<dyn Claims>,
    session: Arc<Mutex<Session>>,
}

impl Spare {
    /// A spare session, until `host` claims one.
    pub fn new(waiting: Session, host: Arc<dyn Host>, claims: impl Claims) -> Self {
        Self { host, claims: Arc::new(claims), session: Arc::new(Mutex::new(waiting)) }
    }

    /// The current session: the spare one, or the one that was claimed.
    pub fn session(&self) -> Session {
        self.session.lock().clone()
    }

    /// Sets up a claimed session. Nothing happens in it before its work is polled.
    pub(crate) fn open(&self, claim: &ClaimSession) -> Result<(Session, Work), String> {
        let config = self.claims.open(claim, &self.session().id())?;
        let started = Session::start(config, Arc::clone(&self.host));
        let (session, work) = started.map_err(|error| format!("claim_failed: {error}"))?;
        Ok((session, Box::pin(work)))
    }

    /// Replaces the current session.
    pub(crate) fn replace(&self, claimed: Session) {
        *self.session.lock() = claimed;
    }
}

impl std::fmt::Debug for Spare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spare").field("session", &self.session()).finish_non_exhaustive()
    }
}
