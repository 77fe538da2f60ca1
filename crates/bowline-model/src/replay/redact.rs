//! Redaction of secrets that are split over several deltas: pieces are held back until more is known.

use std::mem::{Discriminant, discriminant};

use bowline_protocol::{Delta, StreamEvent};

use crate::secret::Redactor;

/// Pieces that are held back. A secret that comes in several pieces is hidden like one that comes
/// in one.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Pieces of one text, and when they came.
    pieces: Vec<(u64, StreamEvent)>,
}

impl Held {
    /// Takes an event that came at this time. Writes it, and what was held back before, unless a
    /// secret may have begun.
    pub(super) fn push(
        &mut self,
        at_ms: u64,
        event: &StreamEvent,
        redactor: &Redactor,
        mut write: impl FnMut(u64, &StreamEvent),
    ) {
        let Some((target, added)) = piece(event).filter(|_| !redactor.is_empty()) else {
            self.release(&mut write);
            return write(at_ms, event);
        };
        if self.target().is_some_and(|held| held != target) {
            self.release(&mut write);
        }
        let mut text: String =
            self.pieces.iter().filter_map(|(_, held)| Some(piece(held)?.1)).collect();
        text.push_str(added);
        self.pieces.push((at_ms, event.clone()));
        let hidden = redactor.redact(text.clone());
        if hidden != text
            && let Some((at_ms, mut last)) = self.pieces.pop()
        {
            set_text(&mut last, &hidden);
            self.pieces = vec![(at_ms, last)];
        }
        if !redactor.ends_with_prefix(&hidden) {
            self.release(&mut write);
        }
    }

    /// Writes what is held back: nothing follows that could make a secret of it.
    pub(super) fn release(&mut self, mut write: impl FnMut(u64, &StreamEvent)) {
        for (at_ms, event) in self.pieces.drain(..) {
            write(at_ms, &event);
        }
    }

    fn target(&self) -> Option<DeltaTarget> {
        self.pieces.first().and_then(|(_, event)| piece(event)).map(|(target, _)| target)
    }
}

/// Block and kind of delta that a piece belongs to.
type DeltaTarget = (usize, Discriminant<Delta>);

/// A piece of text, and which one it belongs to.
fn piece(event: &StreamEvent) -> Option<(DeltaTarget, &str)> {
    let StreamEvent::ContentBlockDelta(event) = event else { return None };
    let text = match &event.delta {
        Delta::TextDelta(delta) => &delta.text,
        Delta::InputJsonDelta(delta) => &delta.partial_json,
        Delta::ThinkingDelta(delta) => &delta.thinking,
        _ => return None,
    };
    Some(((event.index, discriminant(&event.delta)), text))
}

/// Puts other words into a piece.
fn set_text(event: &mut StreamEvent, words: &str) {
    let StreamEvent::ContentBlockDelta(event) = event else { return };
    let text = match &mut event.delta {
        Delta::TextDelta(delta) => &mut delta.text,
        Delta::InputJsonDelta(delta) => &mut delta.partial_json,
        Delta::ThinkingDelta(delta) => &mut delta.thinking,
        _ => return,
    };
    words.clone_into(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{event, secret::Secret};

    /// Output for pieces, each with its time of arrival: its index.
    fn written(pieces: &[StreamEvent]) -> Vec<(u64, String)> {
        let redactor = Redactor::new([Secret::from("sk-secret-1")]);
        let mut held = Held::default();
        let mut found = Vec::new();
        let mut write = |at, event: &StreamEvent| {
            found.push((at, piece(event).map_or("-".to_owned(), |(_, text)| text.to_owned())));
        };
        for (at, event) in (0..).zip(pieces) {
            held.push(at, event, &redactor, &mut write);
        }
        held.release(write);
        found
    }

    #[test]
    fn secret_split_over_deltas_is_redacted() {
        let pieces = ["the key is sk", "-sec", "ret-1, keep", " it"];
        let pieces = pieces.map(|text| event::text_delta(0, text));
        let expected = [(2, "the key is ***, keep".to_owned()), (3, " it".to_owned())];
        assert_eq!(written(&pieces), expected);
    }

    #[test]
    fn text_that_only_starts_like_a_secret_is_recorded_unchanged() {
        let pieces = ["sk-sec", "tion ", "sk-secret-", "2"].map(|text| event::input_delta(0, text));
        let texts: Vec<_> = written(&pieces).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["sk-sec", "tion ", "sk-secret-", "2"]);
    }

    #[test]
    fn pieces_of_two_blocks_are_not_joined_to_a_secret() {
        let pieces =
            [event::text_delta(0, "sk-sec"), event::block_stop(0), event::text_delta(1, "ret-1")];
        let expected =
            [(0, "sk-sec"), (1, "-"), (2, "ret-1")].map(|(at, text)| (at, text.to_owned()));
        assert_eq!(written(&pieces), expected);
    }
}
