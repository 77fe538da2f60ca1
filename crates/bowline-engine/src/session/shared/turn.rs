//! Whether the session works, and what stops it.

use std::sync::atomic::Ordering;

use bowline_protocol::{SessionState, SessionStateChangedMessage};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Shared, lock};
use crate::config::SessionStateEvents;

impl Shared {
    /// Notes how to stop the turn that runs now; `None` when none does.
    pub(crate) fn set_turn(&self, cancel: Option<CancellationToken>) {
        *lock(&self.turn) = cancel;
    }

    /// Stops the turn that runs, if one does.
    pub(crate) fn interrupt_turn(&self) -> bool {
        let turn = lock(&self.turn);
        if let Some(cancel) = &*turn {
            cancel.cancel();
        }
        turn.is_some()
    }

    /// Stops the turn that runs. What it came to is shown once the guard is gone.
    pub(crate) fn interrupt_until_answered(&self) -> DropGuard {
        let answered = CancellationToken::new();
        *lock(&self.interrupt_answered) = Some(answered.clone());
        self.interrupt_turn();
        answered.drop_guard()
    }

    /// Waits until the host has the answer to its interrupt, if that is what stopped the turn.
    pub(crate) async fn interrupt_answered(&self) {
        let answered = lock(&self.interrupt_answered).clone();
        if let Some(answered) = answered {
            answered.cancelled().await;
        }
    }

    /// Ends the session, which cannot go on. The first reason counts.
    pub(crate) fn give_up(&self, why: String) {
        self.fault.set(why).ok();
        self.wake.notify_one();
    }

    /// Stops the turn that runs for a prompt that cannot wait.
    pub(crate) fn make_way(&self) {
        self.makes_way.store(true, Ordering::Relaxed);
        self.interrupt_turn();
    }

    /// Whether the turn that runs is stopped for a prompt, and not because somebody wants it to end.
    pub(crate) fn makes_way(&self) -> bool {
        self.makes_way.load(Ordering::Relaxed)
    }

    /// Whether a turn runs.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.turn).is_some()
    }

    pub(crate) fn end_input(&self) {
        self.input_ended.store(true, Ordering::Release);
    }

    pub(crate) fn input_ended(&self) -> bool {
        self.input_ended.load(Ordering::Acquire)
    }

    /// Counts one more result; which one it is.
    pub(crate) fn count_result(&self) -> u64 {
        self.results.fetch_add(1, Ordering::Relaxed)
    }

    /// The session begins or ends its work.
    pub(crate) async fn set_state(&self, state: SessionState) {
        if let Some(frame) = self.change_state(state) {
            self.sink.send(frame).await;
        }
    }

    /// The same, from where nobody can wait.
    pub(crate) fn set_state_in_passing(&self, state: SessionState) {
        if let Some(frame) = self.change_state(state) {
            self.sink.enqueue(frame);
        }
    }

    /// Changes the state; returns what the host is to hear of it.
    fn change_state(&self, state: SessionState) -> Option<SessionStateChangedMessage> {
        {
            let mut live = self.live();
            if live.state == state {
                return None;
            }
            live.state = state.clone();
        }
        let sdk_host_only = match self.config.session_state_events {
            SessionStateEvents::Off => return None,
            SessionStateEvents::HostOnly => Some(true),
            SessionStateEvents::On => None,
        };
        let unsent = SessionStateChangedMessage::default();
        Some(SessionStateChangedMessage { state, sdk_host_only, ..unsent })
    }
}
