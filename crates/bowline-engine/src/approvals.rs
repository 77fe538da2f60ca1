//! Count of requests to the host that wait for a person: permissions and elicitations.
//!
//! It decides the session's state only. The requests themselves are in one registry, that of the
//! transport, which also lists them for a host that connects again.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bowline_protocol::SessionState;

use crate::state::TurnControl;

/// How many requests of a session wait for a person.
pub(crate) struct PendingApprovals {
    count: AtomicUsize,
    turn: Arc<TurnControl>,
}

impl PendingApprovals {
    pub(crate) fn new(turn: &Arc<TurnControl>) -> Self {
        Self { count: AtomicUsize::new(0), turn: Arc::clone(turn) }
    }

    /// Counts a request as pending until the guard is dropped, also by cancellation.
    pub(crate) async fn opened(&self) -> PendingApproval<'_> {
        self.count.fetch_add(1, Ordering::AcqRel);
        let pending = PendingApproval { approvals: self };
        self.turn.set_state(SessionState::RequiresAction).await;
        pending
    }
}

/// A request that is pending.
pub(crate) struct PendingApproval<'a> {
    approvals: &'a PendingApprovals,
}

impl Drop for PendingApproval<'_> {
    fn drop(&mut self) {
        let PendingApprovals { count, turn } = self.approvals;
        if count.fetch_sub(1, Ordering::AcqRel) == 1 {
            let state = match turn.is_busy() {
                true => SessionState::Running,
                false => SessionState::Idle,
            };
            turn.enqueue_state(state);
        }
    }
}
