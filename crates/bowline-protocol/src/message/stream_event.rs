//! A frame around one event of a streamed answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId, ToolUseId},
    stream::StreamEvent,
};

/// One event of a streamed answer, for hosts that asked for partial messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEventMessage {
    /// The event as the API sent it.
    pub event: StreamEvent,
    /// Inside a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// On the start of an answer: how long its first event took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<u64>,
    /// The answer this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_message_id: Option<String>,
    /// How the thinking is meant to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_display: Option<String>,
    /// An earlier answer broke off; what came of it is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned_blocks: Option<AbandonedBlocks>,
    /// On the first frame of a turn: the prompt it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<MessageUuid>,
    /// On the first frame of a turn: all prompts it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// The turn continues one that a restart had interrupted; why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_reason: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl StreamEventMessage {
    /// An event of the main conversation.
    pub fn new(event: StreamEvent, uuid: MessageUuid, session_id: SessionId) -> Self {
        Self {
            event,
            parent_tool_use_id: None,
            uuid,
            session_id,
            ttft_ms: None,
            api_message_id: None,
            thinking_display: None,
            abandoned_blocks: None,
            user_message_uuid: None,
            user_message_uuids: None,
            resume_reason: None,
            extra: Extra::new(),
        }
    }
}

/// The part of a broken answer that does not count.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbandonedBlocks {
    /// The answer.
    pub api_message_id: String,
    /// The first block that does not count.
    pub from_block_index: usize,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
