//! What becomes of a line that is heard: taken up, or known already.

use bowline_protocol::{Head, RequestId};

use super::{Ends, Side};
use crate::{identity::Identity, memory::Reply, seen::Seen};

/// What was heard.
#[derive(Debug)]
pub(super) struct Hearing {
    side: Side,
    /// The number of the connection there is.
    connection: u64,
    seen: Seen,
    newest: Option<Box<str>>,
    /// How many lines were taken up that moved the session on: prompts, answers, messages.
    count: u64,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Take,
    /// It was heard before.
    Pass,
}

impl Hearing {
    pub(super) fn new(side: Side) -> Self {
        Self { side, connection: 0, seen: Seen::default(), newest: None, count: 0 }
    }

    /// The name of the newest message.
    pub(super) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// There is another connection.
    pub(super) fn connected(&mut self) {
        self.connection += 1;
    }

    /// Remembers a line, and counts it if it was not heard before.
    fn is_new(&mut self, line: &str) -> bool {
        let is_new = self.note(line).is_none();
        self.count += u64::from(is_new);
        is_new
    }

    /// Remembers a line; on which connection it was heard before, if it was.
    fn note(&mut self, line: &str) -> Option<u64> {
        self.seen.note(line, self.connection)
    }
}

impl Ends {
    /// Hears a line.
    pub(super) fn hear(&mut self, line: &str) -> Verdict {
        let Ok(head) = Head::read(line) else { return Verdict::Take };
        let identity = Identity::of(&head, line);
        if let Some(uuid) = identity.uuid() {
            self.heard.newest = Some(uuid.into());
        }
        match identity {
            // The session itself knows the prompts it has run, and says so if it is asked to.
            Identity::Prompt(_) if self.heard.side == Side::Agent => {
                self.heard.is_new(line);
                Verdict::Take
            }
            Identity::Message(_) | Identity::Prompt(_) => match self.heard.is_new(line) {
                true => Verdict::Take,
                false => Verdict::Pass,
            },
            Identity::Question(id) => {
                let before = self.heard.note(line);
                if before.is_some_and(|connection| self.is_repetition(&id, connection)) {
                    self.said.repeat_answer(&id);
                    return Verdict::Pass;
                }
                self.said.asked(id);
                Verdict::Take
            }
            Identity::Answer(id) => {
                self.said.answered(&id);
                self.heard.is_new(line);
                Verdict::Take
            }
            Identity::Withdrawal(id) => {
                self.said.withdrawn(&id);
                Verdict::Take
            }
            Identity::Opening(_) | Identity::None => Verdict::Take,
        }
    }

    /// Whether a question that was heard before, on an earlier connection or on this one, is still
    /// the same. A host that has our answer does not ask again; one that was started anew, and
    /// counts its questions from the beginning, does.
    fn is_repetition(&self, id: &RequestId, connection: u64) -> bool {
        self.heard.side == Side::Host
            || connection == self.heard.connection
            || self.said.reply_to(id) != Reply::Heard
    }
}
