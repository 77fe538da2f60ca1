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
    /// How many lines were taken up.
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
}

impl Ends {
    /// Hears a line.
    pub(super) fn hear(&mut self, line: &str) -> Verdict {
        let Ok(head) = Head::read(line) else { return self.take() };
        let identity = Identity::of(&head, line);
        if let Some(uuid) = identity.uuid() {
            self.heard.newest = Some(uuid.into());
        }
        match identity {
            // The session itself knows the prompts it has run, and says so if it is asked to.
            Identity::Prompt(_) if self.heard.side == Side::Agent => self.take(),
            Identity::Message(_) | Identity::Prompt(_) => match self.heard.seen.is_new(line) {
                true => self.take(),
                false => Verdict::Pass,
            },
            Identity::Question(id) => match self.heard.seen.is_new(line) {
                true => self.take(),
                false => {
                    self.said.repeat_answer(&id);
                    Verdict::Pass
                }
            },
            Identity::Answer(id) => {
                self.said.answered(&id);
                self.take()
            }
            Identity::Opening(_) | Identity::Withdrawal(_) => self.take(),
            // A sign of life is nothing new.
            Identity::None if head.kind == "keep_alive" => Verdict::Take,
            Identity::None => self.take(),
        }
    }

    fn take(&mut self) -> Verdict {
        self.heard.count += 1;
        Verdict::Take
    }
}
