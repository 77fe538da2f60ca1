//! Response that a part of a script produces.

use std::{iter, time::Duration};

use bowline_protocol::{
    ContentBlock, Extra, Maybe, RedactedThinkingBlock, StopReason, StreamEvent, TextBlock,
    ThinkingBlock, Usage,
};

use super::{
    directive::{Break, Directive},
    position::ScriptPosition,
    tokens,
};
use crate::{Delivery, ErrorKind, ModelError, ModelRequest, event};

/// A response, ready to be played.
pub(super) struct ScriptedResponse {
    /// Names the request.
    pub(super) request_id: String,
    /// Delay before the start.
    pub(super) delay: Duration,
    /// Steps in order.
    pub(super) plays: Result<Plays, ModelError>,
}

/// Steps of a response; made one by one, because responses can be long.
pub(super) type Plays = Box<dyn Iterator<Item = Play> + Send>;

/// One step of a response.
#[derive(Debug)]
pub(super) enum Play {
    Event(StreamEvent),
    Pause(Duration),
    /// Nothing ever happens again.
    Hang,
    /// The connection breaks.
    Cut,
    /// The API reports an error inside the stream.
    Fail(ModelError),
}

/// A block, a pause, or the end before the end.
enum Scene {
    Block { content: Block, breaks: Option<Break> },
    Pause(Duration),
    Break(Break),
}

enum Block {
    Text(String),
    Filler(usize),
    Thinking(String),
    Redacted,
    Call { id: String, name: String, input: String },
}

impl ScriptedResponse {
    /// The response to `request` at `position`, after this many earlier attempts.
    pub(super) fn new(request: &ModelRequest, position: ScriptPosition, earlier: u32) -> Self {
        let ScriptPosition { part, key } = position;
        let request_id = format!("req_script_{key:016x}");
        let mut delay = Duration::ZERO;
        let mut pace = Duration::ZERO;
        let mut failure = None;
        let mut failure_message = "scripted error".to_owned();
        let mut retry_after = None;
        let mut stop = None;
        let mut usage_fields = Extra::new();
        let mut scenes: Vec<Scene> = Vec::new();
        let streams = request.delivery == Delivery::Stream;
        let block = |content| Scene::Block { content, breaks: None };
        for line in part {
            match line {
                Directive::Say(text) => scenes.push(block(Block::Text(text))),
                Directive::Think(text) => scenes.push(block(Block::Thinking(text))),
                Directive::Redacted => scenes.push(block(Block::Redacted)),
                Directive::Tokens(count) => scenes.push(block(Block::Filler(count))),
                Directive::EchoResult => scenes.push(block(Block::Text(newest_result(request)))),
                Directive::Tool { name, input } => {
                    let id = format!("toolu_script_{key:016x}_{}", scenes.len());
                    scenes.push(block(Block::Call { id, name, input }));
                }
                Directive::Delay(pause) if scenes.is_empty() => delay += pause,
                Directive::Delay(pause) => scenes.push(Scene::Pause(pause)),
                Directive::Slow(pause) => pace = pause,
                Directive::Error { status, times } if times.befall(earlier) => {
                    failure = Some(status)
                }
                Directive::Error { .. } => {}
                Directive::ErrorMessage(text) => failure_message = text,
                Directive::RetryAfter(wait) => retry_after = Some(wait),
                Directive::Break { how, times } => {
                    if streams && times.befall(earlier) {
                        match scenes.last_mut() {
                            Some(Scene::Block { breaks, .. }) => *breaks = Some(how),
                            _ => scenes.push(Scene::Break(how)),
                        }
                        break;
                    }
                }
                Directive::Stop(reason) => stop = Some(StopReason::from(reason)),
                Directive::Usage(fields) => usage_fields.extend(fields),
                Directive::Summary(_) | Directive::Next => {}
            }
        }
        if let Some(status) = failure {
            let error = ModelError {
                status: Some(status),
                api_type: Some(error_type(status).to_owned()),
                retry_after,
                request_id: Some(request_id.clone()),
                ..ModelError::new(ErrorKind::Status, failure_message)
            };
            return Self { request_id, delay, plays: Err(error) };
        }
        let calls =
            |scene: &Scene| matches!(scene, Scene::Block { content: Block::Call { .. }, .. });
        let default_stop = match scenes.iter().any(calls) {
            true => StopReason::ToolUse,
            false => StopReason::EndTurn,
        };
        let output = scenes.iter().map(tokens_of_scene).sum();
        let (begin, end) = usage(tokens::count_input(request), output, usage_fields);
        let start =
            event::message_start(format!("msg_script_{key:016x}"), request.model.clone(), begin);
        let closing = [
            Play::Event(event::message_delta(Some(stop.unwrap_or(default_stop)), end)),
            Play::Event(event::message_stop()),
        ];
        let mut index = 0;
        let scenes = scenes.into_iter().flat_map(move |scene| scene.play(&mut index, pace));
        let plays = iter::once(Play::Event(start)).chain(scenes).chain(closing);
        Self { request_id, delay, plays: Ok(Box::new(plays)) }
    }
}

