//! Blocks that never interleave, out of pieces that do.
//!
//! These servers may send the pieces of several tool calls in turns. In a Messages
//! stream one block ends before the next begins. So only the first unfinished block
//! grows in the open; pieces of later ones wait. A call gives way to the next as
//! soon as its input is complete JSON.

use std::collections::VecDeque;

use bowline_protocol::{ContentBlock, StreamEvent, TextBlock, ThinkingBlock};
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::event;

/// Blocks of a response under construction.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// In order of their appearance. Only the first may have been begun in the open.
    blocks: VecDeque<Building>,
    /// Index of the first of them in the response.
    index: usize,
    calls: usize,
}

#[derive(Debug)]
struct Building {
    kind: Kind,
    /// Text that was not sent yet.
    unsent: String,
    begun: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking,
    Call(Call),
}

#[derive(Debug)]
struct Call {
    /// The server's number for it.
    number: u64,
    id: String,
    name: String,
    /// All of its input so far.
    input: String,
}

impl Assembly {
    /// Whether the response calls tools.
    pub(super) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    pub(super) fn text(&mut self, text: &str, out: &mut VecDeque<StreamEvent>) {
        self.push_text(text, |kind| matches!(kind, Kind::Text), || Kind::Text, out);
    }

    pub(super) fn thinking(&mut self, text: &str, out: &mut VecDeque<StreamEvent>) {
        self.push_text(text, |kind| matches!(kind, Kind::Thinking), || Kind::Thinking, out);
    }

    fn push_text(
        &mut self,
        text: &str,
        is_same: impl Fn(&Kind) -> bool,
        kind: impl Fn() -> Kind,
        out: &mut VecDeque<StreamEvent>,
    ) {
        match self.blocks.back_mut() {
            Some(last) if is_same(&last.kind) => last.unsent.push_str(text),
            _ => self.blocks.push_back(Building::new(kind(), text)),
        }
        self.advance(out);
    }

    /// A piece of the call with this number. Only a new call has its id and name,
    /// though some servers repeat them and others give every call the same number.
    pub(super) fn call(
        &mut self,
        number: u64,
        id: &str,
        name: &str,
        input: &str,
        out: &mut VecDeque<StreamEvent>,
    ) {
        let known = self.blocks.iter_mut().rev().find_map(|block| match &mut block.kind {
            Kind::Call(call) if call.number == number => Some((call, &mut block.unsent)),
            _ => None,
        });
        match known {
            Some((call, unsent)) if !call.is_followed_by(id, name) => {
                if call.id.is_empty() {
                    id.clone_into(&mut call.id);
                }
                if call.name.is_empty() {
                    name.clone_into(&mut call.name);
                }
                call.input.push_str(input);
                unsent.push_str(input);
            }
            // Some servers repeat the end of a call, when the next has begun.
            None if id.is_empty() && name.is_empty() && input.trim().is_empty() => return,
            _ => {
                self.calls += 1;
                let (id, name) = (id.to_owned(), name.to_owned());
                let call = Call { number, id, name, input: input.to_owned() };
                self.blocks.push_back(Building::new(Kind::Call(call), input));
            }
        }
        self.advance(out);
    }

    /// The number of the newest call that is still being built.
    pub(super) fn last_call_number(&self) -> Option<u64> {
        self.blocks.iter().rev().find_map(|block| match &block.kind {
            Kind::Call(call) => Some(call.number),
            _ => None,
        })
    }

    /// End of input: every block is complete.
    pub(super) fn finish(&mut self, out: &mut VecDeque<StreamEvent>) {
        while let Some(mut block) = self.blocks.pop_front() {
            block.speak(self.index, out);
            self.close(out);
        }
    }

    /// Sends what can be sent.
    fn advance(&mut self, out: &mut VecDeque<StreamEvent>) {
        while let Some(first) = self.blocks.front_mut() {
            if first.can_begin() {
                first.speak(self.index, out);
            }
            if self.blocks.len() == 1 || !self.blocks[0].is_finished() {
                return;
            }
            self.blocks.pop_front();
            self.close(out);
        }
    }

    fn close(&mut self, out: &mut VecDeque<StreamEvent>) {
        out.push_back(event::block_stop(self.index));
        self.index += 1;
    }
}

impl Call {
    /// Whether a piece with this id and name begins another call of the same number:
    /// it has an id of its own, or a name where this one's input is complete.
    fn is_followed_by(&self, id: &str, name: &str) -> bool {
        let other_id = !id.is_empty() && !self.id.is_empty() && id != self.id;
        let begins_again = id.is_empty() && !name.is_empty() && !self.name.is_empty();
        other_id || (begins_again && self.is_complete())
    }

    fn is_complete(&self) -> bool {
        serde_json::from_str::<IgnoredAny>(&self.input).is_ok()
    }
}

impl Building {
    fn new(kind: Kind, text: &str) -> Self {
        Self { kind, unsent: text.to_owned(), begun: false }
    }

    /// A call cannot begin before its name is known.
    fn can_begin(&self) -> bool {
        match &self.kind {
            Kind::Call(call) => !call.name.is_empty(),
            Kind::Text | Kind::Thinking => true,
        }
    }

    /// Whether nothing can be added, given that another block has begun.
    fn is_finished(&self) -> bool {
        match &self.kind {
            Kind::Call(call) => self.begun && call.is_complete(),
            Kind::Text | Kind::Thinking => true,
        }
    }

    /// Sends what waits.
    fn speak(&mut self, index: usize, out: &mut VecDeque<StreamEvent>) {
        if !self.begun {
            self.begun = true;
            let block = match &self.kind {
                Kind::Text => ContentBlock::Text(TextBlock::default()),
                Kind::Thinking => ContentBlock::Thinking(ThinkingBlock::default()),
                Kind::Call(call) if call.id.is_empty() => {
                    event::empty_call(generated_id("toolu"), call.name.as_str())
                }
                Kind::Call(call) => event::empty_call(call.id.as_str(), call.name.as_str()),
            };
            out.push_back(event::block_start(index, block));
        }
        if !self.unsent.is_empty() {
            let text = std::mem::take(&mut self.unsent);
            out.push_back(match self.kind {
                Kind::Text => event::text_delta(index, text),
                Kind::Thinking => event::thinking_delta(index, text),
                Kind::Call(_) => event::input_delta(index, text),
            });
        }
    }
}

/// Generates an id for a message or call that a server left without one.
pub(super) fn generated_id(prefix: &str) -> String {
    format!("{prefix}_{}", Uuid::new_v4().simple())
}
