//! Calls of our own tools that this program may stop.

use std::collections::HashMap;

use bowline_protocol::ToolUseId;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The calls in flight.
#[derive(Debug, Default)]
pub(super) struct StoppableCalls(Mutex<HashMap<ToolUseId, oneshot::Sender<String>>>);

impl StoppableCalls {
    /// Registers a call, until the returned guard is dropped.
    pub(super) fn begin(&self, call: ToolUseId) -> StoppableCall<'_> {
        let (stop, stopped) = oneshot::channel();
        self.0.lock().insert(call.clone(), stop);
        StoppableCall { calls: self, call, stopped }
    }

    /// Stops a call. Returns false if it has ended already.
    pub(super) fn stop(&self, call: &ToolUseId, why: String) -> bool {
        let stop = self.0.lock().remove(call);
        stop.is_some_and(|stop| stop.send(why).is_ok())
    }
}

/// A call in flight.
pub(super) struct StoppableCall<'a> {
    calls: &'a StoppableCalls,
    call: ToolUseId,
    stopped: oneshot::Receiver<String>,
}

impl StoppableCall<'_> {
    /// The outcome of the call: that of its work, or the reason why it was stopped.
    pub(super) async fn outcome<T>(mut self, work: impl Future<Output = T>) -> Result<T, String> {
        let done = tokio::select! {
            biased;
            Ok(why) = &mut self.stopped => return Err(why),
            done = work => done,
        };
        // `stop` has returned true, so the call must not succeed.
        match self.stopped.try_recv() {
            Ok(why) => Err(why),
            Err(_) => Ok(done),
        }
    }
}

impl Drop for StoppableCall<'_> {
    fn drop(&mut self) {
        self.calls.0.lock().remove(&self.call);
    }
}
