//! Turn control: state of the session, cancellation of the turn, and wake-ups of the loop.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bowline_protocol::{SessionState, SessionStateChangedMessage};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{config::SessionStateEvents, sink::MessageSink};

/// Controls the turn that runs, and the session's loop.
pub(crate) struct TurnControl {
    sink: Arc<MessageSink>,
    events: SessionStateEvents,
    state: Mutex<SessionState>,
    /// Cancels the turn that runs.
    turn: Mutex<Option<CancellationToken>>,
    /// Fires when the host has the response to its last interrupt.
    interrupt_acknowledged: Mutex<Option<CancellationToken>>,
    /// Whether the turn that runs is cancelled for an urgent prompt.
    preempted: AtomicBool,
    /// Whether the host has closed its input.
    input_ended: AtomicBool,
    /// The number of results so far.
    results: AtomicU64,
    /// The error that ends the session.
    fault: OnceLock<String>,
    /// Fires once the hooks of the session's start have run.
    pub(crate) started: CancellationToken,
    /// Wakes the session's loop.
    pub(crate) wake: Notify,
}

impl TurnControl {
    pub(crate) fn new(sink: &Arc<MessageSink>, events: SessionStateEvents) -> Self {
        Self {
            sink: Arc::clone(sink),
            events,
            state: Mutex::new(SessionState::Idle),
            turn: Mutex::default(),
            interrupt_acknowledged: Mutex::default(),
            preempted: AtomicBool::new(false),
            input_ended: AtomicBool::new(false),
            results: AtomicU64::new(0),
            fault: OnceLock::new(),
            started: CancellationToken::new(),
            wake: Notify::new(),
        }
    }

    /// A turn begins, which `cancel` stops.
    pub(crate) fn begin(&self, cancel: CancellationToken) {
        self.preempted.store(false, Ordering::Relaxed);
        *self.turn.lock() = Some(cancel);
    }

    /// The turn has ended.
    pub(crate) fn end(&self) {
        *self.turn.lock() = None;
    }

    /// Whether a turn runs.
    pub(crate) fn is_busy(&self) -> bool {
        self.turn.lock().is_some()
    }

    /// Cancels the turn that runs, if one does.
    pub(crate) fn interrupt(&self) -> bool {
        let turn = self.turn.lock();
        if let Some(cancel) = &*turn {
            cancel.cancel();
        }
        turn.is_some()
    }

    /// Cancels the turn that runs. Its result is sent once the guard is dropped.
    pub(crate) fn interrupt_until_acknowledged(&self) -> DropGuard {
        let acknowledged = CancellationToken::new();
        *self.interrupt_acknowledged.lock() = Some(acknowledged.clone());
        self.interrupt();
        acknowledged.drop_guard()
    }

    /// Waits until the host has the response to its interrupt, if one stopped the turn.
    pub(crate) async fn interrupt_acknowledged(&self) {
        let acknowledged = self.interrupt_acknowledged.lock().clone();
        if let Some(acknowledged) = acknowledged {
            acknowledged.cancelled().await;
        }
    }

    /// Cancels the turn that runs for an urgent prompt.
    pub(crate) fn preempt(&self) {
        self.preempted.store(true, Ordering::Relaxed);
        self.interrupt();
    }

    /// Whether the turn that runs is cancelled for a prompt, and not by an interrupt.
    pub(crate) fn is_preempted(&self) -> bool {
        self.preempted.load(Ordering::Relaxed)
    }

    /// Ends the session with an error. The first reason is kept.
    pub(crate) fn fail(&self, why: String) {
        self.fault.set(why).ok();
        self.wake.notify_one();
    }

    /// The error that ends the session.
    pub(crate) fn fault(&self) -> Option<&String> {
        self.fault.get()
    }

    pub(crate) fn end_input(&self) {
        self.input_ended.store(true, Ordering::Release);
    }

    pub(crate) fn input_ended(&self) -> bool {
        self.input_ended.load(Ordering::Acquire)
    }

    /// Counts one more result; returns its index.
    pub(crate) fn count_result(&self) -> u64 {
        self.results.fetch_add(1, Ordering::Relaxed)
    }

    /// Continues the count of another session.
    pub(crate) fn continue_count(&self, other: &Self) {
        self.results.store(other.results.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> SessionState {
        self.state.lock().clone()
    }

    /// Sets the state and notifies the host.
    pub(crate) async fn set_state(&self, state: SessionState) {
        if let Some(frame) = self.change_state(state) {
            self.sink.send(frame).await;
        }
    }

    /// The same from synchronous code.
    pub(crate) fn enqueue_state(&self, state: SessionState) {
        if let Some(frame) = self.change_state(state) {
            self.sink.enqueue(frame);
        }
    }

    /// Changes the state; returns the message about it, if the host wants one.
    fn change_state(&self, state: SessionState) -> Option<SessionStateChangedMessage> {
        {
            let mut current = self.state.lock();
            if *current == state {
                return None;
            }
            *current = state.clone();
        }
        let sdk_host_only = match self.events {
            SessionStateEvents::Off => return None,
            SessionStateEvents::HostOnly => Some(true),
            SessionStateEvents::On => None,
        };
        let unsent = SessionStateChangedMessage::default();
        Some(SessionStateChangedMessage { state, sdk_host_only, ..unsent })
    }
}
