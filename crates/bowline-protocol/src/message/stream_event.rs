//! Frame around one event of a streamed model response.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId, ToolUseId},
    stream::StreamEvent,
};

/// One event of a streamed model response, for hosts that requested partial messages.
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
    /// On the start of a response: time to its first event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<u64>,
    /// The response this belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_message_id: Option<String>,
    /// Display of thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_display: Option<String>,
    /// An earlier response broke off; its blocks are void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abandoned_blocks: Option<AbandonedBlocks>,
    /// On the first frame of a turn: the prompt it responds to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<MessageUuid>,
    /// On the first frame of a turn: all prompts it responds to.
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

/// Blocks of a broken response, which are void.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AbandonedBlocks {
    /// The response.
    pub api_message_id: String,
    /// The first block that does not count.
    pub from_block_index: usize,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
