//! Fold of the events of one model response into a message.

use bowline_protocol::{
    ApiMessage, ContentBlock, ContentBlockStop, Delta, Extra, Maybe, MessageStop, RawJson,
    StreamEvent, Usage,
};
use serde_json::{Value, json};

/// Folds the events of one response into a message.
///
/// [`message`](Self::message) holds the blocks that are complete; a block that is
/// still growing is only in [`partial`](Self::partial). So a response that was cut
/// off is what `message` returns, without a partial block.
#[derive(Debug, Clone, Default)]
pub struct MessageFold {
    message: ApiMessage,
    open: Vec<OpenBlock>,
    phase: Phase,
}

/// Progress of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waiting,
    Speaking,
    Complete,
}

/// A block that is still growing.
#[derive(Debug, Clone)]
struct OpenBlock {
    index: usize,
    block: ContentBlock,
    /// The JSON text of a tool's input so far, if any has come.
    input: Option<String>,
}

/// Effect of an event on the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Folded {
    /// Start of the response.
    Started,
    /// A block began or grew.
    Grown,
    /// A block is complete; this is its index in the content of
    /// [`MessageFold::message`].
    BlockDone(usize),
    /// Stop reason and usage are known.
    Stopping,
    /// End of the response.
    Complete,
    /// Nothing: a ping, or something this version does not know.
    Nothing,
}

impl MessageFold {
    /// A fold that has seen no event.
    pub fn new() -> Self {
        Self::default()
    }

    /// The response so far, with its complete blocks.
    pub fn message(&self) -> &ApiMessage {
        &self.message
    }

    /// The response with its complete blocks.
    pub fn into_message(self) -> ApiMessage {
        self.message
    }

    /// Whether the last event has been seen.
    pub fn is_complete(&self) -> bool {
        self.phase == Phase::Complete
    }

    /// The blocks that have begun but are not complete, as far as they have come.
    ///
    /// The input of a tool call is left as it began: half of it is of no use.
    pub fn partial(&self) -> impl Iterator<Item = &ContentBlock> {
        self.open.iter().map(|open| &open.block)
    }

    /// The events that end a broken response in order for a receiver that has
    /// seen its events so far: stops for the open blocks and for the message. A call
    /// is not stopped, so that a partial block is not taken for a whole one.
    pub fn closing_events(&self) -> Vec<StreamEvent> {
        if self.phase != Phase::Speaking {
            return Vec::new();
        }
        let stop = |open: &OpenBlock| {
            let stop = ContentBlockStop { index: open.index, extra: Extra::new() };
            StreamEvent::ContentBlockStop(stop)
        };
        let end = StreamEvent::MessageStop(MessageStop::default());
        let open = self.open.iter().filter(|open| !matches!(open.block, ContentBlock::ToolUse(_)));
        open.map(stop).chain([end]).collect()
    }

    /// Takes the next event.
    pub fn apply(&mut self, event: &StreamEvent) -> Folded {
        match event {
            StreamEvent::MessageStart(start) => {
                self.message = start.message.clone();
                self.open.clear();
                self.phase = Phase::Speaking;
                Folded::Started
            }
            StreamEvent::ContentBlockStart(start) => {
                let block = start.content_block.clone();
                self.open.push(OpenBlock { index: start.index, block, input: None });
                Folded::Grown
            }
            StreamEvent::ContentBlockDelta(delta) => {
                match self.open.iter_mut().find(|open| open.index == delta.index) {
                    Some(open) => open.grow(&delta.delta),
                    None => Folded::Nothing,
                }
            }
            StreamEvent::ContentBlockStop(stop) => {
                match self.open.iter().position(|open| open.index == stop.index) {
                    Some(index) => {
                        let block = self.open.remove(index).close();
                        self.message.content.push(block);
                        Folded::BlockDone(self.message.content.len() - 1)
                    }
                    None => Folded::Nothing,
                }
            }
            StreamEvent::MessageDelta(delta) => {
                merge_usage(&mut self.message.usage, &delta.usage);
                let stop = &delta.delta;
                if stop.stop_reason.is_some() {
                    self.message.stop_reason.clone_from(&stop.stop_reason);
                }
                if let Maybe::Value(sequence) = &stop.stop_sequence {
                    self.message.stop_sequence = Some(sequence.clone());
                }
                let more = stop.extra.iter().chain(&delta.extra);
                self.message.extra.extend(more.map(|(key, value)| (key.clone(), value.clone())));
                Folded::Stopping
            }
            StreamEvent::MessageStop(_) => {
                self.phase = Phase::Complete;
                Folded::Complete
            }
            _ => Folded::Nothing,
        }
    }
}

