//! Request for the content of the context window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{extra::Extra, raw::RawJson, wire::open_enum};

/// Request for the content of the context window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetContextUsage {
    /// Level of detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<ContextDetail>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Level of detail.
    ContextDetail {
        /// As far as it is known.
        Summary = "summary",
        /// By asking the model's API.
        Full = "full",
    }
}

/// Content of the context window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// By category, free space included.
    pub categories: Vec<ContextCategory>,
    /// Tokens in use.
    pub total_tokens: u64,
    /// Token limit.
    pub max_tokens: u64,
    /// Context window of the model.
    pub raw_max_tokens: u64,
    /// Percentage in use.
    pub percentage: Number,
    /// The same as a picture made of squares.
    pub grid_rows: Vec<Vec<ContextSquare>>,
    /// The model.
    pub model: String,
    /// Files of instructions.
    pub memory_files: Vec<ContextFile>,
    /// Tools of MCP servers.
    pub mcp_tools: Vec<ContextMcpTool>,
    /// Kinds of subagents.
    pub agents: Vec<ContextAgent>,
    /// Whether the conversation is compacted before the context is full.
    pub is_auto_compact_enabled: bool,
    /// At how many tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_compact_threshold: Option<u64>,
    /// Last usage that the API reported.
    pub api_usage: Option<RawJson>,
    /// Instructions of MCP servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_instructions: Option<Vec<RawJson>>,
    /// Tools that are loaded on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deferred_builtin_tools: Option<RawJson>,
    /// Tools that are always there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_tools: Option<RawJson>,
    /// Parts of the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt_sections: Option<RawJson>,
    /// Slash commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slash_commands: Option<RawJson>,
    /// Skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<RawJson>,
    /// The conversation, by kind of message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_breakdown: Option<RawJson>,
    /// Fields this version does not know (`autocompactSource`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// One part of the context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextCategory {
    /// The part, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The part, for people.
    pub name: String,
    /// Length in tokens.
    pub tokens: u64,
    /// Color.
    pub color: String,
    /// Whether it is loaded on demand and not there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_deferred: Option<bool>,
    /// Whether it is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ContextKind>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Whether a part of the context is in use.
    ContextKind {
        /// It does.
        Used = "used",
        /// It is free.
        Free = "free",
        /// It is kept free.
        Buffer = "buffer",
        /// It is loaded on demand and not there now.
        Deferred = "deferred",
    }
}

/// One square of the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextSquare {
    /// Color.
    pub color: String,
    /// Whether something is there.
    pub is_filled: bool,
    /// What.
    pub category_name: String,
    /// Length in tokens.
    pub tokens: u64,
    /// Percentage of the context.
    pub percentage: Number,
    /// Fill level of this square, from 0 to 1.
    pub square_fullness: Number,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file of instructions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFile {
    /// The file.
    pub path: String,
    /// Owner.
    pub r#type: String,
    /// Length in tokens.
    pub tokens: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextMcpTool {
    /// The tool.
    pub name: String,
    /// The server.
    pub server_name: String,
    /// Length of its definition, in tokens.
    pub tokens: u64,
    /// Whether it is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_loaded: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A subagent type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextAgent {
    /// Its name.
    pub agent_type: String,
    /// Source of its definition.
    pub source: String,
    /// Length of its description, in tokens.
    pub tokens: u64,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
