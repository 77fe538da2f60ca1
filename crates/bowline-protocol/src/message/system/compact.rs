//! Compaction boundaries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    compact::CompactTrigger,
    extra::Extra,
    id::{MessageUuid, SessionId},
    maybe::Maybe,
};

/// Compaction boundary: everything before it is now a summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactBoundaryMessage {
    /// Details.
    pub compact_metadata: CompactMetadata,
    /// The message the conversation goes on from.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub logical_parent_uuid: Maybe<MessageUuid>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Details of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactMetadata {
    /// Trigger.
    pub trigger: CompactTrigger,
    /// Tokens before.
    pub pre_tokens: u64,
    /// Tokens after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_tokens: Option<u64>,
    /// Tokens dropped, all compactions together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cumulative_dropped_tokens: Option<u64>,
    /// Duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The run of messages that stayed as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserved_segment: Option<PreservedSegment>,
    /// The messages that stayed as they were, one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserved_messages: Option<PreservedMessages>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A run of messages that stayed as they were.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreservedSegment {
    /// The first.
    pub head_uuid: MessageUuid,
    /// The message they now follow.
    pub anchor_uuid: MessageUuid,
    /// The last.
    pub tail_uuid: MessageUuid,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Messages that stayed as they were. The first now follows the anchor, each other its predecessor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PreservedMessages {
    /// The message they now follow.
    pub anchor_uuid: MessageUuid,
    /// The messages, in order.
    pub uuids: Vec<MessageUuid>,
    /// Those, and all that a host was shown of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_uuids: Option<Vec<MessageUuid>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
