//! The newest lines of a conversation, from which a compaction names those that it keeps.

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
    Answer,
    /// The last response and the results of its calls.
    Round,
}

/// How many lines are remembered. What a compaction keeps is one answer and its results; an answer
/// with more calls than this is summarized with the rest.
const MOST_LINES: usize = 512;

/// The newest lines of a conversation.
#[derive(Debug, Default)]
pub(super) struct Trail {
    lines: VecDeque<Mark>,
}

#[derive(Debug)]
struct Mark {
    uuid: MessageUuid,
    /// The API's name of the answer that it is part of; `None` on the user's side.
    answer: Option<String>,
}

impl Trail {
    pub(super) fn user(&mut self, uuid: &MessageUuid) {
        self.push(Mark { uuid: uuid.clone(), answer: None });
    }

    pub(super) fn assistant(&mut self, uuid: &MessageUuid, answer: &str) {
        self.push(Mark { uuid: uuid.clone(), answer: Some(answer.to_owned()) });
    }

    pub(super) fn recall(&mut self, messages: &[ContextMessage]) {
        for message in messages {
            for uuid in &message.uuids {
                match message.role {
                    Role::Assistant => {
                        let answer = message.message_id.clone().unwrap_or_default();
                        self.push(Mark { uuid: uuid.clone(), answer: Some(answer) });
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

    /// The lines that the end of the conversation is made of.
    ///
    /// Results may stand between the blocks of the answer that asked for them, so an answer
    /// reaches from its first line to its last.
    pub(super) fn lines_of(&self, kept: KeptTail) -> Vec<MessageUuid> {
        let newest_answer = self.lines.iter().rposition(|mark| mark.answer.is_some());
        let from = match (kept, newest_answer) {
            (KeptTail::Nothing, _) => None,
            (KeptTail::Prompt, answer) => Some(answer.map_or(0, |place| place + 1)),
            (KeptTail::Answer | KeptTail::Round, Some(place)) => {
                Some(self.beginning_of_answer(place))
            }
            (KeptTail::Answer | KeptTail::Round, None) => None,
        };
        // What begins before the first line that is remembered is not whole.
        let whole = from.filter(|from| *from > 0 || self.lines.len() < MOST_LINES);
        let lines = whole.into_iter().flat_map(|from| self.lines.iter().skip(from));
        lines.map(|mark| mark.uuid.clone()).collect()
    }

    fn beginning_of_answer(&self, newest: usize) -> usize {
        let answer = &self.lines[newest].answer;
        let mut first = self.lines.iter().position(|mark| mark.answer == *answer);
        // Answers without anything between them are one message to the model.
        while let Some(place) = first
            && let Some(before) = place.checked_sub(1)
            && self.lines[before].answer.is_some()
        {
            first = Some(before);
        }
        first.unwrap_or(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `u1` is a line of the user, `a1:m` one of the answer `m`.
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
            ("u1 a1:m u2 a2:n a3:n", KeptTail::Answer, "a2 a3"),
            ("u1 a1:m u2 a2:n u3", KeptTail::Round, "a2 u3"),
            ("u1 a1:m r1 a2:m r2", KeptTail::Round, "a1 r1 a2 r2"),
            ("u1 a1:m a2:n", KeptTail::Answer, "a1 a2"),
            ("", KeptTail::Answer, ""),
        ] {
            let found: Vec<MessageUuid> = found.split_whitespace().map(MessageUuid::from).collect();
            assert_eq!(trail(lines).lines_of(kept), found, "{lines}");
        }
    }
}
