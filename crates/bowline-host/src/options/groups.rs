//! Groups of less common options, by subject.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc};

use bowline_protocol::{AgentDefinition, Effort, McpServerConfig};
#[cfg(feature = "sessions")]
use bowline_sessions::{MirrorFlush, SessionStore};
use serde_json::Value;

use super::{
    BuiltinTools, PermissionPrompts, Plugin, PluginDelivery, PreviewFormat, ProcessUser,
    SettingSource, Settings, Skills, Spawner, StderrCallback, Thinking, TraceContext,
};
use crate::callback::{OnElicitation, OnRequest, OnUserDialog};

/// The process of an agent: its program, environment, output.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ProcessOptions {
    /// The program, if it is not where we look by ourselves; see [`AgentTransport`](crate::AgentTransport).
    pub cli_path: Option<PathBuf>,
    /// What runs the program if it is a script, with its own arguments: `["node"]`.
    pub cli_runner: Vec<OsString>,
    /// Starts the process instead of this crate: in a container, on another machine.
    pub spawner: Option<Arc<dyn Spawner>>,
    /// The system's user as which the process runs. Needs the rights to become another.
    pub user: Option<ProcessUser>,
    /// Variables over those of this process; `None` removes one.
    pub env: BTreeMap<String, Option<String>>,
    /// Do not pass on the environment of this process, only [`env`](Self::env).
    pub clear_env: bool,
    /// Any other flag, without its dashes: `--name` or `--name value`.
    pub extra_args: BTreeMap<String, Option<String>>,
    /// Called with every line that the process writes to its stderr.
    pub stderr: Option<StderrCallback>,
    /// Name of this program, for the agent's requests to the API: `CLAUDE_AGENT_SDK_CLIENT_APP`.
    pub client_app: Option<String>,
    /// The span that the agent's spans belong to: `TRACEPARENT`, `TRACESTATE`.
    pub trace_context: Option<TraceContext>,
    /// Debug log of the process on its stderr: `--debug`.
    pub debug: bool,
    /// Debug log of the process in this file: `--debug-file`.
    pub debug_file: Option<PathBuf>,
}

/// How responses are generated: thinking, effort, output schema, budgets.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct GenerationOptions {
    /// Models that take over, in order: `--fallback-model`.
    pub fallback_models: Vec<String>,
    /// Extended thinking: `--thinking`, `--max-thinking-tokens`.
    pub thinking: Option<Thinking>,
    /// `summarized`, `omitted` or `highlights`: `--thinking-display`.
    pub thinking_display: Option<String>,
    /// Effort of the model: `--effort`.
    pub effort: Option<Effort>,
    /// Beta features of the API: `--betas`.
    pub betas: Vec<String>,
    /// The shape that the result must have: `--json-schema`.
    pub output_schema: Option<Value>,
    /// What the session may cost: `--max-budget-usd`.
    pub max_budget_usd: Option<f64>,
    /// A budget of tokens that the API itself keeps: `--task-budget`.
    pub task_budget: Option<u64>,
    /// Make the system prompt once and keep it when the session is resumed:
    /// `systemPromptSnapshot`.
    pub system_prompt_snapshot: Option<bool>,
    /// Appended to the system prompts of subagents: `appendSubagentSystemPrompt`.
    pub append_subagent_system_prompt: Option<String>,
    /// Instructions for the `plan` mode, instead of the agent's own: `planModeInstructions`.
    pub plan_mode_instructions: Option<String>,
}

/// Built-in tools and MCP servers elsewhere.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ToolOptions {
    /// Which built-in tools the agent has: `--tools`.
    pub builtin: Option<BuiltinTools>,
    /// Rules for tool calls that are denied: `--disallowedTools`.
    pub disallowed_tools: Vec<String>,
    /// Other names for tools: `toolAliases`.
    pub tool_aliases: BTreeMap<String, String>,
    /// MCP servers elsewhere, by name: `--mcp-config`.
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
    /// Files that name MCP servers elsewhere: `--mcp-config`.
    pub mcp_config_files: Vec<PathBuf>,
    /// Ignore MCP servers of settings: `--strict-mcp-config`.
    pub strict_mcp_config: bool,
    /// Format of previews in `AskUserQuestion`:
    /// `CLAUDE_CODE_QUESTION_PREVIEW_FORMAT`.
    pub question_preview: Option<PreviewFormat>,
}

/// Who decides about permissions, beside the callback.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct PermissionOptions {
    /// Allows a switch to the mode `bypassPermissions`: `--allow-dangerously-skip-permissions`.
    pub allow_dangerously_skip_permissions: bool,
    /// The tool of an MCP server that decides: `--permission-prompt-tool`.
    pub permission_prompt_tool: Option<String>,
    /// Whether permission prompts are possible at all: `--permission-prompts`.
    pub permission_prompts: Option<PermissionPrompts>,
}

