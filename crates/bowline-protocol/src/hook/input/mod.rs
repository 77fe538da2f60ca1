//! Hook input: common fields, and those of each event.

mod agent;
mod mcp;
mod session;
mod tool;
mod workspace;

use std::{borrow::Cow, path::Path};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::{agent::*, mcp::*, session::*, tool::*, workspace::*};
use super::HookEvent;
use crate::{
    extra::Extra,
    id::{AgentId, SessionId},
    permission::PermissionMode,
    raw::RawJson,
    wire::{Key, ReadError, Tags, read_by_tag, read_whole},
};

/// Input of a hook. One flat object on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct HookInput {
    /// Fields of every event.
    pub base: HookBase,
    /// Fields of this event.
    pub event: EventInput,
}

/// Hook input that is common to all events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookBase {
    /// The session.
    pub session_id: SessionId,
    /// Path of its transcript, which may not exist yet.
    pub transcript_path: String,
    /// Its working directory.
    pub cwd: String,
    /// The prompt being worked on; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The mode, on events of prompts, tools and endings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The subagent in which this happens, starts or ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Its kind, or the kind of the main agent if one was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// Effort of the model, on tool events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<HookEffort>,
}

/// Effort of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookEffort {
    /// `low`, `medium`, `high` and so on.
    pub level: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Hook input that is specific to one event, in addition to the [`HookBase`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum EventInput {
    /// Before a tool runs.
    PreToolUse(PreToolUseInput),
    /// After a tool succeeded.
    PostToolUse(PostToolUseInput),
    /// After a tool failed.
    PostToolUseFailure(PostToolUseFailureInput),
    /// After all parallel calls of one response, before the next request to the model.
    PostToolBatch(PostToolBatchInput),
    /// The user is notified.
    Notification(NotificationInput),
    /// A prompt was accepted.
    UserPromptSubmit(UserPromptSubmitInput),
    /// A slash command or an MCP prompt becomes a prompt.
    UserPromptExpansion(UserPromptExpansionInput),
    /// A session starts, resumes, is cleared, compacted or forked.
    SessionStart(SessionStartInput),
    /// A session ends.
    SessionEnd(SessionEndInput),
    /// The main agent is about to finish.
    Stop(StopInput),
    /// A turn ended on an error of the model's API.
    StopFailure(StopFailureInput),
    /// A subagent starts.
    SubagentStart(SubagentStartInput),
    /// A subagent is about to finish.
    SubagentStop(SubagentStopInput),
    /// Before the conversation is compacted.
    PreCompact(PreCompactInput),
    /// After the conversation was compacted.
    PostCompact(PostCompactInput),
    /// Before a requested change of model.
    PreModelSwitch(ModelSwitchInput),
    /// After any change of model.
    PostModelSwitch(ModelSwitchInput),
    /// A permission request is about to be sent.
    PermissionRequest(PermissionRequestInput),
    /// The `auto` mode refused a call.
    PermissionDenied(PermissionDeniedInput),
    /// Preparation or maintenance of a workspace.
    Setup(SetupInput),
    /// A teammate has nothing to do.
    TeammateIdle(TeammateIdleInput),
    /// An item of the task list was created.
    TaskCreated(TaskInput),
    /// An item of the task list was completed.
    TaskCompleted(TaskInput),
    /// An MCP server requests input from the user.
    Elicitation(ElicitationInput),
    /// The user responded to an MCP server.
    ElicitationResult(ElicitationResultInput),
    /// A settings file changed.
    ConfigChange(ConfigChangeInput),
    /// A worktree is requested; the hook creates it instead of git.
    WorktreeCreate(WorktreeCreateInput),
    /// A worktree is no longer wanted.
    WorktreeRemove(WorktreeRemoveInput),
    /// A file of instructions was loaded.
    InstructionsLoaded(InstructionsLoadedInput),
    /// The working directory changed.
    CwdChanged(CwdChangedInput),
    /// A watched file changed.
    FileChanged(FileChangedInput),
    /// A working directory was added.
    DirectoryAdded(DirectoryAddedInput),
    /// Lines of the assistant's text are ready to be shown.
    MessageDisplay(MessageDisplayInput),
    /// The input of an event this version does not know: the whole object, byte for byte.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(EventInput, HookInput, {
    "PreToolUse" => PreToolUse,
    "PostToolUse" => PostToolUse,
    "PostToolUseFailure" => PostToolUseFailure,
    "PostToolBatch" => PostToolBatch,
    "Notification" => Notification,
    "UserPromptSubmit" => UserPromptSubmit,
    "UserPromptExpansion" => UserPromptExpansion,
    "SessionStart" => SessionStart,
    "SessionEnd" => SessionEnd,
    "Stop" => Stop,
    "StopFailure" => StopFailure,
    "SubagentStart" => SubagentStart,
    "SubagentStop" => SubagentStop,
    "PreCompact" => PreCompact,
    "PostCompact" => PostCompact,
    "PreModelSwitch" => PreModelSwitch,
    "PostModelSwitch" => PostModelSwitch,
    "PermissionRequest" => PermissionRequest,
    "PermissionDenied" => PermissionDenied,
    "Setup" => Setup,
    "TeammateIdle" => TeammateIdle,
    "TaskCreated" => TaskCreated,
    "TaskCompleted" => TaskCompleted,
    "Elicitation" => Elicitation,
    "ElicitationResult" => ElicitationResult,
    "ConfigChange" => ConfigChange,
    "WorktreeCreate" => WorktreeCreate,
    "WorktreeRemove" => WorktreeRemove,
    "InstructionsLoaded" => InstructionsLoaded,
    "CwdChanged" => CwdChanged,
    "FileChanged" => FileChanged,
    "DirectoryAdded" => DirectoryAdded,
    "MessageDisplay" => MessageDisplay,
});

