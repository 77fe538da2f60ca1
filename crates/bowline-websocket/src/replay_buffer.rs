//! Bounded replay buffer of sent lines, resent after a reconnect.
//!
//! Lines are numbered as they are sent. A line is dropped when the buffer is full. Acknowledged lines
//! are kept like the others: a restarted host may not have them. A request without a response is
//! kept outside the bound, until its response arrives.

use std::collections::{HashMap, HashSet, VecDeque};

use bowline_protocol::{Head, RequestId};
use serde_json::json;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use uuid::Uuid;

use crate::identity::Identity;

/// Lines that are kept.
pub(crate) const LINES: usize = 1000;

/// Bytes that are kept: a thousand ordinary lines, and a few large ones.
pub(crate) const BYTES: usize = 32 * 1024 * 1024;

/// Bytes of the ids of received requests without a response: tens of thousands of ids. A request
/// beyond that is handled, and handled again if the other end repeats it after a reconnect.
const UNANSWERED_BYTES: usize = 4 * 1024 * 1024;

/// Bounded replay buffer of sent lines.
#[derive(Debug, Default)]
pub(crate) struct ReplayBuffer {
    lines: VecDeque<SentLine>,
    bytes: usize,
    /// How many lines were ever sent: the number of the newest.
    sent: u64,
    /// The other end has this line and all before it.
    acknowledged: u64,
    /// The last line that was ever acknowledged: a restarted host may have less.
    credited: u64,
    /// How many of those lines were progress.
    progress: u64,
    /// The last line that was written to the current connection.
    written: u64,
    /// Sent requests without a response, with their line numbers.
    open_requests: HashMap<RequestId, (u64, Utf8Bytes)>,
    /// Received requests to which no response was sent.
    unanswered: HashSet<RequestId>,
    unanswered_bytes: usize,
    /// Lines that are written first, out of order.
    resend: VecDeque<Utf8Bytes>,
    /// The uuid of the newest line that has one.
    newest: Option<Box<str>>,
    /// The id of the session, as the lines name it.
    session: Option<Box<str>>,
}

#[derive(Debug)]
struct SentLine {
    identity: Identity,
    text: Utf8Bytes,
}

impl SentLine {
    fn responds_to(&self, id: &RequestId) -> bool {
        matches!(&self.identity, Identity::Response(it) if it == id)
    }
}

/// How far our response to a received request has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseState {
    /// There is none yet.
    Pending,
    /// Sent, not acknowledged.
    Sent,
    /// Acknowledged, or so old that it is unknown.
    Acknowledged,
}

