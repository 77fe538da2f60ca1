//! Hook input about sessions, prompts, compaction and models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{compact::CompactTrigger, extra::Extra, maybe::Maybe, wire::open_enum};

/// A prompt was accepted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserPromptSubmitInput {
    /// Its text.
    pub prompt: String,
    /// Source of the prompt: `user`, `sdk`, `system`, a wake-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A slash command or an MCP prompt becomes a prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserPromptExpansionInput {
    /// `slash_command` or `mcp_prompt`.
    pub expansion_type: String,
    /// The command.
    pub command_name: String,
    /// Its arguments.
    pub command_args: String,
    /// Source of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_source: Option<String>,
    /// The prompt as typed.
    pub prompt: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A session starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStartInput {
    /// How.
    pub source: SessionStartSource,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The title of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
    /// Age of a resumed conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_since_last_response: Option<Number>,
    /// Length in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Whether its prompt cache is probably gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_likely_expired: Option<bool>,
    /// Cost of writing the prompt cache again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cache_write_usd: Option<Number>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Cause of a session start.
    SessionStartSource {
        /// A new session.
        Startup = "startup",
        /// From a transcript.
        Resume = "resume",
        /// After the conversation was cleared.
        Clear = "clear",
        /// After the conversation was compacted.
        Compact = "compact",
        /// As a copy of another.
        Fork = "fork",
    }
}

/// A session ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEndInput {
    /// Why.
    pub reason: SessionEndReason,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Reason of a session end.
    SessionEndReason {
        /// The conversation was cleared.
        Clear = "clear",
        /// Another session is resumed.
        Resume = "resume",
        /// The user logged out.
        Logout = "logout",
        /// The user left the prompt.
        PromptInputExit = "prompt_input_exit",
        /// Anything else.
        Unspecified = "other",
    }
}

/// The conversation is about to be compacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreCompactInput {
    /// Trigger.
    pub trigger: CompactTrigger,
    /// Instructions of the user.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub custom_instructions: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The conversation was compacted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PostCompactInput {
    /// Trigger.
    pub trigger: CompactTrigger,
    /// Summary.
    pub compact_summary: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The model is about to change, or has changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSwitchInput {
    /// The model before.
    pub from_model: String,
    /// The model after, resolved.
    pub to_model: String,
    /// The requested name; null for the default.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub requested_model: Maybe<String>,
    /// Source of the request: `command`, `picker`, `sdk`, `auto`, `resume`.
    pub source: String,
    /// Length of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Whether the prompt cache of the old model is warm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_warm: Option<bool>,
    /// Lifetime of the prompt cache, as in `5m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_ttl: Option<String>,
    /// Cost of writing the prompt cache again.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub estimated_cache_write_usd: Maybe<Number>,
    /// Source of the price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pricing: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The user is notified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationInput {
    /// The text.
    pub message: String,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its kind.
    pub notification_type: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Lines of the assistant's text are ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageDisplayInput {
    /// The turn.
    pub turn_id: String,
    /// The message.
    pub message_id: String,
    /// Number of the batch within the message.
    pub index: u64,
    /// Whether this is the last batch.
    pub r#final: bool,
    /// The lines.
    pub delta: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A workspace is prepared or maintained.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupInput {
    /// `init` or `maintenance`.
    pub trigger: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
