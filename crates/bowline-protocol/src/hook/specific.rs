//! Hook output that is specific to one event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    hook::HookEvent,
    permission::PermissionAllow,
    raw::RawJson,
    wire::{Key, Tags, open_enum, read_by_tag, read_closed},
};

/// Hook output that is specific to one event.
///
/// It must be of the event that the hook was called for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "hookEventName")]
#[non_exhaustive]
pub enum HookSpecificOutput {
    /// Before a tool runs.
    PreToolUse(PreToolUseOutput),
    /// After a tool succeeded.
    PostToolUse(PostToolUseOutput),
    /// After a tool failed.
    PostToolUseFailure(ContextOutput),
    /// After a batch of tool calls.
    PostToolBatch(ContextOutput),
    /// The user is notified.
    Notification(ContextOutput),
    /// A prompt was accepted.
    UserPromptSubmit(UserPromptSubmitOutput),
    /// A command becomes a prompt.
    UserPromptExpansion(UserPromptExpansionOutput),
    /// A session starts.
    SessionStart(SessionStartOutput),
    /// The main agent is about to finish.
    Stop(ContextOutput),
    /// A subagent starts.
    SubagentStart(ContextOutput),
    /// A subagent is about to finish.
    SubagentStop(ContextOutput),
    /// Before a change of model.
    PreModelSwitch(PreModelSwitchOutput),
    /// After a change of model.
    PostModelSwitch(ContextOutput),
    /// A permission request is about to be sent.
    PermissionRequest(PermissionRequestOutput),
    /// The `auto` mode refused a call.
    PermissionDenied(PermissionDeniedOutput),
    /// Preparation or maintenance.
    Setup(ContextOutput),
    /// An MCP server requests input from the user.
    Elicitation(ElicitationOutput),
    /// The user responded to an MCP server.
    ElicitationResult(ElicitationOutput),
    /// A worktree is wanted.
    WorktreeCreate(WorktreeCreateOutput),
    /// The working directory changed.
    CwdChanged(WatchPathsOutput),
    /// A watched file changed.
    FileChanged(WatchPathsOutput),
    /// Lines are ready to be shown.
    MessageDisplay(MessageDisplayOutput),
    /// Output for an event this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(HookSpecificOutput, HookEventName, {
    "PreToolUse" => PreToolUse,
    "PostToolUse" => PostToolUse,
    "PostToolUseFailure" => PostToolUseFailure,
    "PostToolBatch" => PostToolBatch,
    "Notification" => Notification,
    "UserPromptSubmit" => UserPromptSubmit,
    "UserPromptExpansion" => UserPromptExpansion,
    "SessionStart" => SessionStart,
    "Stop" => Stop,
    "SubagentStart" => SubagentStart,
    "SubagentStop" => SubagentStop,
    "PreModelSwitch" => PreModelSwitch,
    "PostModelSwitch" => PostModelSwitch,
    "PermissionRequest" => PermissionRequest,
    "PermissionDenied" => PermissionDenied,
    "Setup" => Setup,
    "Elicitation" => Elicitation,
    "ElicitationResult" => ElicitationResult,
    "WorktreeCreate" => WorktreeCreate,
    "CwdChanged" => CwdChanged,
    "FileChanged" => FileChanged,
    "MessageDisplay" => MessageDisplay,
});