impl ReplayBuffer {
    /// Appends a line, and drops the oldest beyond the limits.
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
        self.sent += 1;
        match &identity {
            Identity::Message(uuid) | Identity::Prompt(uuid) => self.newest = Some(uuid.clone()),
            Identity::Request(id) | Identity::Initialize(id) => {
                self.open_requests.insert(id.clone(), (self.sent, text.clone()));
            }
            Identity::Cancel(id) => {
                self.open_requests.remove(id);
            }
            Identity::Response(id) => self.settle(id),
            Identity::None => {}
        }
        self.bytes += text.len();
        self.lines.push_back(SentLine { identity, text });
        while self.lines.len() > LINES || (self.bytes > BYTES && self.lines.len() > 1) {
            self.drop_oldest();
        }
    }

    /// Whether one more line fits without dropping an unacknowledged one.
    pub(crate) fn has_capacity(&self) -> bool {
        let full = self.lines.len() >= LINES || self.bytes >= BYTES;
        !full || self.before_first() < self.acknowledged
    }

    /// Begins a connection: finds the line to resume at. The other end names the last line it has;
    /// after an unknown name all buffered lines are replayed, without a name those not acknowledged.
    pub(crate) fn resume(&mut self, last_received: Option<&str>) {
        let named = last_received.map(|uuid| self.number_of(uuid));
        self.written = match named {
            Some(Some(number)) => {
                // A restarted host may have less than its predecessor had.
                self.acknowledged = number;
                number
            }
            Some(None) => self.before_first(),
            None => self.acknowledged.max(self.before_first()),
        };
        let mut requests: Vec<_> = self
            .open_requests
            .values()
            .filter(|(number, _)| *number <= self.written)
            .cloned()
            .collect();
        requests.sort_by_key(|(number, _)| *number);
        self.resend = requests.into_iter().map(|(_, text)| text).collect();
        // Repeated until a later line is acknowledged, and this notice with it.
        let lost = self.before_first().saturating_sub(self.acknowledged);
        if lost > 0 {
            self.resend.push_front(self.notice(Some(lost)));
        } else if named == Some(None) && self.before_first() > 0 {
            // The line it names may be older than what another host has acknowledged.
            self.resend.push_front(self.notice(None));
        }
    }

    /// The next line to write.
    pub(crate) fn take_next(&mut self) -> Option<Utf8Bytes> {
        if let Some(text) = self.resend.pop_front() {
            return Some(text);
        }
        let index = usize::try_from(self.written - self.before_first()).ok()?;
        let text = self.lines.get(index)?.text.clone();
        self.written += 1;
        Some(text)
    }

    /// The number of the last line that was written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Acknowledges this line and all before it.
    pub(crate) fn acknowledge(&mut self, number: u64) {
        let number = number.min(self.sent);
        self.acknowledged = self.acknowledged.max(number);
        let before_first = self.before_first();
        for index in self.credited.max(before_first)..number {
            let line = usize::try_from(index - before_first).ok().and_then(|it| self.lines.get(it));
            self.progress += u64::from(line.is_some_and(|line| line.identity.is_progress()));
        }
        self.credited = self.credited.max(number);
    }

    /// The last acknowledged line.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// How many acknowledged lines were progress.
    pub(crate) fn progress(&self) -> u64 {
        self.progress
    }

    /// Whether all lines are acknowledged.
    pub(crate) fn is_delivered(&self) -> bool {
        self.acknowledged == self.sent
    }

    /// Records a received response, which acknowledges its request and all lines before it.
    pub(crate) fn response_received(&mut self, id: &RequestId) {
        if let Some((number, _)) = self.open_requests.remove(id) {
            self.acknowledge(number);
        }
    }

    /// Records a received request.
    pub(crate) fn request_received(&mut self, id: RequestId) {
        let cost = cost_of(&id);
        if self.unanswered_bytes + cost <= UNANSWERED_BYTES && self.unanswered.insert(id) {
            self.unanswered_bytes += cost;
        }
    }

    fn settle(&mut self, id: &RequestId) {
        if self.unanswered.remove(id) {
            self.unanswered_bytes -= cost_of(id);
        }
    }

    /// Records that the other end has cancelled a request.
    pub(crate) fn cancel_received(&mut self, id: &RequestId) {
        self.settle(id);
    }

    /// How far our response to a received request has got.
    pub(crate) fn response_state(&self, id: &RequestId) -> ResponseState {
        if self.unanswered.contains(id) {
            return ResponseState::Pending;
        }
        match self.lines.iter().rposition(|line| line.responds_to(id)) {
            Some(index) if self.before_first() + index as u64 >= self.acknowledged => {
                ResponseState::Sent
            }
            _ => ResponseState::Acknowledged,
        }
    }

    /// Sends the response to a request again, if there is one.
    pub(crate) fn repeat_response(&mut self, id: &RequestId) {
        // Bounded, for an end that repeats a request and does not read.
        if self.resend.len() < LINES
            && let Some(line) = self.lines.iter().rfind(|line| line.responds_to(id))
        {
            self.resend.push_back(line.text.clone());
        }
    }

    /// The uuid of the newest line that has one.
    pub(crate) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The number of the line before the first in the buffer.
    fn before_first(&self) -> u64 {
        self.sent - self.lines.len() as u64
    }

    /// The number of the line with this uuid, if it is buffered.
    fn number_of(&self, uuid: &str) -> Option<u64> {
        let index = self.lines.iter().rposition(|it| it.identity.uuid() == Some(uuid))?;
        Some(self.before_first() + index as u64 + 1)
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.lines.pop_front() {
            self.bytes -= oldest.text.len();
            self.written = self.written.max(self.before_first());
        }
    }

    /// The notice that lines are missing; how many, if that is known.
    fn notice(&self, lost: Option<u64>) -> Utf8Bytes {
        let notice = json!({
            "type": "system", "subtype": "messages_lost", "lost": lost,
            "uuid": Uuid::new_v4().to_string(), "session_id": self.session().unwrap_or_default(),
        });
        format!("{notice}\n").into()
    }
}

/// Bytes that a request without a response takes.
fn cost_of(id: &RequestId) -> usize {
    size_of::<RequestId>() + id.0.len()
}

#[cfg(test)]
mod tests;
