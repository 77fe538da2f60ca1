//! Ids of the newest lines of a conversation, for the lines that a compaction keeps.

use std::collections::VecDeque;

use bowline_protocol::{MessageUuid, Role};
use bowline_sessions::ContextMessage;

/// The end of a conversation that a compaction keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptTail {
    /// Nothing stays.
    Nothing,
    /// A prompt without a response.
    Prompt,
    /// The last response.
    Response,
    /// The last response and the results of its calls.
    Round,
}

/// How many lines are kept. A compaction keeps one response and its results; a response with more
/// calls than this is summarized with the rest.
const MOST_LINES: usize = 512;

/// The newest lines of a conversation.
#[derive(Debug, Default)]
pub(super) struct Trail {
    lines: VecDeque<Mark>,
}

#[derive(Debug)]
struct Mark {
    uuid: MessageUuid,
    /// The API's message id of the response that it is part of; `None` for user messages.
    message_id: Option<String>,
}

impl Trail {
    pub(super) fn user(&mut self, uuid: &MessageUuid) {
        self.push(Mark { uuid: uuid.clone(), message_id: None });
    }

    pub(super) fn assistant(&mut self, uuid: &MessageUuid, message_id: &str) {
        self.push(Mark { uuid: uuid.clone(), message_id: Some(message_id.to_owned()) });
    }

    pub(super) fn recall(&mut self, messages: &[ContextMessage]) {
        for message in messages {
            for uuid in &message.uuids {
                match message.role {
                    Role::Assistant => {
                        let message_id = message.message_id.clone().unwrap_or_default();
                        self.push(Mark { uuid: uuid.clone(), message_id: Some(message_id) });
                    }
                    _ => self.user(uuid),
                }
            }
        }
    }

    fn push(&mut self, mark: Mark) {
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(mark);
    }

    pub(super) fn last(&self) -> Option<MessageUuid> {
        self.lines.back().map(|mark| mark.uuid.clone())
    }

    /// The ids of the lines of the kept tail of the conversation.
    ///
    /// Results may be written between the blocks of the response that made the calls, so a response
    /// extends from its first line to its last.
    pub(super) fn lines_of(&self, kept: KeptTail) -> Vec<MessageUuid> {
        let newest_response = self.lines.iter().rposition(|mark| mark.message_id.is_some());
        let from = match (kept, newest_response) {
            (KeptTail::Nothing, _) => None,
            (KeptTail::Prompt, response) => Some(response.map_or(0, |index| index + 1)),
            (KeptTail::Response | KeptTail::Round, Some(index)) => {
                Some(self.start_of_response(index))
            }
            (KeptTail::Response | KeptTail::Round, None) => None,
        };
        // A tail that may begin before the first kept line is incomplete.
        let whole = from.filter(|from| *from > 0 || self.lines.len() < MOST_LINES);
        let lines = whole.into_iter().flat_map(|from| self.lines.iter().skip(from));
        lines.map(|mark| mark.uuid.clone()).collect()
    }

    fn start_of_response(&self, newest: usize) -> usize {
        let message_id = &self.lines[newest].message_id;
        let mut first = self.lines.iter().position(|mark| mark.message_id == *message_id);
        // Consecutive responses are one message to the model.
        while let Some(index) = first
            && let Some(before) = index.checked_sub(1)
            && self.lines[before].message_id.is_some()
        {
            first = Some(before);
        }
        first.unwrap_or(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `u1` is a line of the user, `a1:m` one of the response `m`.
    fn trail(lines: &str) -> Trail {
        let mut trail = Trail::default();
        for line in lines.split_whitespace() {
            match line.split_once(':') {
                Some((uuid, answer)) => trail.assistant(&uuid.into(), answer),
                None => trail.user(&line.into()),
            }
        }
        trail
    }

    #[test]
    fn the_end_of_a_conversation_is_found_in_its_lines() {
        for (lines, kept, found) in [
            ("u1 a1:m", KeptTail::Nothing, ""),
            ("u1 a1:m u2", KeptTail::Prompt, "u2"),
            ("u1 a1:m u2 a2:n a3:n", KeptTail::Response, "a2 a3"),
            ("u1 a1:m u2 a2:n u3", KeptTail::Round, "a2 u3"),
            ("u1 a1:m r1 a2:m r2", KeptTail::Round, "a1 r1 a2 r2"),
            ("u1 a1:m a2:n", KeptTail::Response, "a1 a2"),
            ("", KeptTail::Response, ""),
        ] {
            let found: Vec<MessageUuid> = found.split_whitespace().map(MessageUuid::from).collect();
            assert_eq!(trail(lines).lines_of(kept), found, "{lines}");
        }
    }
}
