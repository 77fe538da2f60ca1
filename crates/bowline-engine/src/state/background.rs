//! Background work of a session, until the session ends.

use parking_lot::Mutex;
use tokio::task::JoinSet;

/// The background work of a session.
#[derive(Debug, Default)]
pub(crate) struct BackgroundWork(Mutex<JoinSet<()>>);

impl BackgroundWork {
    /// Spawns work in the background.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut running = self.0.lock();
        while running.try_join_next().is_some() {}
        running.spawn(work);
    }

    /// Takes all of it, to be joined when the session ends.
    pub(crate) fn take(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.0.lock())
    }
}
