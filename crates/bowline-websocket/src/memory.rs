//! What was said lately, so that it can be said again.
//!
//! Lines are numbered as they are said. A line leaves the memory when there is no room for it any
//! more. Lines that the other end has are remembered like the others: a host that is started anew
//! may have forgotten them. A question that waits for its answer is kept beside the lines for as
//! long as it waits.

use std::collections::{HashMap, HashSet, VecDeque};

use bowline_protocol::{Head, RequestId};
use serde_json::json;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use uuid::Uuid;

use crate::identity::Identity;

/// Lines that are remembered.
pub(crate) const LINES: usize = 1000;

/// Bytes that are remembered: a thousand ordinary lines, and a few large ones.
pub(crate) const BYTES: usize = 32 * 1024 * 1024;

/// Bytes of the names of unanswered questions that are remembered: tens of thousands. A question
/// beyond that is worked on, and if the other end asks it again after a break, once more.
const OWED_BYTES: usize = 4 * 1024 * 1024;

/// What was said lately.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    lines: VecDeque<Said>,
    bytes: usize,
    /// How many lines were ever said: the number of the newest.
    said: u64,
    /// The other end has this line and all before it.
    acknowledged: u64,
    /// The last line that was ever acknowledged: a host that is started anew may have less.
    credited: u64,
    /// How many of those lines moved the session on.
    progress: u64,
    /// The last line that was written to the connection there is.
    written: u64,
    /// Questions without an answer, with their numbers.
    open: HashMap<RequestId, (u64, Utf8Bytes)>,
    /// Questions of the other end that we have not answered yet.
    owed: HashSet<RequestId>,
    owed_bytes: usize,
    /// What is written first, out of its order.
    again: VecDeque<Utf8Bytes>,
    /// The name of the newest line that has one.
    newest: Option<Box<str>>,
    /// Whose session it is, as the lines say.
    session: Option<Box<str>>,
}

#[derive(Debug)]
struct Said {
    identity: Identity,
    text: Utf8Bytes,
}

impl Said {
    fn answers(&self, id: &RequestId) -> bool {
        matches!(&self.identity, Identity::Answer(it) if it == id)
    }
}

/// What the other end has of our answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing: there is none yet.
    Owed,
    /// Perhaps nothing.
    Said,
    /// All of it, or it is so old that nobody can tell.
    Heard,
}

impl Memory {
    /// Remembers a line, and forgets the oldest if there are too many.
    pub(crate) fn push(&mut self, mut line: String) {
        let mut identity = Identity::None;
        if let Ok(head) = Head::read(&line) {
            identity = Identity::of(&head, &line);
            if let Some(session) = head.session_id.filter(|it| Some(&**it) != self.session()) {
                self.session = Some(session.into());
            }
        }
        line.push('\n');
        let text = Utf8Bytes::from(line);
        self.said += 1;
        match &identity {
            Identity::Message(uuid) | Identity::Prompt(uuid) => self.newest = Some(uuid.clone()),
            Identity::Question(id) | Identity::Opening(id) => {
                self.open.insert(id.clone(), (self.said, text.clone()));
            }
            Identity::Withdrawal(id) => {
                self.open.remove(id);
            }
            Identity::Answer(id) => self.settle(id),
            Identity::None => {}
        }
        self.bytes += text.len();
        self.lines.push_back(Said { identity, text });
        while self.lines.len() > LINES || (self.bytes > BYTES && self.lines.len() > 1) {
            self.forget_oldest();
        }
    }

    /// Whether one more line fits without forgetting any that the other end may not have.
    pub(crate) fn has_room(&self) -> bool {
        let full = self.lines.len() >= LINES || self.bytes >= BYTES;
        !full || self.before_first() < self.acknowledged
    }

    /// A new connection: from which line on the other end wants to hear. It names the last line
    /// it has; one that we do not know has it hear all we remember. If it names none, what it is
    /// not known to have is said again.
    pub(crate) fn resume(&mut self, last_heard: Option<&str>) {
        let named = last_heard.map(|uuid| self.number_of(uuid));
        self.written = match named {
            Some(Some(number)) => {
                // A host that was started anew may have less than the one before it had.
                self.acknowledged = number;
                number
            }
            Some(None) => self.before_first(),
            None => self.acknowledged.max(self.before_first()),
        };
        let mut questions: Vec<_> =
            self.open.values().filter(|(number, _)| *number <= self.written).cloned().collect();
        questions.sort_by_key(|(number, _)| *number);
        self.again = questions.into_iter().map(|(_, text)| text).collect();
        // Told as often as it takes: once a later line is acknowledged, this was heard, too.
        let lost = self.before_first().saturating_sub(self.acknowledged);
        if lost > 0 {
            self.again.push_front(self.notice(Some(lost)));
        } else if named == Some(None) && self.before_first() > 0 {
            // The line it names may be far behind what another host has acknowledged.
            self.again.push_front(self.notice(None));
        }
    }

