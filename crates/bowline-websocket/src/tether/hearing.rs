//! What becomes of a line that is heard: taken up, or known already.

use bowline_protocol::Head;

use super::{Ends, Side};
use crate::{identity::Identity, seen::Seen};

/// What was heard.
#[derive(Debug)]
pub(super) struct Hearing {
    side: Side,
    seen: Seen,
    newest: Option<Box<str>>,
    /// How many lines were taken up that nobody can have said before.
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
        Self { side, seen: Seen::default(), newest: None, count: 0 }
    }

    /// The name of the newest message.
    pub(super) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Remembers a line, and counts it if it was not heard before.
    fn is_new(&mut self, line: &str) -> bool {
        let is_new = self.seen.is_new(line);
        self.count += u64::from(is_new);
        is_new
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
            Identity::Question(id) => match self.heard.is_new(line) {
                true => Verdict::Take,
                false => {
                    self.said.repeat_answer(&id);
                    Verdict::Pass
                }
            },
            Identity::Answer(id) => {
                self.said.answered(&id);
                self.heard.is_new(line);
                Verdict::Take
            }
            Identity::Withdrawal(_) => {
                self.heard.is_new(line);
                Verdict::Take
            }
            // Whoever begins anew with every connection gets nowhere: that is not counted.
            Identity::Opening(_) | Identity::None => Verdict::Take,
        }
    }
}