impl HookSpecificOutput {
    /// The event.
    pub fn event_name(&self) -> HookEvent {
        match self {
            Self::PreToolUse(_) => HookEvent::PreToolUse,
            Self::PostToolUse(_) => HookEvent::PostToolUse,
            Self::PostToolUseFailure(_) => HookEvent::PostToolUseFailure,
            Self::PostToolBatch(_) => HookEvent::PostToolBatch,
            Self::Notification(_) => HookEvent::Notification,
            Self::UserPromptSubmit(_) => HookEvent::UserPromptSubmit,
            Self::UserPromptExpansion(_) => HookEvent::UserPromptExpansion,
            Self::SessionStart(_) => HookEvent::SessionStart,
            Self::Stop(_) => HookEvent::Stop,
            Self::SubagentStart(_) => HookEvent::SubagentStart,
            Self::SubagentStop(_) => HookEvent::SubagentStop,
            Self::PreModelSwitch(_) => HookEvent::PreModelSwitch,
            Self::PostModelSwitch(_) => HookEvent::PostModelSwitch,
            Self::PermissionRequest(_) => HookEvent::PermissionRequest,
            Self::PermissionDenied(_) => HookEvent::PermissionDenied,
            Self::Setup(_) => HookEvent::Setup,
            Self::Elicitation(_) => HookEvent::Elicitation,
            Self::ElicitationResult(_) => HookEvent::ElicitationResult,
            Self::WorktreeCreate(_) => HookEvent::WorktreeCreate,
            Self::CwdChanged(_) => HookEvent::CwdChanged,
            Self::FileChanged(_) => HookEvent::FileChanged,
            Self::MessageDisplay(_) => HookEvent::MessageDisplay,
            Self::Unknown(raw) => {
                let tags = Tags::read(raw.get(), Key::HookEventName).unwrap_or_default();
                HookEvent::from(tags.get(Key::HookEventName).unwrap_or_default())
            }
        }
    }
}

/// Output for events that only take additional context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextOutput {
    /// Additional context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `PreToolUse` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreToolUseOutput {
    /// Whether the tool may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<HookPermissionDecision>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// The whole input to run it with, instead of the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<RawJson>,
    /// Additional context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Whether a tool may run, or a model change.
    HookPermissionDecision {
        /// It may, unless a rule denies it.
        Allow = "allow",
        /// It may not.
        Deny = "deny",
        /// Request permission, even if a rule allows it.
        Ask = "ask",
        /// End the turn and leave the call to the resumed session.
        Defer = "defer",
    }
}

/// Output of a `PostToolUse` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostToolUseOutput {
    /// Additional context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// The tool's output, instead of its own. Must fit its schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_tool_output: Option<RawJson>,
    /// The same for tools of MCP servers.
    #[serde(rename = "updatedMCPToolOutput", skip_serializing_if = "Option::is_none")]
    pub updated_mcp_tool_output: Option<RawJson>,
    /// Context for the classifier of the `auto` mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier_context: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `UserPromptSubmit` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserPromptSubmitOutput {
    /// Additional context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// A title for the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
    /// Whether to leave the prompt itself out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_original_prompt: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `UserPromptExpansion` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserPromptExpansionOutput {
    /// Additional context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// Whether to leave the prompt itself out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_original_prompt: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `SessionStart` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionStartOutput {
    /// Additional context for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// A first prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_user_message: Option<String>,
    /// A title for the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_title: Option<String>,
    /// Files to watch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_paths: Option<Vec<String>>,
    /// Whether to look for skills again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reload_skills: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `PreModelSwitch` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreModelSwitchOutput {
    /// Whether the model may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<HookPermissionDecision>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `PermissionRequest` hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequestOutput {
    /// Whether the tool may run.
    pub decision: HookPermissionResult,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Permission decision of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "behavior", rename_all = "snake_case")]
pub enum HookPermissionResult {
    /// It may.
    Allow(PermissionAllow),
    /// It may not.
    Deny(HookPermissionDeny),
}

read_closed!(HookPermissionResult, Behavior, { "allow" => Allow, "deny" => Deny });

/// The tool may not run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookPermissionDeny {
    /// Text for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the turn ends as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `PermissionDenied` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDeniedOutput {
    /// Whether the model may retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `Elicitation` and `ElicitationResult` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ElicitationOutput {
    /// Response on behalf of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<ElicitationAction>,
    /// The values, if it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<RawJson>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Response of a user to an elicitation.
    ElicitationAction {
        /// Submits the values.
        Accept = "accept",
        /// Declines.
        Decline = "decline",
        /// Goes away.
        Cancel = "cancel",
    }
}

/// Output of a `WorktreeCreate` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCreateOutput {
    /// Path of the worktree.
    pub worktree_path: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `CwdChanged` and `FileChanged` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchPathsOutput {
    /// Files to watch from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_paths: Option<Vec<String>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Output of a `MessageDisplay` hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageDisplayOutput {
    /// Text to show instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_content: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
