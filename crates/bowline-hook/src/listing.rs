//! Response to `get_hooks_listing`.

use bowline_protocol::{HookCommand, HookEvent, HookEventInfo, HooksListing, RawJson};
use serde::Serialize;

use super::{HookAction, HookOrigin, HookPolicy, Hooks, Registration};

/// All events, and when they happen.
const CATALOG: [(HookEvent, &str); 33] = [
    (HookEvent::PreToolUse, "A tool is about to run"),
    (HookEvent::PostToolUse, "A tool has succeeded"),
    (HookEvent::PostToolUseFailure, "A tool has failed"),
    (HookEvent::PostToolBatch, "All tool calls of one model response have finished"),
    (HookEvent::PermissionDenied, "The auto mode refused a tool call"),
    (HookEvent::Notification, "The user is notified"),
    (HookEvent::UserPromptSubmit, "A prompt was submitted"),
    (HookEvent::UserPromptExpansion, "A slash command turns into a prompt"),
    (HookEvent::SessionStart, "A session starts, resumes, or was cleared or compacted"),
    (HookEvent::Stop, "The agent is about to finish"),
    (HookEvent::StopFailure, "A turn ended on an error of the model's service"),
    (HookEvent::SubagentStart, "A subagent starts"),
    (HookEvent::SubagentStop, "A subagent is about to finish"),
    (HookEvent::PreCompact, "The conversation is about to be compacted"),
    (HookEvent::PostCompact, "The conversation was compacted"),
    (HookEvent::PreModelSwitch, "Another model was asked for"),
    (HookEvent::PostModelSwitch, "The model has changed"),
    (HookEvent::SessionEnd, "A session ends"),
    (HookEvent::PermissionRequest, "A permission request is about to be sent"),
    (HookEvent::Setup, "A workspace is prepared or maintained"),
    (HookEvent::TeammateIdle, "A teammate has nothing to do"),
    (HookEvent::TaskCreated, "An item was added to the task list"),
    (HookEvent::TaskCompleted, "An item of the task list was completed"),
    (HookEvent::Elicitation, "An MCP server asks the user something"),
    (HookEvent::ElicitationResult, "The user answered an MCP server"),
    (HookEvent::ConfigChange, "A settings file changed"),
    (HookEvent::InstructionsLoaded, "A file of instructions was loaded"),
    (HookEvent::WorktreeCreate, "A worktree is wanted"),
    (HookEvent::WorktreeRemove, "A worktree is no longer wanted"),
    (HookEvent::CwdChanged, "The working directory changed"),
    (HookEvent::FileChanged, "A watched file changed"),
    (HookEvent::DirectoryAdded, "A working directory was added"),
    (HookEvent::MessageDisplay, "Text of the assistant is shown"),
];

/// How many hooks an event has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventCount<'a> {
    name: &'a HookEvent,
    summary: &'a str,
    supports_matcher: bool,
    hook_count: usize,
}

/// One hook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedHook<'a> {
    event: &'a HookEvent,
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<&'a str>,
    /// Which settings have it, or `pluginHook` or `sdk`.
    source: &'static str,
    /// The same for people.
    source_label: String,
    /// The plugin that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin_name: Option<&'a str>,
    r#type: &'static str,
    /// Its command, address, prompt or callback.
    display_text: &'a str,
    /// Its command, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    command_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedPolicy {
    disabled_by_policy: bool,
    managed_only: bool,
    plugin_only: bool,
    all_disabled: bool,
    policy_hook_count: usize,
}

impl Hooks {
    /// Lists the hooks there are and the events there could be hooks for (`get_hooks_listing`).
    pub fn listing(&self) -> HooksListing {
        let hooks = self.registrations();
        let events = CATALOG.iter().filter_map(|(event, summary)| {
            let hook_count = hooks.iter().filter(|hook| hook.event == *event).count();
            let supports_matcher = event.supports_matcher();
            let count = EventCount { name: event, summary, supports_matcher, hook_count };
            (hook_count > 0).then(|| raw(&count))
        });
        let errors = Vec::from_iter(self.problems().iter().map(raw));
        HooksListing {
            errors: if errors.is_empty() { None } else { Some(errors) },
            events: events.collect(),
            hooks: hooks.iter().map(|hook| raw(&listed(hook))).collect(),
            event_catalog: CATALOG.iter().map(|(event, summary)| info(event, summary)).collect(),
            policy: raw(&policy(self.policy())),
            ..HooksListing::default()
        }
    }
}

fn listed(registration: &Registration) -> ListedHook<'_> {
    let (source, source_label, path) = match &registration.origin {
        HookOrigin::Host => ("sdk", "The host".to_owned(), None),
        HookOrigin::Agent(agent) => ("sessionHook", format!("Agent {agent}"), None),
        HookOrigin::Plugin(plugin) => {
            ("pluginHook", format!("Plugin {}", plugin.name), Some(&plugin.root))
        }
        HookOrigin::Settings { source, path } => {
            (source.as_str(), format!("Settings ({source})"), path.as_ref())
        }
    };
    let plugin_name = match &registration.origin {
        HookOrigin::Plugin(plugin) => Some(plugin.source.as_str()),
        HookOrigin::Host | HookOrigin::Agent(_) | HookOrigin::Settings { .. } => None,
    };
    let kind = kind(&registration.action);
    ListedHook {
        source_label,
        plugin_name,
        display_text: registration.label(),
        command_text: (kind == "command").then(|| registration.label()),
        event: &registration.event,
        matcher: registration.matcher_text.as_deref(),
        r#type: kind,
        source,
        path: path.map(|path| path.display().to_string()),
        timeout: registration.timeout.map(|timeout| timeout.as_secs_f64()),
    }
}

fn kind(action: &HookAction) -> &'static str {
    match action {
        HookAction::Callback(_) => "callback",
        HookAction::Command(hook) => match &**hook {
            HookCommand::Command(_) => "command",
            HookCommand::Prompt(_) => "prompt",
            HookCommand::Agent(_) => "agent",
            HookCommand::Http(_) => "http",
            HookCommand::McpTool(_) => "mcp_tool",
            _ => "unknown",
        },
    }
}

fn info(event: &HookEvent, summary: &str) -> HookEventInfo {
    HookEventInfo {
        name: event.clone(),
        summary: summary.to_owned(),
        supports_matcher: event.supports_matcher(),
        extra: Default::default(),
    }
}

fn policy(policy: HookPolicy) -> ListedPolicy {
    ListedPolicy {
        disabled_by_policy: policy.disabled_by_policy,
        managed_only: policy.managed_only,
        // There is no setting that lets only the hooks of plugins run.
        plugin_only: false,
        all_disabled: policy.all_disabled,
        policy_hook_count: policy.policy_hook_count,
    }
}

fn raw(value: &impl Serialize) -> RawJson {
    RawJson::from_value(value).expect("plain data always serializes")
}