/// Callbacks for less common requests of the agent.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CallbackOptions {
    /// Responds to elicitations of MCP servers. Without it they are declined.
    pub on_elicitation: Option<Arc<dyn OnElicitation>>,
    /// Shows dialogs of these kinds to the user and returns the outcome:
    /// `supportedDialogKinds`.
    pub on_user_dialog: Option<(Vec<String>, Arc<dyn OnUserDialog>)>,
    /// Callbacks for other requests of the agent, by subtype. Some the agent sends only if they are
    /// announced: for `oauth_token_refresh` and `host_auth_token_refresh` that is done
    /// (`CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH`, `CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH`).
    pub on_request: BTreeMap<String, Arc<dyn OnRequest>>,
}

/// The session's identity, where it continues, and where it is stored.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Continue in a copy: `--fork-session`.
    pub fork_session: bool,
    /// Continue after this message: `--resume-session-at`.
    pub resume_session_at: Option<String>,
    /// The prompt whose turn is discarded: `--resume-drops-turn`.
    pub resume_drops_turn: Option<String>,
    /// The id of a new session or copy, a UUID: `--session-id`.
    pub session_id: Option<String>,
    /// Save no transcript: `--no-session-persistence`.
    pub no_session_persistence: bool,
    /// Store that every transcript is mirrored to, and where [`resume`](crate::Options::resume) looks:
    /// `--session-mirror`.
    #[cfg(feature = "sessions")]
    pub session_store: Option<Arc<dyn SessionStore>>,
    /// When messages are written to the store.
    #[cfg(feature = "sessions")]
    pub session_store_flush: MirrorFlush,
    /// The title of a new session: `title`.
    pub title: Option<String>,
    /// Back files up before they change, so that they can be restored:
    /// `CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`.
    pub file_checkpointing: bool,
}

/// Settings, folders, skills, plugins and subagents.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SettingsOptions {
    /// Settings over those of the sources: `--settings`.
    pub additional: Option<Settings>,
    /// Settings that no other can change: `--managed-settings`.
    pub managed_settings: Option<Value>,
    /// Settings files that are read; all if `None`: `--setting-sources`.
    pub setting_sources: Option<Vec<SettingSource>>,
    /// The `sandbox` of the settings, instead of theirs. One that is enabled must be available, unless it has
    /// `"failIfUnavailable": false`: `--settings`.
    pub sandbox: Option<Value>,
    /// More folders to work in: `--add-dir`.
    pub add_dirs: Vec<PathBuf>,
    /// Take the project's configuration from here: `--project-config-root`.
    pub project_config_root: Option<PathBuf>,
    /// Skills: `--allowedTools Skill`, `skills`.
    pub skills: Option<Skills>,
    /// Plugins: `--plugin-dir`.
    pub plugins: Vec<Plugin>,
    /// How the agent receives them.
    pub plugin_delivery: PluginDelivery,
    /// Kinds of subagents, by name: `agents`.
    pub agents: BTreeMap<String, AgentDefinition>,
    /// The kind that the main agent is: `--agent`.
    pub agent: Option<String>,
}

/// Which messages the agent sends, and how prompts are read.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct MessageOptions {
    /// Stream partial messages: `--include-partial-messages`.
    pub include_partial_messages: bool,
    /// Send messages about hooks: `--include-hook-events`.
    pub include_hook_events: bool,
    /// Replay prompts when their turn begins: `--replay-user-messages`.
    pub replay_user_messages: bool,
    /// Forward the text of subagents: `forwardSubagentText`.
    pub forward_subagent_text: bool,
    /// Suggest the next prompt: `promptSuggestions`.
    pub prompt_suggestions: bool,
    /// Send summaries of the progress of subagents: `agentProgressSummaries`.
    pub agent_progress_summaries: bool,
    /// Interrupting leaves background tasks alone: `perTaskStopAffordance`.
    pub per_task_stop_affordance: bool,
    /// Take prompts as they are, without `@path` and slash commands: `client_composed`.
    pub verbatim_prompts: bool,
}

/// Values may be secrets, and callbacks have nothing to show.
macro_rules! opaque_debug {
    ($($group:ident),* $(,)?) => {$(
        impl std::fmt::Debug for $group {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($group)).finish_non_exhaustive()
            }
        }
    )*};
}

opaque_debug!(
    CallbackOptions,
    GenerationOptions,
    MessageOptions,
    PermissionOptions,
    ProcessOptions,
    SessionOptions,
    SettingsOptions,
    ToolOptions,
);
