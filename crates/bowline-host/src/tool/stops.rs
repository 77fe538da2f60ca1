//! Calls of our own tools that this program itself may stop.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::ToolUseId;
use tokio::sync::oneshot;

/// The calls that run, and how each is told to stop.
#[derive(Debug, Default)]
pub(super) struct Stops(Mutex<HashMap<ToolUseId, oneshot::Sender<String>>>);

impl Stops {
    /// Notes a call, until what is returned is dropped.
    pub(super) fn begin(&self, call: ToolUseId) -> Stoppable<'_> {
        let (stop, told) = oneshot::channel();
        self.lock().insert(call.clone(), stop);
        Stoppable { stops: self, call, told }
    }

    /// Stops a call, and says whether it did: one that is over cannot be stopped.
    pub(super) fn stop(&self, call: &ToolUseId, why: String) -> bool {
        let stop = self.lock().remove(call);
        stop.is_some_and(|stop| stop.send(why).is_ok())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ToolUseId, oneshot::Sender<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that runs.
pub(super) struct Stoppable<'a> {
    stops: &'a Stops,
    call: ToolUseId,
    told: oneshot::Receiver<String>,
}

impl Stoppable<'_> {
    /// What comes of the call: what its work does, or else why it was stopped.
    pub(super) async fn outcome<T>(mut self, work: impl Future<Output = T>) -> Result<T, String> {
        let done = tokio::select! {
            biased;
            Ok(why) = &mut self.told => return Err(why),
            done = work => done,
        };
        // Whoever was told that it is stopped was told the truth.
        match self.told.try_recv() {
            Ok(why) => Err(why),
            Err(_) => Ok(done),
        }
    }
}

impl Drop for Stoppable<'_> {
    fn drop(&mut self) {
        self.stops.lock().remove(&self.call);
    }
}
