//! Another model takes over, or would have to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId},
    maybe::Maybe,
    wire::open_enum,
};

/// The model cannot be had; another takes over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFallbackMessage {
    /// Why, as in `overloaded`.
    pub trigger: String,
    /// The requested model.
    pub original_model: String,
    /// The model that takes over.
    pub fallback_model: String,
    /// The same, for people.
    pub content: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The model refused; another one takes over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRefusalFallbackMessage {
    /// Always `refusal`.
    pub trigger: String,
    /// Reaction.
    pub direction: FallbackDirection,
    /// For how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<FallbackScope>,
    /// The model that refused.
    pub original_model: String,
    /// The model that takes over.
    pub fallback_model: String,
    /// The API's name for the request.
    pub request_id: Option<String>,
    /// Category of the refusal.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub api_refusal_category: Maybe<String>,
    /// Reason of the refusal.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub api_refusal_explanation: Maybe<String>,
    /// Frames that do not count any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retracted_message_uuids: Option<Vec<MessageUuid>>,
    /// The prompt it refused.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub refused_user_message_uuid: Maybe<MessageUuid>,
    /// The same, for people.
    pub content: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Reaction to a refusal.
    FallbackDirection {
        /// The request is sent to the fallback model.
        Retry = "retry",
        /// The request is sent to the first model again (older agents).
        Revert = "revert",
        /// The other model stays (older agents).
        Sticky = "sticky",
    }
}

open_enum! {
    /// For how long another model takes over.
    FallbackScope {
        /// For the rest of the session.
        Session = "session",
        /// For this response.
        Local = "local",
    }
}

/// The model refused, and there is no fallback.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRefusalNoFallbackMessage {
    /// The model that refused.
    pub original_model: String,
    /// The API's name for the request.
    pub request_id: Option<String>,
    /// Category of the refusal.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub api_refusal_category: Maybe<String>,
    /// Reason of the refusal.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub api_refusal_explanation: Maybe<String>,
    /// The prompt it refused.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub refused_user_message_uuid: Maybe<MessageUuid>,
    /// The same, for people.
    pub content: String,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
