//! Chunks of chat-completions servers, read as leniently as they differ.

use serde::Deserialize;
use serde_json::Value;

/// A chunk of a stream, or a whole response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) choices: Option<Vec<Choice>>,
    pub(super) usage: Option<TokenCounts>,
    /// An error inside a stream: an object, or only its text.
    pub(super) error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    pub(super) index: Option<u64>,
    /// In a stream.
    pub(super) delta: Option<MessagePiece>,
    /// In a whole response.
    pub(super) message: Option<MessagePiece>,
    pub(super) finish_reason: Option<String>,
}

/// A message, or a piece of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessagePiece {
    /// A text, or parts with texts.
    content: Option<Value>,
    /// Reasoning, as llama.cpp, vLLM and DeepSeek name it.
    reasoning_content: Option<String>,
    /// Reasoning, as Ollama and OpenRouter name it.
    reasoning: Option<Value>,
    refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<CallPiece>>,
    /// Predecessor of `tool_calls`.
    pub(super) function_call: Option<FunctionPiece>,
}

impl MessagePiece {
    pub(super) fn text(&self) -> Option<String> {
        let text = match self.content.as_ref()? {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn thought(&self) -> Option<&str> {
        let other = || self.reasoning.as_ref().and_then(Value::as_str);
        self.reasoning_content.as_deref().or_else(other).filter(|text| !text.is_empty())
    }

    pub(super) fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref().filter(|text| !text.is_empty())
    }
}

/// A tool call, whole or a piece of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallPiece {
    pub(super) index: Option<u64>,
    pub(super) id: Option<String>,
    pub(super) function: Option<FunctionPiece>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionPiece {
    pub(super) name: Option<String>,
    /// Text to append, or the whole input as an object.
    arguments: Option<Value>,
}

impl FunctionPiece {
    pub(super) fn arguments(&self) -> String {
        match &self.arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        }
    }
}

/// Token counts; what a server leaves out is unknown.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenCounts {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) prompt_tokens_details: Option<InputDetails>,
    pub(super) completion_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct InputDetails {
    pub(super) cached_tokens: Option<u64>,
    pub(super) cache_write_tokens: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputDetails {
    pub(super) reasoning_tokens: Option<u64>,
}
