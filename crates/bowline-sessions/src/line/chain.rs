//! Lines that are part of the conversation: each names the line before it.

use bowline_protocol::{
    AgentId, ApiMessage, Content, ContentBlock, DeferredToolUse, Extra, MessageUuid, RawJson, Role,
    SessionId, ToolUseId,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Fields of all lines of the conversation: position and origin.
///
/// A [`TranscriptWriter`](crate::TranscriptWriter) fills in what is empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainFields {
    /// The line before; `null` begins a conversation.
    #[serde(default)]
    pub parent_uuid: Option<MessageUuid>,
    /// In the boundary of a compaction: the line before, which the conversation does not go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_parent_uuid: Option<MessageUuid>,
    /// Whether it belongs to a subagent.
    #[serde(default)]
    pub is_sidechain: bool,
    /// Names the line.
    #[serde(default)]
    pub uuid: MessageUuid,
    /// When it was written. Readers skip a session whose lines have none.
    #[serde(default)]
    pub timestamp: String,
    /// The session.
    #[serde(default)]
    pub session_id: SessionId,
    /// The subagent, in its own transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// The working directory.
    #[serde(default)]
    pub cwd: String,
    /// The version of the program that wrote the line.
    #[serde(default)]
    pub version: String,
    /// The branch, `HEAD` without one.
    #[serde(default)]
    pub git_branch: String,
    /// `external`.
    #[serde(default)]
    pub user_type: String,
    /// Through which door the session was started (`sdk-py`, `sdk-ts`, `sdk-cli`, `cli`).
    #[serde(default)]
    pub entrypoint: String,
    /// In a fork: the line this is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

/// The line that a line of a fork is a copy of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// The session it is in.
    pub session_id: SessionId,
    /// Its name there.
    pub message_uuid: MessageUuid,
}

/// A prompt, a tool's result, or the summary of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserLine {
    /// Its position.
    #[serde(flatten)]
    pub chain: ChainFields,
    /// Content, as the model sees it.
    pub message: UserBody,
    /// Added by the agent, not by the user; not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_meta: bool,
    /// It stands for everything before the last compaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compact_summary: bool,
    /// Shown in the transcript only, not in the conversation on the screen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_visible_in_transcript_only: bool,
    /// The mode a prompt was sent in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Source of a prompt (`sdk`, `system`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_source: Option<String>,
    /// Result of a tool, in its own shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<RawJson>,
    /// The line with the call of this result.
    #[serde(rename = "sourceToolAssistantUUID", default, skip_serializing_if = "Option::is_none")]
    pub source_tool_assistant_uuid: Option<MessageUuid>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Body of a user line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserBody {
    /// Always the user.
    pub role: Role,
    /// Content.
    pub content: Content,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Default for UserBody {
    fn default() -> Self {
        Self { role: Role::User, content: Content::default(), extra: Extra::new() }
    }
}

impl UserLine {
    /// Creates a line with `content`.
    pub fn new(content: impl Into<Content>) -> Self {
        Self {
            message: UserBody { content: content.into(), ..UserBody::default() },
            ..Self::default()
        }
    }
}

/// One block of a response. The lines of one response share its `message.id` and follow one another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantLine {
    /// Its position.
    #[serde(flatten)]
    pub chain: ChainFields,
    /// The response with this one block, its final stop reason and usage.
    pub message: ApiMessage,
    /// The API's name for the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Index of the block in the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_block_index: Option<u64>,
    /// An API error, shown as an assistant message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_api_error_message: bool,
    /// Error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RawJson>,
    /// Lines that this response replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes_uuids: Vec<MessageUuid>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl AssistantLine {
    /// The lines of a response, one for each block.
    pub fn split(response: &ApiMessage, request_id: Option<&str>) -> Vec<Self> {
        let shell = ApiMessage { content: Vec::new(), ..response.clone() };
        let blocks = response.content.iter().zip(0..);
        blocks
            .map(|(block, index)| Self {
                message: ApiMessage { content: vec![block.clone()], ..shell.clone() },
                request_id: request_id.map(str::to_owned),
                api_block_index: Some(index),
                ..Self::default()
            })
            .collect()
    }
}

