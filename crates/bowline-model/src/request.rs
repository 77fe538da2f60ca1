//! Model request, in the terms of the Messages API.
//!
//! Prompt caching is no field of the request: a provider that needs marks sets
//! them itself, at the same positions every time.

use std::sync::Arc;

use bowline_protocol::{ContentBlock, Effort, Extra, RawJson, Role, TextBlock};
use serde::Serialize;

/// One request to a model.
///
/// Messages and tools are shared, because the next request repeats nearly all of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelRequest {
    /// The model, as its provider calls it (without `openai/`).
    pub model: String,
    /// The system prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<TextBlock>,
    /// The conversation so far; the last message is the user's.
    pub messages: Vec<Arc<ModelMessage>>,
    /// The tools the model may call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Arc<ToolDefinition>>,
    /// Whether it may, must or must not call one; `None` leaves it to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Output limit in tokens; `None` is that of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Whether it reasons first; `None` is the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Effort; `None` is the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Texts at which it stops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Beta features of the API, beyond those the provider was set up with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub betas: Vec<String>,
    /// Metadata about the caller.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// Delivery of the response.
    pub delivery: Delivery,
    /// More fields of the request body, sent as they are.
    #[serde(skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

impl ModelRequest {
    /// A request with nothing but its model.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            system: Vec::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            max_tokens: None,
            thinking: None,
            effort: None,
            stop_sequences: Vec::new(),
            betas: Vec::new(),
            metadata: Metadata::default(),
            delivery: Delivery::default(),
            extra: Extra::new(),
        }
    }
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelMessage {
    /// Role.
    pub role: Role,
    /// Content.
    pub content: Vec<ContentBlock>,
}

impl ModelMessage {
    /// A user message or tool result.
    pub fn user(content: Vec<ContentBlock>) -> Self {
        Self { role: Role::User, content }
    }

    /// An assistant message.
    pub fn assistant(content: Vec<ContentBlock>) -> Self {
        Self { role: Role::Assistant, content }
    }
}

/// A tool the model may call.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// Description for the model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The JSON schema of its input; `null` for a tool the API itself runs.
    #[serde(skip_serializing_if = "is_null")]
    pub input_schema: RawJson,
    /// More fields, sent as they are (`strict`, `defer_loading`, the `type` of a server tool).
    #[serde(flatten)]
    pub extra: Extra,
}

fn is_null(json: &RawJson) -> bool {
    json.get() == "null"
}

/// Whether the model may, must or must not call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolChoice {
    /// It may.
    Auto {
        /// At most one call in a response.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    /// It must call some tool.
    Any {
        /// At most one call in a response.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    /// It must call this one.
    Tool {
        /// The tool.
        name: String,
        /// At most one call in a response.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    /// It must not.
    None,
}

/// Thinking mode of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Thinking {
    /// As much as it finds useful.
    Adaptive {
        /// Display.
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<ThinkingDisplay>,
    },
    /// Up to a budget.
    Enabled {
        /// At least 1024 and less than `max_tokens`.
        budget_tokens: u64,
        /// Display.
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<ThinkingDisplay>,
    },
    /// Not at all.
    Disabled,
}

/// Display of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Only its seal.
    Omitted,
}

/// Metadata about the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// An opaque id of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
}

impl Metadata {
    fn is_empty(&self) -> bool {
        self.user_id.is_none()
    }
}

/// Delivery of the response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Event by event.
    #[default]
    Stream,
    /// In one piece: the way out when a server's stream cannot be read.
    Whole,
}
