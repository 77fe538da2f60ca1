//! The answer to `get_hooks_listing`.

use bowline_protocol::{HookCommand, HookEvent};
use serde::Serialize;

use super::{HookAction, HookOrigin, Hooks};

/// Which hooks there are and which there could be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookListing {
    /// The events that have hooks, in the order of the catalog.
    pub events: Vec<EventCount>,
    /// The hooks.
    pub hooks: Vec<ListedHook>,
    /// All events.
    pub event_catalog: Vec<EventDescription>,
    /// What settings say about hooks as a whole.
    pub policy: ListedPolicy,
}

/// How many hooks an event has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventCount {
    /// The event.
    pub event: HookEvent,
    /// How many.
    pub count: usize,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedHook {
    /// When it runs.
    pub event: HookEvent,
    /// For what, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// `command`, `http`, `callback` and so on.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its command, address, prompt or callback.
    pub command: String,
    /// Which settings have it, or `sdk`.
    pub source: &'static str,
    /// In which file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How long it may take, in seconds, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

/// What an event is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventDescription {
    /// The event.
    pub name: HookEvent,
    /// When it happens.
    pub summary: &'static str,
    /// Whether a matcher narrows it.
    pub supports_matcher: bool,
}

/// What settings say about hooks as a whole, as it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedPolicy {
    disabled_by_policy: bool,
    managed_only: bool,
    plugin_only: bool,
    all_disabled: bool,
    policy_hook_count: usize,
}

impl Hooks {
    /// Lists the hooks (`get_hooks_listing`).
    pub fn listing(&self) -> HookListing {
        let hooks = self.registrations().into_iter().map(|registration| {
            let (source, path) = match &registration.origin {
                HookOrigin::Host => ("sdk", None),
                HookOrigin::Settings { source, path } => {
                    (source.as_str(), path.as_ref().map(|path| path.display().to_string()))
                }
            };
            ListedHook {
                event: registration.event.clone(),
                matcher: registration.matcher_text.clone(),
                kind: kind(&registration.action),
                command: registration.label().to_owned(),
                source,
                path,
                timeout: registration.timeout.map(|timeout| timeout.as_secs()),
            }
        });
        let hooks = Vec::from_iter(hooks);
        let count = |event: &HookEvent| hooks.iter().filter(|hook| hook.event == *event).count();
        let events = HookEvent::KNOWN
            .iter()
            .map(|event| EventCount { event: event.clone(), count: count(event) })
            .filter(|found| found.count > 0)
            .collect();
        let policy = self.policy();
        HookListing {
            events,
            hooks,
            event_catalog: catalog(),
            policy: ListedPolicy {
                disabled_by_policy: policy.disabled_by_policy,
                managed_only: policy.managed_only,
                plugin_only: false,
                all_disabled: policy.all_disabled,
                policy_hook_count: policy.policy_hook_count,
            },
        }
    }
}

fn kind(action: &HookAction) -> &'static str {
    match action {
        HookAction::Callback(_) => "callback",
        HookAction::Command(HookCommand::Command(_)) => "command",
        HookAction::Command(HookCommand::Prompt(_)) => "prompt",
        HookAction::Command(HookCommand::Agent(_)) => "agent",
        HookAction::Command(HookCommand::Http(_)) => "http",
        HookAction::Command(HookCommand::McpTool(_)) => "mcp_tool",
        HookAction::Command(_) => "unknown",
    }
}

fn catalog() -> Vec<EventDescription> {
    let describe = |event: &HookEvent| EventDescription {
        name: event.clone(),
        summary: summary(event),
        supports_matcher: event.supports_matcher(),
    };
    HookEvent::KNOWN.iter().map(describe).collect()
}

fn summary(event: &HookEvent) -> &'static str {
    match event {
        HookEvent::PreToolUse => "A tool is about to run",
        HookEvent::PostToolUse => "A tool has succeeded",
        HookEvent::PostToolUseFailure => "A tool has failed",
        HookEvent::PostToolBatch => "All tool calls of one answer are done",
        HookEvent::Notification => "The user is notified",
        HookEvent::UserPromptSubmit => "A prompt was submitted",
        HookEvent::UserPromptExpansion => "A slash command turns into a prompt",
        HookEvent::SessionStart => "A session starts, resumes or was cleared or compacted",
        HookEvent::SessionEnd => "A session ends",
        HookEvent::Stop => "The agent is about to finish",
        HookEvent::StopFailure => "A turn ended on an error of the model's service",
        HookEvent::SubagentStart => "A subagent starts",
        HookEvent::SubagentStop => "A subagent is about to finish",
        HookEvent::PreCompact => "The conversation is about to be compacted",
        HookEvent::PostCompact => "The conversation was compacted",
        HookEvent::PreModelSwitch => "Another model was asked for",
        HookEvent::PostModelSwitch => "The model has changed",
        HookEvent::PermissionRequest => "Somebody is about to be asked about a tool",
        HookEvent::PermissionDenied => "The auto mode refused a tool call",
        HookEvent::Setup => "A workspace is prepared or maintained",
        HookEvent::TeammateIdle => "A teammate has nothing to do",
        HookEvent::TaskCreated => "An item was added to the task list",
        HookEvent::TaskCompleted => "An item of the task list was completed",
        HookEvent::Elicitation => "An MCP server asks the user something",
        HookEvent::ElicitationResult => "The user answered an MCP server",
        HookEvent::ConfigChange => "A settings file changed",
        HookEvent::WorktreeCreate => "A worktree is wanted",
        HookEvent::WorktreeRemove => "A worktree is no longer wanted",
        HookEvent::InstructionsLoaded => "A file of instructions was loaded",
        HookEvent::CwdChanged => "The working directory changed",
        HookEvent::FileChanged => "A watched file changed",
        HookEvent::DirectoryAdded => "A working directory was added",
        HookEvent::MessageDisplay => "Text of the assistant is shown",
        _ => "",
    }
}