impl HookInput {
    /// Reads an input from its JSON text.
    pub fn parse(json: &str) -> Result<Self, ReadError> {
        let tags = Tags::read(json, Key::HookInput)?;
        let name = tags.get(Key::HookInput).unwrap_or("hook input");
        Ok(Self { base: read_whole(name, json)?, event: EventInput::from_tags(&tags, json)? })
    }

    /// The event.
    pub fn event_name(&self) -> HookEvent {
        self.event.name()
    }

    /// Text that a matcher is compared with, if the event supports one.
    pub fn matcher_target(&self) -> Option<&str> {
        match &self.event {
            EventInput::PreToolUse(input) => Some(&input.tool_name),
            EventInput::PostToolUse(input) => Some(&input.tool_name),
            EventInput::PostToolUseFailure(input) => Some(&input.tool_name),
            EventInput::PermissionRequest(input) => Some(&input.tool_name),
            EventInput::PermissionDenied(input) => Some(&input.tool_name),
            EventInput::Notification(input) => Some(&input.notification_type),
            EventInput::UserPromptExpansion(input) => Some(&input.command_name),
            EventInput::SessionStart(input) => Some(input.source.as_str()),
            EventInput::SessionEnd(input) => Some(input.reason.as_str()),
            EventInput::StopFailure(input) => Some(&input.error),
            // An internal fork has no type, which still is something to compare with.
            EventInput::SubagentStart(_) | EventInput::SubagentStop(_) => {
                Some(self.base.agent_type.as_deref().unwrap_or_default())
            }
            EventInput::PreCompact(input) => Some(input.trigger.as_str()),
            EventInput::PostCompact(input) => Some(input.trigger.as_str()),
            EventInput::PreModelSwitch(input) | EventInput::PostModelSwitch(input) => {
                Some(&input.to_model)
            }
            EventInput::Setup(input) => Some(&input.trigger),
            EventInput::Elicitation(input) => Some(&input.mcp_server_name),
            EventInput::ElicitationResult(input) => Some(&input.mcp_server_name),
            EventInput::ConfigChange(input) => Some(&input.source),
            EventInput::InstructionsLoaded(input) => Some(&input.load_reason),
            EventInput::FileChanged(input) => {
                let name = Path::new(&input.file_path).file_name().and_then(|name| name.to_str());
                Some(name.unwrap_or(&input.file_path))
            }
            EventInput::DirectoryAdded(input) => Some(&input.source),
            EventInput::PostToolBatch(_)
            | EventInput::UserPromptSubmit(_)
            | EventInput::Stop(_)
            | EventInput::TeammateIdle(_)
            | EventInput::TaskCreated(_)
            | EventInput::TaskCompleted(_)
            | EventInput::WorktreeCreate(_)
            | EventInput::WorktreeRemove(_)
            | EventInput::CwdChanged(_)
            | EventInput::MessageDisplay(_)
            | EventInput::Unknown(_) => None,
        }
    }
}