impl OpenBlock {
    fn grow(&mut self, delta: &Delta) -> Folded {
        match (delta, &mut self.block) {
            (Delta::TextDelta(delta), ContentBlock::Text(block)) => block.text += &delta.text,
            (Delta::ThinkingDelta(delta), ContentBlock::Thinking(block)) => {
                block.thinking += &delta.thinking;
            }
            (Delta::SignatureDelta(delta), ContentBlock::Thinking(block)) => {
                block.signature.clone_from(&delta.signature);
            }
            (Delta::CitationsDelta(delta), ContentBlock::Text(block)) => {
                let citations = block.extra.entry("citations").or_insert(Value::Null);
                match citations {
                    Value::Array(list) => list.push(delta.citation.to_value()),
                    other => *other = Value::Array(vec![delta.citation.to_value()]),
                }
            }
            (Delta::InputJsonDelta(delta), _) => {
                self.input.get_or_insert_default().push_str(&delta.partial_json);
            }
            _ => return Folded::Nothing,
        }
        Folded::Grown
    }

    fn close(self) -> ContentBlock {
        let Some(input) = self.input else { return self.block };
        let input = read_input(input);
        match self.block {
            ContentBlock::ToolUse(mut call) => {
                call.input = input;
                ContentBlock::ToolUse(call)
            }
            ContentBlock::ServerToolUse(mut call) => {
                call.input = input;
                ContentBlock::ServerToolUse(call)
            }
            // A newer kind of call keeps its other fields.
            ContentBlock::Unknown(block) => match block.to_value() {
                Value::Object(mut fields) => {
                    fields.insert("input".to_owned(), input.to_value());
                    ContentBlock::Unknown(Value::Object(fields).into())
                }
                _ => ContentBlock::Unknown(block),
            },
            other => other,
        }
    }
}

/// The input of a tool call. Text that is not JSON is kept under a name that no
/// tool has, so that the call can be refused with the text shown.
fn read_input(text: String) -> RawJson {
    if text.trim().is_empty() {
        return RawJson::empty_object();
    }
    if serde_json::from_str::<serde::de::IgnoredAny>(&text).is_err() {
        return unparsed_input(&text);
    }
    RawJson::from_text(text).unwrap_or_else(|_| RawJson::empty_object())
}

/// The name under which input that is not JSON is kept.
pub const UNPARSED_INPUT: &str = "__unparsedToolInput";

fn unparsed_input(text: &str) -> RawJson {
    json!({ UNPARSED_INPUT: { "raw": text, "len": text.chars().count() } }).into()
}

/// Token counts in a stream are cumulative: the newer replaces the older, as
/// far as it is present.
fn merge_usage(usage: &mut Usage, newer: &Usage) {
    let replace = |old: &mut Maybe<u64>, new: &Maybe<u64>| {
        if let Maybe::Value(count) = new {
            *old = Maybe::Value(*count);
        }
    };
    replace(&mut usage.input_tokens, &newer.input_tokens);
    replace(&mut usage.output_tokens, &newer.output_tokens);
    replace(&mut usage.cache_creation_input_tokens, &newer.cache_creation_input_tokens);
    replace(&mut usage.cache_read_input_tokens, &newer.cache_read_input_tokens);
    for (key, value) in newer.extra.iter().filter(|(_, value)| !value.is_null()) {
        usage.extra.insert(key.clone(), value.clone());
    }
}
