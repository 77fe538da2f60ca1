//! Assistant messages: model responses, and errors in their form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{AgentId, MessageUuid, SessionId, ToolUseId},
    raw::RawJson,
    stream::ApiMessage,
    wire::open_enum,
};

/// One finished block of a model response. The frames of one response share `message.id`; its stop reason
/// and final usage come with the turn's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantMessage {
    /// The response, with this one block.
    pub message: ApiMessage,
    /// Inside a subagent: the call that started it.
    pub parent_tool_use_id: Option<ToolUseId>,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// The API's name for the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When the block was finished (ISO 8601).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Error of a failed response; `message` describes it for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<AssistantError>,
    /// On the first frame of a turn: the prompt it responds to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<MessageUuid>,
    /// On the first frame of a turn: all prompts it responds to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// The turn continues one that a restart had interrupted; why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_reason: Option<String>,
    /// The turn continues one that was interrupted while the model was thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_from_incomplete_thinking: Option<bool>,
    /// Earlier frames that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<Vec<MessageUuid>>,
    /// An interrupt cut it short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<bool>,
    /// Inside a subagent: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Inside a subagent: what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Inside a subagent: what it was sent to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// Display of each tool call in `message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_meta: Option<Vec<ToolUseMeta>>,
    /// Thinking time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_duration_ms: Option<u64>,
    /// Display of thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_display: Option<String>,
    /// `message` is about a failure of the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_api_error_message: Option<bool>,
    /// The HTTP status of that failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_status: Option<u16>,
    /// Error type of the API, as in `overloaded_error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_type: Option<String>,
    /// Error code of the agent, as in `connection_failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error: Option<String>,
    /// Parameters of the error text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_params: Option<RawJson>,
    /// The response that the model refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_message_id: Option<String>,
    /// The output of a slash command as it stands in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_command_source: Option<String>,
    /// The slash command that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_command_run: Option<LocalCommandRun>,
    /// Outcome of the slash command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_command_outcome: Option<RawJson>,
    /// Content of the context window, as numbers, beside the text that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<RawJson>,
    /// Usage so far, as numbers, beside the text that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_report: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Cause of a failed response.
    #[derive(Default)]
    AssistantError {
        /// The credentials are wrong, or not good for this.
        AuthenticationFailed = "authentication_failed",
        /// The organization may not use this.
        OauthOrgNotAllowed = "oauth_org_not_allowed",
        /// The account is on hold.
        AccountOnHold = "account_on_hold",
        /// The account must be verified first.
        VerificationRequired = "verification_required",
        /// Something is to be paid first.
        BillingError = "billing_error",
        /// Too much in too short a time.
        RateLimit = "rate_limit",
        /// The API is overloaded.
        Overloaded = "overloaded",
        /// The API does not accept the request, or the model refused.
        InvalidRequest = "invalid_request",
        /// There is no such model.
        ModelNotFound = "model_not_found",
        /// The API failed.
        ServerError = "server_error",
        /// Anything else.
        #[default]
        Unknown = "unknown",
        /// The response exceeded the output limit repeatedly.
        MaxOutputTokens = "max_output_tokens",
        /// The cloud provider does not accept the credentials.
        CloudCredentialError = "cloud_credential_error",
    }
}

/// Display of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUseMeta {
    /// The call.
    pub id: ToolUseId,
    /// The tool's name for people.
    pub display_name: String,
    /// The MCP server's name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_display_name: Option<String>,
    /// The tool's name on its MCP server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A slash command that was run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocalCommandRun {
    /// Its name without the slash.
    pub command: String,
    /// Arguments.
    pub args: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
