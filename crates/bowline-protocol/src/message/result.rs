//! Result message: the end of a turn.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ModelUsage, Origin, SubagentStats};
use crate::{
    extra::Extra,
    id::{MessageUuid, SessionId, ToolUseId},
    maybe::Maybe,
    raw::RawJson,
    stream::{StopReason, Usage},
    wire::open_enum,
};

/// The end of a turn. Exactly one per turn, after the turn's other frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultMessage {
    /// Outcome.
    pub subtype: ResultSubtype,
    /// Whether it failed. A turn that an API error ended is a `success` with this set.
    pub is_error: bool,
    /// Final text of the response, or of the error; only of a `success`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// What went wrong; only where the subtype is not `success`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<String>>,
    /// Structured output, as the host requested it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub structured_output: Maybe<RawJson>,
    /// Reason of the end of the turn. Absent where no turn ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_reason: Option<TerminalReason>,
    /// Last stop reason.
    pub stop_reason: Option<StopReason>,
    /// Duration of the turn.
    pub duration_ms: u64,
    /// Time in API requests, all turns together.
    pub duration_api_ms: u64,
    /// Number of requests to the model.
    pub num_turns: u64,
    /// Names this frame.
    pub uuid: MessageUuid,
    /// The session.
    pub session_id: SessionId,
    /// Cost of the session so far.
    #[serde(default)]
    pub total_cost_usd: f64,
    /// The tokens of this turn, without subagents.
    #[serde(default)]
    pub usage: Usage,
    /// The tokens of the session so far, by model.
    #[serde(rename = "modelUsage", default)]
    pub model_usage: BTreeMap<String, ModelUsage>,
    /// The tokens since the last result, by model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
    /// The calls of this turn that were not allowed.
    #[serde(default)]
    pub permission_denials: Vec<PermissionDenial>,
    /// Statistics of subagents of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_stats: Option<SubagentStats>,
    /// Number of responses that safeguards stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safety_stops: Option<u64>,
    /// Number of the result in the process, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_index: Option<u64>,
    /// Queued prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_turn_count: Option<u64>,
    /// The prompt of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuid: Option<MessageUuid>,
    /// All prompts of this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_message_uuids: Option<Vec<MessageUuid>>,
    /// The turn continued one that a restart had interrupted; why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_reason: Option<String>,
    /// Origin of the turn, if not simply the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The slash command that ran instead of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_command: Option<String>,
    /// The tool call that a hook put off; the turn can be resumed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_tool_use: Option<DeferredToolUse>,
    /// The HTTP status, if the API failed.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub api_error_status: Maybe<u16>,
    /// Error type of the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error_type: Option<String>,
    /// Error code of the agent, as in `connection_failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_error: Option<String>,
    /// Reason of a failed start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub startup_failure_reason: Option<StartupFailureReason>,
    /// The configuration file that kept the agent from starting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_config_file: Option<String>,
    /// Whether fast mode is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_mode_state: Option<FastModeState>,
    /// Why fast mode is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_mode_disabled_reason: Option<String>,
    /// When the credentials will expire (ISO 8601).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_expires_at: Option<String>,
    /// From the start of the turn to the first text of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<u64>,
    /// From the start of the turn to the first event of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttft_stream_ms: Option<u64>,
    /// From the start of the turn to the first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_request_ms: Option<u64>,
    /// From the start of the turn to the first frame with content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_content_frame_ms: Option<u64>,
    /// When the first request was sent (milliseconds since 1970).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sent_wall_ms: Option<u64>,
    /// When the process began (milliseconds since 1970).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_origin_ms: Option<u64>,
    /// From the start of the process to the first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_to_request_from_spawn_ms: Option<u64>,
    /// The input tokens of the turn's first request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_request_input_tokens: Option<u64>,
    /// Those of them that came from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_request_cache_read_input_tokens: Option<u64>,
    /// Whether a process that was started ahead took the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_spare_claimed: Option<bool>,
    /// Fields this version does not know (`first_stream_post_…`, `first_text_post_…`).
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Outcome of a turn.
    #[derive(Default)]
    ResultSubtype {
        /// It was played to its end, or an API error ended it.
        #[default]
        Success = "success",
        /// It was interrupted, or the agent failed.
        ErrorDuringExecution = "error_during_execution",
        /// The limit of requests to the model is reached.
        ErrorMaxTurns = "error_max_turns",
        /// It cost as much as allowed.
        ErrorMaxBudgetUsd = "error_max_budget_usd",
        /// The model never produced valid structured output.
        ErrorMaxStructuredOutputRetries = "error_max_structured_output_retries",
    }
}

