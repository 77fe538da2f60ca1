//! Stream of the Messages API: events of one model response, and the message they add up to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    content::{ContentBlock, Role},
    extra::Extra,
    maybe::Maybe,
    raw::RawJson,
    wire::{open_enum, read_by_tag},
};

/// One event of a streamed model response.
///
/// Large payloads are boxed: an event is moved often.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamEvent {
    /// Start of the response.
    MessageStart(Box<MessageStart>),
    /// A block begins.
    ContentBlockStart(Box<ContentBlockStart>),
    /// A block grows.
    ContentBlockDelta(Box<ContentBlockDelta>),
    /// A block is complete.
    ContentBlockStop(ContentBlockStop),
    /// Stop reason and usage.
    MessageDelta(Box<MessageDelta>),
    /// End of the response.
    MessageStop(MessageStop),
    /// The connection is alive.
    Ping(Ping),
    /// Error after the response had started.
    Error(Box<StreamError>),
    /// An event this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(StreamEvent, Type, {
    "message_start" => MessageStart,
    "content_block_start" => ContentBlockStart,
    "content_block_delta" => ContentBlockDelta,
    "content_block_stop" => ContentBlockStop,
    "message_delta" => MessageDelta,
    "message_stop" => MessageStop,
    "ping" => Ping,
    "error" => Error,
});

/// Start of the response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageStart {
    /// The response so far: no content, no stop reason.
    pub message: ApiMessage,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A block begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContentBlockStart {
    /// Its index in the response.
    pub index: usize,
    /// The block, empty but for what comes whole.
    pub content_block: ContentBlock,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A block grows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContentBlockDelta {
    /// Index of the block.
    pub index: usize,
    /// By what.
    pub delta: Delta,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A block is complete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContentBlockStop {
    /// Index of the block.
    pub index: usize,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Stop reason and usage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageDelta {
    /// Stop reason of the response.
    pub delta: StopDelta,
    /// Usage so far, cumulative.
    #[serde(default)]
    pub usage: Usage,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// End of the response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageStop {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The connection is alive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ping {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Error after the response had started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamError {
    /// Details.
    pub error: ApiErrorBody,
    /// Fields this version does not know (`request_id`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// An error as the API words it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiErrorBody {
    /// As in `overloaded_error`.
    #[serde(rename = "type")]
    pub kind: String,
    /// For people.
    pub message: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Delta of a block.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// More prose.
    TextDelta(TextDelta),
    /// More of a tool's input, as JSON text.
    InputJsonDelta(InputJsonDelta),
    /// More reasoning.
    ThinkingDelta(ThinkingDelta),
    /// The seal on the reasoning.
    SignatureDelta(SignatureDelta),
    /// One more citation.
    CitationsDelta(CitationsDelta),
    /// A delta this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(Delta, Type, {
    "text_delta" => TextDelta,
    "input_json_delta" => InputJsonDelta,
    "thinking_delta" => ThinkingDelta,
    "signature_delta" => SignatureDelta,
    "citations_delta" => CitationsDelta,
});

/// More prose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextDelta {
    /// To append.
    pub text: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// More of a tool's input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputJsonDelta {
    /// A piece of JSON text to append; the whole is JSON once the block stops.
    pub partial_json: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// More reasoning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkingDelta {
    /// To append.
    pub thinking: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The seal on the reasoning.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignatureDelta {
    /// Replaces what was there.
    pub signature: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One more citation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CitationsDelta {
    /// To append to the block's citations.
    pub citation: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Stop reason of an response.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StopDelta {
    /// The reason.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// The sequence that was met, if that is the reason.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub stop_sequence: Maybe<String>,
    /// Fields this version does not know (`stop_details`, `container`).
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Stop reason of the model.
    StopReason {
        /// It is done.
        EndTurn = "end_turn",
        /// It waits for tools.
        ToolUse = "tool_use",
        /// It ran into the output limit.
        MaxTokens = "max_tokens",
        /// It met a stop sequence.
        StopSequence = "stop_sequence",
        /// A long turn of server tools is paused; send it back as it is.
        PauseTurn = "pause_turn",
        /// It declines.
        Refusal = "refusal",
        /// The context is full.
        ModelContextWindowExceeded = "model_context_window_exceeded",
        /// A hook put the tool call off (only in results).
        ToolDeferred = "tool_deferred",
    }
}

/// A response of the Messages API, complete or partial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApiMessage {
    /// Id of the response.
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type", default)]
    pub kind: ApiMessageKind,
    /// Always the assistant.
    pub role: Role,
    /// The model that spoke; `<synthetic>` where the agent itself did.
    pub model: String,
    /// Its content.
    pub content: Vec<ContentBlock>,
    /// Stop reason; `null` until the end.
    #[serde(default)]
    pub stop_reason: Option<StopReason>,
    /// The sequence it stopped at.
    #[serde(default)]
    pub stop_sequence: Option<String>,
    /// Usage so far.
    #[serde(default)]
    pub usage: Usage,
    /// Fields this version does not know (`container`, `context_management`).
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Kind of a response object in the Messages API.
    #[derive(Default)]
    ApiMessageKind {
        /// A response.
        #[default]
        Message = "message",
    }
}

impl Default for ApiMessage {
    fn default() -> Self {
        Self {
            id: String::new(),
            kind: ApiMessageKind::Message,
            role: Role::Assistant,
            model: String::new(),
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            usage: Usage::default(),
            extra: Extra::new(),
        }
    }
}

/// Token usage of one or more responses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input that was neither read from nor written to the cache.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub input_tokens: Maybe<u64>,
    /// Input written to the cache.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub cache_creation_input_tokens: Maybe<u64>,
    /// Input read from the cache.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub cache_read_input_tokens: Maybe<u64>,
    /// Output.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub output_tokens: Maybe<u64>,
    /// Fields this version does not know (`service_tier`, `server_tool_use`, `cache_creation` …).
    #[serde(flatten)]
    pub extra: Extra,
}
