//! What the host was asked and has not answered, as it went over the wire.
//!
//! A host that connects again hears of it in the answer to `initialize`, and answers by the names
//! that the questions already have.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::{PendingRequest, Success};

/// The questions that wait for a person.
#[derive(Debug, Default)]
pub(crate) struct Unanswered(Mutex<Board>);

#[derive(Debug, Default)]
struct Board {
    asked: u64,
    /// The oldest first.
    open: BTreeMap<u64, (Kind, PendingRequest)>,
}

/// What sort of question waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Permission,
    Elicitation,
}

impl Unanswered {
    /// A place for a question that waits while the place is kept.
    pub(crate) fn place(&self, kind: Kind) -> Place<'_> {
        let mut board = self.board();
        board.asked += 1;
        Place { unanswered: self, number: board.asked, kind }
    }

    /// Adds all of them to the answer to `initialize`.
    pub(crate) fn list(&self, answer: &mut Success) {
        let board = self.board();
        let of = |wanted: Kind| {
            let open = board.open.values().filter(|(kind, _)| *kind == wanted);
            open.map(|(_, request)| request.clone()).collect::<Vec<_>>()
        };
        answer.pending_permission_requests = Some(of(Kind::Permission));
        // Nothing of this sort is ever asked.
        answer.pending_user_dialog_requests = Some(Vec::new());
        answer.pending_elicitation_requests =
            Some(of(Kind::Elicitation)).filter(|open| !open.is_empty());
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a question that waits.
pub(crate) struct Place<'a> {
    unanswered: &'a Unanswered,
    number: u64,
    kind: Kind,
}

impl Place<'_> {
    /// Keeps the question as it is asked.
    pub(crate) fn fill(&self, line: &str) {
        if let Ok(request) = PendingRequest::from_text(line.trim_end().to_owned()) {
            self.unanswered.board().open.insert(self.number, (self.kind, request));
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.unanswered.board().open.remove(&self.number);
    }
}
