//! Hooks as settings files have them: what to run, and when.

use std::{collections::BTreeMap, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{HookEvent, HookFailure};
use crate::{extra::Extra, raw::RawJson, wire::read_by_tag};

/// The `hooks` of a settings file.
pub type HookSettings = BTreeMap<HookEvent, Vec<HookGroup>>;

/// Hooks for some occasions of one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookGroup {
    /// Matcher, as in [`HookMatcher`](super::HookMatcher).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Hooks to run.
    pub hooks: Vec<HookCommand>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One hook of a settings file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookCommand {
    /// A program.
    Command(CommandHook),
    /// A prompt for a model.
    Prompt(PromptHook),
    /// A task for a subagent.
    Agent(AgentHook),
    /// A request to a web server.
    Http(HttpHook),
    /// A call of an MCP tool.
    McpTool(McpToolHook),
    /// A hook this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(HookCommand, Type, {
    "command" => Command,
    "prompt" => Prompt,
    "agent" => Agent,
    "http" => Http,
    "mcp_tool" => McpTool,
});

impl HookCommand {
    /// Timeout of the hook, if it sets one.
    pub fn time_limit(&self) -> Option<Duration> {
        let seconds = match self {
            Self::Command(hook) => &hook.timeout,
            Self::Prompt(hook) => &hook.timeout,
            Self::Agent(hook) => &hook.timeout,
            Self::Http(hook) => &hook.timeout,
            Self::McpTool(hook) => &hook.timeout,
            Self::Unknown(_) => &None,
        };
        Duration::try_from_secs_f64(seconds.as_ref()?.as_f64()?).ok()
    }

    /// Name of the hook: its command, address, prompt or tool.
    pub fn label(&self) -> &str {
        match self {
            Self::Command(hook) => &hook.command,
            Self::Http(hook) => &hook.url,
            Self::Prompt(hook) => &hook.prompt,
            Self::Agent(hook) => &hook.prompt,
            Self::McpTool(hook) => &hook.tool,
            Self::Unknown(_) => "unknown",
        }
    }

    /// The permission rule that a call must fit for the hook to run, if it has one.
    pub fn condition(&self) -> Option<&str> {
        match self {
            Self::Command(hook) => hook.condition.as_deref(),
            Self::Prompt(hook) => hook.condition.as_deref(),
            Self::Agent(hook) => hook.condition.as_deref(),
            Self::Http(hook) => hook.condition.as_deref(),
            Self::McpTool(hook) => hook.condition.as_deref(),
            Self::Unknown(_) => None,
        }
    }
}

/// Runs a program: the input on its stdin, the output on its stdout.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandHook {
    /// A line for the shell, or the program if there are `args`.
    pub command: String,
    /// Arguments; with them no shell is involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Shell: `bash` or `powershell`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// Effect of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<HookFailure>,
    /// Whether it runs beside the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#async: Option<bool>,
    /// Whether the agent is woken when such a hook is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_rewake: Option<bool>,
    /// A permission rule that a call must fit.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Timeout, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Shown while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Whether it runs once per session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Evaluates a prompt with a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptHook {
    /// The prompt; `$ARGUMENTS` stands for the input.
    pub prompt: String,
    /// Model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether the agent goes on after a no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continue_on_block: Option<bool>,
    /// A permission rule that a call must fit.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Timeout, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Shown while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Whether it runs once per session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Gives a subagent a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentHook {
    /// The task; `$ARGUMENTS` stands for the input.
    pub prompt: String,
    /// Model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A permission rule that a call must fit.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Timeout, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Shown while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Whether it runs once per session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Posts the input to a web server and reads the output from its body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpHook {
    /// URL.
    pub url: String,
    /// Headers; `$NAME` stands for a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// The variables that headers may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_env_vars: Option<Vec<String>>,
    /// Effect of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<HookFailure>,
    /// A permission rule that a call must fit.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Timeout, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Shown while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Whether it runs once per session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Calls a tool of an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpToolHook {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Its arguments; `${path}` stands for a field of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<RawJson>,
    /// A permission rule that a call must fit.
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Timeout, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Shown while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Whether it runs once per session only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
