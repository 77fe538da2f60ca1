//! Questions that wait for a person, for a host that connects while they do.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bowline_protocol::{CanUseTool, Elicitation, SessionState};

use super::Shared;

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

/// The questions of a session that wait.
#[derive(Debug, Default)]
pub(crate) struct QuestionBoard(Mutex<Board>);

#[derive(Debug, Default)]
struct Board {
    asked: u64,
    open: BTreeMap<u64, Question>,
}

impl QuestionBoard {
    /// All of them, oldest first.
    pub(crate) fn open(&self) -> OpenQuestions {
        let mut questions = OpenQuestions::default();
        for question in self.board().open.values() {
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

    fn board(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// A question waits for a person while the guard lives, however its waiting ends.
    pub(crate) async fn question_opened(&self, question: Question) -> Waiting<'_> {
        let number = {
            let mut board = self.questions.board();
            board.asked += 1;
            let number = board.asked;
            board.open.insert(number, question);
            number
        };
        let waiting = Waiting { session: self, number };
        self.set_state(SessionState::RequiresAction).await;
        waiting
    }
}

/// A question that waits.
pub(crate) struct Waiting<'a> {
    session: &'a Shared,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let is_last = {
            let mut board = self.session.questions.board();
            board.open.remove(&self.number);
            board.open.is_empty()
        };
        if is_last {
            let state = match self.session.is_busy() {
                true => SessionState::Running,
                false => SessionState::Idle,
            };
            self.session.set_state_in_passing(state);
        }
    }
}