/// Context that the agent adds by itself. It is a link of the chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachmentLine {
    /// Its position.
    #[serde(flatten)]
    pub chain: ChainFields,
    /// The attachment, distinguished by its `type`.
    pub attachment: RawJson,
    /// Its text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<RawJson>,
    /// As whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_role: Option<Role>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kind of an attachment that notes a call which a hook has put off.
const DEFERRED: &str = "hook_deferred_tool";

impl AttachmentLine {
    /// Notes that a hook deferred a call until the session is resumed.
    pub fn deferred(call: &DeferredToolUse) -> Self {
        let attachment = RawJson::from(json!({
            "type": DEFERRED,
            "toolUseID": call.id,
            "toolName": call.name,
            "toolInput": call.input,
            "hookName": "settings",
            "hookEvent": "PreToolUse",
        }));
        Self { attachment, ..Self::default() }
    }

    /// The call that a hook has put off, if that is what this notes.
    pub fn deferred_call(&self) -> Option<DeferredToolUse> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct PutOff {
            #[serde(rename = "toolUseID")]
            tool_use_id: ToolUseId,
            tool_name: String,
            tool_input: RawJson,
        }
        if self.kind()? != DEFERRED {
            return None;
        }
        let PutOff { tool_use_id: id, tool_name: name, tool_input: input } =
            self.attachment.parse().ok()?;
        Some(DeferredToolUse { id, name, input, ..DeferredToolUse::default() })
    }

    /// Kind of attachment, as in `hook_additional_context`.
    pub fn kind(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "type")]
            kind: String,
        }
        self.attachment.parse::<Kind>().ok().map(|Kind { kind }| kind)
    }

    /// Its text for the model, as blocks, if it has the usual shape.
    pub fn rendered_blocks(&self) -> Vec<ContentBlock> {
        self.rendered.as_ref().and_then(|blocks| blocks.parse().ok()).unwrap_or_default()
    }
}

/// A note in the conversation; the boundary of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemLine {
    /// Its position.
    #[serde(flatten)]
    pub chain: ChainFields,
    /// Its subtype (`informational`, `local_command`, `api_error`, `stop_hook_summary`,
    /// [`compact_boundary`](Self::COMPACT_BOUNDARY)).
    pub subtype: String,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Level (`info`, `warning`, `error`, `suggestion`, `notice`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_meta: Option<bool>,
    /// Details of a compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_metadata: Option<CompactMetadata>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl SystemLine {
    /// The subtype of a compaction's boundary.
    pub const COMPACT_BOUNDARY: &str = "compact_boundary";

    /// The boundary of a compaction. Its first child is the summary.
    pub fn compact_boundary(metadata: CompactMetadata) -> Self {
        Self {
            subtype: Self::COMPACT_BOUNDARY.to_owned(),
            content: Some("Conversation compacted".to_owned()),
            level: Some("info".to_owned()),
            is_meta: Some(false),
            compact_metadata: Some(metadata),
            ..Self::default()
        }
    }
}

/// Details of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactMetadata {
    /// `manual` or `auto`.
    pub trigger: String,
    /// Tokens before.
    #[serde(default)]
    pub pre_tokens: u64,
    /// Tokens after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// Duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens dropped by all compactions so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cumulative_dropped_tokens: Option<u64>,
    /// The lines before the boundary that stay in the conversation, after the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserved_segment: Option<PreservedSegment>,
    /// The same, one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserved_messages: Option<PreservedMessages>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A stretch of the old conversation that a compaction keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreservedSegment {
    /// Its first line.
    pub head_uuid: MessageUuid,
    /// The line it is put after: the summary.
    pub anchor_uuid: MessageUuid,
    /// Its last line.
    pub tail_uuid: MessageUuid,
}

/// The lines of the old conversation that a compaction keeps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreservedMessages {
    /// The line they are put after: the summary.
    pub anchor_uuid: MessageUuid,
    /// The lines that are messages, in order.
    #[serde(default)]
    pub uuids: Vec<MessageUuid>,
    /// All the lines, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all_uuids: Vec<MessageUuid>,
}
