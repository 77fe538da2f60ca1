//! Deduplication of received lines: delivered once, or dropped as a repetition.

use bowline_protocol::{Head, RequestId};

use super::{Directions, Side};
use crate::{duplicate_filter::DuplicateFilter, identity::Identity, replay_buffer::ResponseState};

/// What was received so far.
#[derive(Debug)]
pub(super) struct ReceiveState {
    side: Side,
    /// The number of the current connection.
    connection: u64,
    seen: DuplicateFilter,
    newest: Option<Box<str>>,
    /// How many lines were delivered that are progress: prompts, responses, messages.
    count: u64,
}

/// What becomes of a received line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disposition {
    Deliver,
    /// It was received before.
    Drop,
}

impl ReceiveState {
    pub(super) fn new(side: Side) -> Self {
        Self { side, connection: 0, seen: DuplicateFilter::default(), newest: None, count: 0 }
    }

    /// The uuid of the newest message.
    pub(super) fn newest(&self) -> Option<&str> {
        self.newest.as_deref()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Begins another connection.
    pub(super) fn connected(&mut self) {
        self.connection += 1;
    }

    /// Records a line; whether it is received for the first time, which is progress.
    fn is_new(&mut self, line: &str) -> bool {
        let is_new = self.record(line).is_none();
        self.count += u64::from(is_new);
        is_new
    }

    /// Records a line; returns the connection on which it was received before, if it was.
    fn record(&mut self, line: &str) -> Option<u64> {
        self.seen.record(line, self.connection)
    }
}

impl Directions {
    /// Receives a line.
    pub(super) fn receive(&mut self, line: &str) -> Disposition {
        let Ok(head) = Head::read(line) else { return Disposition::Deliver };
        let identity = Identity::of(&head, line);
        if let Some(uuid) = identity.uuid() {
            self.received.newest = Some(uuid.into());
        }
        match identity {
            // The session itself knows the prompts it has run, and reports a repetition if asked to.
            Identity::Prompt(_) if self.received.side == Side::Agent => {
                self.received.is_new(line);
                Disposition::Deliver
            }
            Identity::Message(_) | Identity::Prompt(_) => match self.received.is_new(line) {
                true => Disposition::Deliver,
                false => Disposition::Drop,
            },
            Identity::Request(id) => {
                let before = self.received.record(line);
                if before.is_some_and(|connection| self.is_repetition(&id, connection)) {
                    self.sent.repeat_response(&id);
                    return Disposition::Drop;
                }
                self.sent.request_received(id);
                Disposition::Deliver
            }
            Identity::Response(id) => {
                self.sent.response_received(&id);
                self.received.is_new(line);
                Disposition::Deliver
            }
            Identity::Cancel(id) => {
                self.sent.cancel_received(&id);
                Disposition::Deliver
            }
            Identity::Initialize(_) | Identity::None => Disposition::Deliver,
        }
    }

    /// Whether a request that was received before, on an earlier connection or on this one, is
    /// still the same. A host that has our response does not send it again; one that was
    /// restarted, and numbers its requests from the beginning, does.
    fn is_repetition(&self, id: &RequestId, connection: u64) -> bool {
        self.received.side == Side::Host
            || connection == self.received.connection
            || self.sent.response_state(id) != ResponseState::Acknowledged
    }
}