impl Scene {
    fn play(self, index: &mut usize, pace: Duration) -> Plays {
        match self {
            Self::Pause(pause) => Box::new(iter::once(Play::Pause(pause))),
            Self::Break(how) => Box::new(iter::once(how.play())),
            Self::Block { content, breaks } => {
                let position = *index;
                *index += 1;
                let start = Play::Event(event::block_start(position, content.empty()));
                let deltas = content.deltas(position).flat_map(move |delta| {
                    let pause = (!pace.is_zero()).then_some(Play::Pause(pace));
                    iter::once(Play::Event(delta)).chain(pause)
                });
                match breaks {
                    None => {
                        let stop = Play::Event(event::block_stop(position));
                        Box::new(iter::once(start).chain(deltas).chain([stop]))
                    }
                    Some(how) => {
                        Box::new(iter::once(start).chain(deltas.take(1)).chain([how.play()]))
                    }
                }
            }
        }
    }
}

impl Break {
    fn play(self) -> Play {
        match self {
            Self::Cut => Play::Cut,
            Self::Hang => Play::Hang,
            Self::Error { kind, message } => {
                let error = ModelError::new(ErrorKind::Api, message);
                Play::Fail(ModelError { api_type: Some(kind), ..error })
            }
        }
    }
}

/// The seal on scripted reasoning.
const SIGNATURE: &str = "script";
/// The size of the pieces that the input of a call is streamed in.
const INPUT_PIECE: usize = 40;

impl Block {
    /// The block as it begins.
    fn empty(&self) -> ContentBlock {
        match self {
            Self::Text(_) | Self::Filler(_) => ContentBlock::Text(TextBlock::default()),
            Self::Thinking(_) => ContentBlock::Thinking(ThinkingBlock::default()),
            Self::Redacted => ContentBlock::RedactedThinking(RedactedThinkingBlock {
                data: "cmVkYWN0ZWQ=".to_owned(),
                extra: Extra::new(),
            }),
            Self::Call { id, name, .. } => event::empty_call(id, name),
        }
    }

    /// Deltas.
    fn deltas(self, index: usize) -> Box<dyn Iterator<Item = StreamEvent> + Send> {
        match self {
            Self::Text(text) => {
                let words: Vec<String> = text.split_inclusive(' ').map(str::to_owned).collect();
                Box::new(words.into_iter().map(move |word| event::text_delta(index, word)))
            }
            Self::Filler(count) => Box::new((1..=count).map(move |number| {
                event::text_delta(index, if number == count { "word" } else { "word " })
            })),
            Self::Thinking(text) => {
                let seal = event::signature_delta(index, SIGNATURE);
                Box::new([event::thinking_delta(index, text), seal].into_iter())
            }
            Self::Redacted => Box::new(iter::empty()),
            Self::Call { input, .. } => {
                let mut at = 0;
                Box::new(iter::from_fn(move || {
                    let rest = &input[at..];
                    let end = rest.char_indices().nth(INPUT_PIECE).map_or(rest.len(), |(at, _)| at);
                    let piece = rest[..end].to_owned();
                    at += end;
                    (!piece.is_empty()).then(|| event::input_delta(index, piece))
                }))
            }
        }
    }
}

fn tokens_of_scene(scene: &Scene) -> u64 {
    let words = |text: &str| text.split_whitespace().count() as u64;
    match scene {
        Scene::Block { content, .. } => match content {
            Block::Text(text) | Block::Thinking(text) => words(text),
            Block::Filler(count) => *count as u64,
            Block::Call { name, input, .. } => tokens::in_text(name) + tokens::in_text(input),
            Block::Redacted => 0,
        },
        Scene::Pause(_) | Scene::Break(_) => 0,
    }
}

/// Token usage at the start and at the end of a response.
fn usage(input: u64, output: u64, mut fields: Extra) -> (Usage, Usage) {
    let mut take = |name: &str, computed: u64| {
        Maybe::Value(fields.remove(name).and_then(|count| count.as_u64()).unwrap_or(computed))
    };
    let input_tokens = take("input_tokens", input);
    let cache_creation_input_tokens = take("cache_creation_input_tokens", 0);
    let cache_read_input_tokens = take("cache_read_input_tokens", 0);
    let output_tokens = take("output_tokens", output);
    let begin = Usage {
        input_tokens,
        cache_creation_input_tokens,
        cache_read_input_tokens,
        output_tokens: Maybe::Value(1),
        extra: fields.clone(),
    };
    let end = Usage { output_tokens, extra: fields, ..begin.clone() };
    (begin, end)
}

/// Length to which a repeated tool result is truncated.
const LONGEST_RESULT: usize = 120;

fn newest_result(request: &ModelRequest) -> String {
    let blocks = request.messages.iter().rev().flat_map(|message| message.content.iter().rev());
    let newest = blocks.into_iter().find_map(|block| match block {
        ContentBlock::ToolResult(result) => Some(result),
        _ => None,
    });
    let Some(result) = newest else { return "there is no tool result".to_owned() };
    let failed = if result.is_error == Some(true) { "error: " } else { "" };
    let text = result.content.as_ref().map(|content| content.to_text()).unwrap_or_default();
    let text: String = text.chars().take(LONGEST_RESULT).collect();
    format!("result was: {failed}{text}")
}

/// The API's name for a status.
pub(super) fn error_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}