impl EventInput {
    /// The event.
    pub fn name(&self) -> HookEvent {
        match self {
            Self::PreToolUse(_) => HookEvent::PreToolUse,
            Self::PostToolUse(_) => HookEvent::PostToolUse,
            Self::PostToolUseFailure(_) => HookEvent::PostToolUseFailure,
            Self::PostToolBatch(_) => HookEvent::PostToolBatch,
            Self::Notification(_) => HookEvent::Notification,
            Self::UserPromptSubmit(_) => HookEvent::UserPromptSubmit,
            Self::UserPromptExpansion(_) => HookEvent::UserPromptExpansion,
            Self::SessionStart(_) => HookEvent::SessionStart,
            Self::SessionEnd(_) => HookEvent::SessionEnd,
            Self::Stop(_) => HookEvent::Stop,
            Self::StopFailure(_) => HookEvent::StopFailure,
            Self::SubagentStart(_) => HookEvent::SubagentStart,
            Self::SubagentStop(_) => HookEvent::SubagentStop,
            Self::PreCompact(_) => HookEvent::PreCompact,
            Self::PostCompact(_) => HookEvent::PostCompact,
            Self::PreModelSwitch(_) => HookEvent::PreModelSwitch,
            Self::PostModelSwitch(_) => HookEvent::PostModelSwitch,
            Self::PermissionRequest(_) => HookEvent::PermissionRequest,
            Self::PermissionDenied(_) => HookEvent::PermissionDenied,
            Self::Setup(_) => HookEvent::Setup,
            Self::TeammateIdle(_) => HookEvent::TeammateIdle,
            Self::TaskCreated(_) => HookEvent::TaskCreated,
            Self::TaskCompleted(_) => HookEvent::TaskCompleted,
            Self::Elicitation(_) => HookEvent::Elicitation,
            Self::ElicitationResult(_) => HookEvent::ElicitationResult,
            Self::ConfigChange(_) => HookEvent::ConfigChange,
            Self::WorktreeCreate(_) => HookEvent::WorktreeCreate,
            Self::WorktreeRemove(_) => HookEvent::WorktreeRemove,
            Self::InstructionsLoaded(_) => HookEvent::InstructionsLoaded,
            Self::CwdChanged(_) => HookEvent::CwdChanged,
            Self::FileChanged(_) => HookEvent::FileChanged,
            Self::DirectoryAdded(_) => HookEvent::DirectoryAdded,
            Self::MessageDisplay(_) => HookEvent::MessageDisplay,
            Self::Unknown(raw) => {
                let tags = Tags::read(raw.get(), Key::HookInput).unwrap_or_default();
                HookEvent::from(tags.get(Key::HookInput).unwrap_or_default())
            }
        }
    }
}

/// An unknown event is written as it came; the base was read from it.
impl Serialize for HookInput {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.event {
            EventInput::Unknown(raw) => raw.serialize(to),
            event => FlatInput { base: &self.base, event }.serialize(to),
        }
    }
}

/// The object on the wire. Only ever written: reading through `flatten` would buffer everything.
#[derive(Serialize)]
struct FlatInput<'a> {
    #[serde(flatten)]
    base: &'a HookBase,
    #[serde(flatten)]
    event: &'a EventInput,
}

impl<'de> Deserialize<'de> for HookInput {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(from)?;
        Self::parse(raw.get()).map_err(de::Error::custom)
    }
}

impl JsonSchema for HookInput {
    fn schema_name() -> Cow<'static, str> {
        "HookInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let base = generator.subschema_for::<HookBase>();
        let event = generator.subschema_for::<EventInput>();
        schemars::json_schema!({ "description": "Input of a hook.", "allOf": [base, event] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::HOOK_BASE_FIELDS;

    #[test]
    fn base_fields_are_those_that_events_leave_out() {
        let schema = schemars::schema_for!(HookBase).to_value();
        let fields = schema["properties"].as_object().expect("a struct has properties");
        let mut fields: Vec<_> = fields.keys().map(String::as_str).collect();
        fields.sort_unstable();
        let mut left_out = HOOK_BASE_FIELDS.to_vec();
        left_out.sort_unstable();
        assert_eq!(fields, left_out);
    }
}