    /// The next line to write.
    pub(crate) fn take_next(&mut self) -> Option<Utf8Bytes> {
        if let Some(text) = self.again.pop_front() {
            return Some(text);
        }
        let place = usize::try_from(self.written - self.before_first()).ok()?;
        let text = self.lines.get(place)?.text.clone();
        self.written += 1;
        Some(text)
    }

    /// The number of the last line that was written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The other end has this line and all before it.
    pub(crate) fn acknowledge(&mut self, number: u64) {
        let number = number.min(self.said);
        self.acknowledged = self.acknowledged.max(number);
        let before_first = self.before_first();
        for place in self.credited.max(before_first)..number {
            let line = usize::try_from(place - before_first).ok().and_then(|it| self.lines.get(it));
            self.progress += u64::from(line.is_some_and(|line| line.identity.moves_on()));
        }
        self.credited = self.credited.max(number);
    }

    /// Up to which line the other end has all.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// How many lines have arrived, ever, that moved the session on.
    pub(crate) fn progress(&self) -> u64 {
        self.progress
    }

    /// Whether the other end has all that was said.
    pub(crate) fn is_delivered(&self) -> bool {
        self.acknowledged == self.said
    }

    /// A question has its answer. Whoever answers it has it, and all that was said before it.
    pub(crate) fn answered(&mut self, id: &RequestId) {
        if let Some((number, _)) = self.open.remove(id) {
            self.acknowledge(number);
        }
    }

    /// The other end asks us something.
    pub(crate) fn asked(&mut self, id: RequestId) {
        let cost = cost_of(&id);
        if self.owed_bytes + cost <= OWED_BYTES && self.owed.insert(id) {
            self.owed_bytes += cost;
        }
    }

    fn settle(&mut self, id: &RequestId) {
        if self.owed.remove(id) {
            self.owed_bytes -= cost_of(id);
        }
    }

    /// The other end does not want an answer any more.
    pub(crate) fn withdrawn(&mut self, id: &RequestId) {
        self.settle(id);
    }

    /// What the other end has of our answer to a question that it has asked.
    pub(crate) fn reply_to(&self, id: &RequestId) -> Reply {
        if self.owed.contains(id) {
            return Reply::Owed;
        }
        match self.lines.iter().rposition(|said| said.answers(id)) {
            Some(place) if self.before_first() + place as u64 >= self.acknowledged => Reply::Said,
            _ => Reply::Heard,
        }
    }

    /// Somebody has not heard our answer to a question. Says it again, if there was one.
    pub(crate) fn repeat_answer(&mut self, id: &RequestId) {
        // An end that asks over and over and does not read hears it as often as there is room.
        if self.again.len() < LINES
            && let Some(said) = self.lines.iter().rfind(|said| said.answers(id))
        {
            self.again.push_back(said.text.clone());
        }
    }

    /// The name of the newest line that has one.
    pub(crate) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The number of the line before the first that is remembered.
    fn before_first(&self) -> u64 {
        self.said - self.lines.len() as u64
    }

    /// The number of the line with this name, if it is remembered.
    fn number_of(&self, uuid: &str) -> Option<u64> {
        let place = self.lines.iter().rposition(|it| it.identity.uuid() == Some(uuid))?;
        Some(self.before_first() + place as u64 + 1)
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.lines.pop_front() {
            self.bytes -= oldest.text.len();
            self.written = self.written.max(self.before_first());
        }
    }

    /// Tells that lines are missing; how many, if that is known.
    fn notice(&self, lost: Option<u64>) -> Utf8Bytes {
        let notice = json!({
            "type": "system", "subtype": "messages_lost", "lost": lost,
            "uuid": Uuid::new_v4().to_string(), "session_id": self.session().unwrap_or_default(),
        });
        format!("{notice}\n").into()
    }
}

/// Bytes that an unanswered question takes.
fn cost_of(id: &RequestId) -> usize {
    size_of::<RequestId>() + id.0.len()
}

#[cfg(test)]
mod tests;
