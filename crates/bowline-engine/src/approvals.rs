//! Registry of requests to the host that wait for a person: permissions and elicitations.

use std::{collections::BTreeMap, sync::Arc};

use bowline_protocol::{CanUseTool, Elicitation, SessionState};
use parking_lot::Mutex;

use crate::state::TurnControl;

/// Questions that the host was asked and has not answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenQuestions {
    /// May this tool run?
    pub permissions: Vec<CanUseTool>,
    /// What MCP servers want to know.
    pub elicitations: Vec<Elicitation>,
}

/// A question for a person.
#[derive(Debug)]
pub(crate) enum Question {
    Permission(Box<CanUseTool>),
    Elicitation(Box<Elicitation>),
}

/// The requests of a session that wait for a person.
pub(crate) struct PendingApprovals {
    board: Mutex<Board>,
    turn: Arc<TurnControl>,
}

#[derive(Debug, Default)]
struct Board {
    asked: u64,
    open: BTreeMap<u64, Question>,
}

impl PendingApprovals {
    /// All of them, oldest first.
    pub(crate) fn open(&self) -> OpenQuestions {
        let mut questions = OpenQuestions::default();
        for question in self.board.lock().open.values() {
            match question {
                Question::Permission(question) => {
                    questions.permissions.push((**question).clone());
                }
                Question::Elicitation(question) => {
                    questions.elicitations.push((**question).clone());
                }
            }
        }
        questions
    }
}

impl PendingApprovals {
    pub(crate) fn new(turn: &Arc<TurnControl>) -> Self {
        Self { board: Mutex::default(), turn: Arc::clone(turn) }
    }

    /// Registers a request, which is pending while the guard lives.
    pub(crate) async fn opened(&self, question: Question) -> PendingApproval<'_> {
        let number = {
            let mut board = self.board.lock();
            board.asked += 1;
            let number = board.asked;
            board.open.insert(number, question);
            number
        };
        let pending = PendingApproval { approvals: self, number };
        self.turn.set_state(SessionState::RequiresAction).await;
        pending
    }
}

/// A request that is pending.
pub(crate) struct PendingApproval<'a> {
    approvals: &'a PendingApprovals,
    number: u64,
}

impl Drop for PendingApproval<'_> {
    fn drop(&mut self) {
        let is_last = {
            let mut board = self.approvals.board.lock();
            board.open.remove(&self.number);
            board.open.is_empty()
        };
        if is_last {
            let turn = &self.approvals.turn;
            let state = match turn.is_busy() {
                true => SessionState::Running,
                false => SessionState::Idle,
            };
            turn.enqueue_state(state);
        }
    }
}