open_enum! {
    /// Reason of the end of a turn, finer than [`ResultSubtype`].
    TerminalReason {
        /// The model was done.
        Completed = "completed",
        /// The limit of requests to the model is reached.
        MaxTurns = "max_turns",
        /// It cost as much as allowed.
        BudgetExhausted = "budget_exhausted",
        /// Interrupted while the model spoke.
        AbortedStreaming = "aborted_streaming",
        /// Interrupted while tools ran.
        AbortedTools = "aborted_tools",
        /// The API failed.
        ApiError = "api_error",
        /// The model failed.
        ModelError = "model_error",
        /// An image was not accepted.
        ImageError = "image_error",
        /// The conversation no longer fits the model.
        PromptTooLong = "prompt_too_long",
        /// A limit that lets nothing through.
        BlockingLimit = "blocking_limit",
        /// The context filled up again right after each compaction.
        RapidRefillBreaker = "rapid_refill_breaker",
        /// The model kept calling tools in a broken way.
        MalformedToolUseExhausted = "malformed_tool_use_exhausted",
        /// A stop hook ended it.
        StopHookPrevented = "stop_hook_prevented",
        /// A hook ended it.
        HookStopped = "hook_stopped",
        /// A hook put a tool call off.
        ToolDeferred = "tool_deferred",
        /// A tool call that was put off can no longer be made.
        ToolDeferredUnavailable = "tool_deferred_unavailable",
        /// It went to the background.
        BackgroundRequested = "background_requested",
        /// The model never produced valid structured output.
        StructuredOutputRetryExhausted = "structured_output_retry_exhausted",
        /// It could not begin.
        TurnSetupFailed = "turn_setup_failed",
    }
}

open_enum! {
    /// Reason of a failed start.
    StartupFailureReason {
        /// An API key is set where an organization is required.
        OrgPinApiKeyConflict = "org_pin_api_key_conflict",
        /// The provider is not allowed.
        ProviderNotAllowed = "provider_not_allowed",
        /// The organization could not be verified.
        OrgVerifyFailed = "org_verify_failed",
        /// It is another organization than required.
        OrgPinMismatch = "org_pin_mismatch",
        /// The managed settings are not valid.
        ManagedSettingsInvalid = "managed_settings_invalid",
        /// Required remote settings could not be fetched.
        RemoteSettingsRequiredUnavailable = "remote_settings_required_unavailable",
        /// The gateway wants a sign-in.
        GatewaySigninRequired = "gateway_signin_required",
        /// The gateway denies access.
        GatewayAccessDenied = "gateway_access_denied",
        /// The proxy's address is not valid.
        ProxyInvalid = "proxy_invalid",
        /// The temporary folder cannot be used.
        TempDirUnusable = "temp_dir_unusable",
        /// The working directory is not there.
        CwdUnavailable = "cwd_unavailable",
        /// There is no shell.
        ShellToolMissing = "shell_tool_missing",
        /// A background process holds the session.
        SessionHeldByBackground = "session_held_by_background",
        /// The session's worktree may not be resumed.
        WorktreeResumeRefused = "worktree_resume_refused",
        /// The session's worktree could not be verified.
        WorktreeUnverified = "worktree_unverified",
        /// The agent is too old.
        CliVersionTooOld = "cli_version_too_old",
        /// Permissions may not be bypassed as root.
        BypassRoot = "bypass_root",
        /// The organization's required configuration could not be fetched.
        OrgConfigRequiredUnavailable = "org_config_required_unavailable",
        /// The organization's configuration was refused.
        OrgConfigRefused = "org_config_refused",
        /// A sandbox is required and not available.
        SandboxRequiredUnavailable = "sandbox_required_unavailable",
        /// Something came before `initialize`.
        InitializeNotFirst = "initialize_not_first",
        /// A configuration file is not valid.
        ConfigFileInvalid = "config_file_invalid",
        /// The managed settings did not arrive.
        ManagedSettingsNotDelivered = "managed_settings_not_delivered",
    }
}

/// A tool call that was not allowed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDenial {
    /// The tool.
    pub tool_name: String,
    /// The call.
    pub tool_use_id: ToolUseId,
    /// Its arguments.
    pub tool_input: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tool call that a hook put off.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeferredToolUse {
    /// The call.
    pub id: ToolUseId,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Whether fast mode is on.
    FastModeState {
        /// It is off.
        Off = "off",
        /// It is off for a while.
        Cooldown = "cooldown",
        /// It is on.
        On = "on",
    }
}
