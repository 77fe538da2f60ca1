//! Options of an agent.

mod agent_setup;
pub(crate) mod argument_files;
pub(crate) mod arguments;
pub(crate) mod check;
mod connect;
#[cfg(feature = "sessions")]
pub(crate) mod directories;
pub(crate) mod opening;
#[cfg(feature = "embedded")]
mod resolve;
mod setters;
mod spawn;
mod start_only;
#[cfg(feature = "sessions")]
#[cfg(test)]
mod table;
mod values;

use std::{collections::BTreeMap, ffi::OsString, fmt, path::PathBuf, sync::Arc, time::Duration};

use bowline_protocol::{
    AgentDefinition, DEFAULT_LINE_LIMIT, Effort, HookEvent, McpServerConfig, PermissionMode,
};
#[cfg(feature = "sessions")]
use bowline_sessions::{MirrorFlush, SessionStore};
use serde_json::Value;

pub use agent_setup::AgentSetup;
pub use connect::AgentTransport;
pub(crate) use connect::{AgentOrigin, AgentStorage, Connect};
pub use spawn::{ProcessUser, Spawner};
pub use values::{
    BuiltinTools, PermissionPrompts, Plugin, PluginDelivery, PreviewFormat, Resume, SettingSource,
    Settings, Skills, SystemPrompt, Thinking, TraceContext,
};

use crate::{
    callback::{CanUseTool, HookMatcher, OnElicitation, OnRequest, OnUserDialog},
    error::Error,
    tool::SdkServer,
};

/// How long the agent may take to answer `initialize`, and any other request.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// How long the agent may take to end by itself, and then to heed SIGTERM.
pub const DEFAULT_CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// What is told of every line the agent writes to its stderr.
pub type StderrCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// How an agent is set up. Start from the default, change what you need.
///
/// Each option names the flag, the field of `initialize` or the variable it becomes. Which versions
/// of the official CLI know it, and what it is called in the official SDKs, is in the table of
/// `docs/sdk-options.md`; a program that does not know a flag says so and ends, one that
/// does not know a field ignores it. What an option says holds for every way to run the agent,
/// unless it is about its process.
///
/// ```
/// use bowline_host::{Effort, Options, PermissionMode};
///
/// let mut options = Options::default()
///     .model("sonnet")
///     .cwd("/srv/project")
///     .permission_mode(PermissionMode::AcceptEdits)
///     .max_turns(10);
/// // What has no setter is a field like any other.
/// options.effort = Some(Effort::Max);
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Options {
    // Which agent, and how it is reached.
    /// Where the agent runs.
    pub transport: AgentTransport,
    /// The program, if it is not where we look by ourselves; see [`AgentTransport`].
    pub cli_path: Option<PathBuf>,
    /// What runs the program if it is a script, with its own arguments: `["node"]`.
    pub cli_runner: Vec<OsString>,
    /// Starts the process in our place: in a container, on another machine.
    pub spawner: Option<Arc<dyn Spawner>>,
    /// The system's user as which the process runs. Needs the rights to become another.
    pub user: Option<ProcessUser>,
    /// The working directory. It must exist where the agent is started.
    pub cwd: Option<PathBuf>,
    /// Variables over those of this process; `None` removes one.
    pub env: BTreeMap<String, Option<String>>,
    /// Do not pass on the environment of this process, only [`env`](Self::env).
    pub clear_env: bool,
    /// Any other flag, without its dashes: `--name` or `--name value`.
    pub extra_args: BTreeMap<String, Option<String>>,
    /// Is told every line that the process writes to its stderr.
    pub stderr: Option<StderrCallback>,
    /// What this program calls itself: `CLAUDE_AGENT_SDK_CLIENT_APP`.
    pub client_app: Option<String>,
    /// The span that the agent's spans belong to: `TRACEPARENT`, `TRACESTATE`.
    pub trace_context: Option<TraceContext>,
    /// Limits of ours.
    pub limits: Limits,

    // The model.
    /// `--model`
    pub model: Option<String>,
    /// Models that take over, in order: `--fallback-model`.
    pub fallback_models: Vec<String>,
    /// `--thinking`, `--max-thinking-tokens`
    pub thinking: Option<Thinking>,
    /// `summarized`, `omitted` or `highlights`: `--thinking-display`.
    pub thinking_display: Option<String>,
    /// `--effort`
    pub effort: Option<Effort>,
    /// `--betas`
    pub betas: Vec<String>,
    /// `--system-prompt` and its relatives.
    pub system_prompt: SystemPrompt,
    /// Make the system prompt once and keep it when the session is resumed:
    /// `systemPromptSnapshot`.
    pub system_prompt_snapshot: Option<bool>,
    /// What subagents are told behind their own prompts: `appendSubagentSystemPrompt`.
    pub append_subagent_system_prompt: Option<String>,
    /// In place of the agent's words about the `plan` mode: `planModeInstructions`.
    pub plan_mode_instructions: Option<String>,
    /// The shape that the result must have: `--json-schema`.
    pub output_schema: Option<Value>,

    // Limits of a run.
    /// How often the model may be asked for each prompt, 0 for as often as it takes: `--max-turns`.
    pub max_turns: Option<u32>,
    /// What the session may cost: `--max-budget-usd`.
    pub max_budget_usd: Option<f64>,
    /// A budget of tokens that the API itself keeps: `--task-budget`.
    pub task_budget: Option<u64>,

    // Tools.
    /// Which of its own tools the agent has: `--tools`.
    pub tools: Option<BuiltinTools>,
    /// Calls that need no question: `--allowedTools`.
    pub allowed_tools: Vec<String>,
    /// Calls that are refused: `--disallowedTools`.
    pub disallowed_tools: Vec<String>,
    /// Other names for tools: `toolAliases`.
    pub tool_aliases: BTreeMap<String, String>,
    /// MCP servers elsewhere, by name: `--mcp-config`.
    pub mcp_servers: BTreeMap<String, McpServerConfig>,
    /// Files that name MCP servers elsewhere: `--mcp-config`.
    pub mcp_config_files: Vec<PathBuf>,
    /// MCP servers in this program: `sdkMcpServers`.
    pub sdk_mcp_servers: Vec<SdkServer>,
    /// How previews in the questions of `AskUserQuestion` are written:
    /// `CLAUDE_CODE_QUESTION_PREVIEW_FORMAT`.
    pub question_preview: Option<PreviewFormat>,
    /// No other MCP servers than these: `--strict-mcp-config`.
    pub strict_mcp_config: bool,

    // Permissions and hooks.
    /// `--permission-mode`
    pub permission_mode: Option<PermissionMode>,
    /// The mode that asks nobody may be switched to: `--allow-dangerously-skip-permissions`.
    pub allow_dangerously_skip_permissions: bool,
    /// Decides what neither rules nor mode decide: `--permission-prompt-tool stdio`.
    pub can_use_tool: Option<Arc<dyn CanUseTool>>,
    /// The tool of an MCP server that decides: `--permission-prompt-tool`.
    pub permission_prompt_tool: Option<String>,
    /// Whether anybody is asked at all: `--permission-prompts`.
    pub permission_prompts: Option<PermissionPrompts>,
    /// Are told what happens, and may object: `hooks`.
    pub hooks: BTreeMap<HookEvent, Vec<HookMatcher>>,
    /// Answers MCP servers in the user's place. Without it they are declined.
    pub on_elicitation: Option<Arc<dyn OnElicitation>>,
    /// Shows dialogs of these kinds to the user, and the agent waits for what becomes of them:
    /// `supportedDialogKinds`.
    pub on_user_dialog: Option<(Vec<String>, Arc<dyn OnUserDialog>)>,
    /// Answers other requests of the agent, by their subtype. Some the agent makes only if it
    /// knows that they are answered: for `oauth_token_refresh` and `host_auth_token_refresh` it is
    /// told (`CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH`, `CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH`).
    pub on_request: BTreeMap<String, Arc<dyn OnRequest>>,

    // The conversation.
    /// `--continue`, `--resume`
    pub resume: Resume,
    /// Continue in a copy: `--fork-session`.
    pub fork_session: bool,
    /// Continue behind this message: `--resume-session-at`.
    pub resume_session_at: Option<String>,
    /// The prompt whose turn is given up: `--resume-drops-turn`.
    pub resume_drops_turn: Option<String>,
    /// The id of a new session or copy, a UUID: `--session-id`.
    pub session_id: Option<String>,
    /// Keep no transcript: `--no-session-persistence`.
    pub no_session_persistence: bool,
    /// Keeps a copy of every transcript, and is where [`resume`](Self::resume) looks:
    /// `--session-mirror`.
    #[cfg(feature = "sessions")]
    pub session_store: Option<Arc<dyn SessionStore>>,
    /// How soon what was said is in the store.
    #[cfg(feature = "sessions")]
    pub session_store_flush: MirrorFlush,
    /// The title of a new session: `title`.
    pub title: Option<String>,
    /// Back files up before they change, so that they can be put back:
    /// `CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`.
    pub file_checkpointing: bool,

    // Settings and what comes with them.
    /// `--settings`
    pub settings: Option<Settings>,
    /// Settings that no other can change: `--managed-settings`.
    pub managed_settings: Option<Value>,
    /// `--setting-sources`; `None` reads all, an empty list none.
    pub setting_sources: Option<Vec<SettingSource>>,
    /// The `sandbox` of the settings, in place of theirs. One that is enabled must be there, unless it says
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
    /// How the agent hears of them.
    pub plugin_delivery: PluginDelivery,
    /// Kinds of subagents, by name: `agents`.
    pub agents: BTreeMap<String, AgentDefinition>,
    /// The kind that the main agent is: `--agent`.
    pub agent: Option<String>,

    // What is reported.
    /// Let answers be seen as they grow: `--include-partial-messages`.
    pub include_partial_messages: bool,
    /// Report hooks: `--include-hook-events`.
    pub include_hook_events: bool,
    /// Repeat prompts when they are taken up: `--replay-user-messages`.
    pub replay_user_messages: bool,
    /// Pass on what subagents say: `forwardSubagentText`.
    pub forward_subagent_text: bool,
    /// Suggest the next prompt: `promptSuggestions`.
    pub prompt_suggestions: bool,
    /// Sum up what subagents do: `agentProgressSummaries`.
    pub agent_progress_summaries: bool,
    /// Interrupting leaves background tasks alone: `perTaskStopAffordance`.
    pub per_task_stop_affordance: bool,
    /// Take prompts as they are, without `@path` and slash commands: `client_composed`.
    pub verbatim_prompts: bool,
    /// Write what the process thinks to its stderr: `--debug`.
    pub debug: bool,
    /// Write what the process thinks into this file: `--debug-file`.
    pub debug_file: Option<PathBuf>,
}

/// Limits on our side of a session.
///
/// ```
/// use std::time::Duration;
///
/// use bowline_host::Options;
///
/// let mut options = Options::default();
/// options.limits.permission = Some(Duration::from_secs(300));
/// options.limits.close = Duration::from_secs(2);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// How long the agent may take to answer `initialize`.
    pub initialize: Duration,
    /// How long the agent may take to answer any other request.
    pub request: Duration,
    /// How long [`can_use_tool`](Options::can_use_tool) may take. A call that nobody has decided about
    /// by then is denied; `None` waits for as long as it takes.
    pub permission: Option<Duration>,
    /// How long the process may take to end after its stdin was closed, and again after SIGTERM.
    pub close: Duration,
    /// How long the session store may take to give a session.
    pub store: Duration,
    /// The longest line that is read from a process, in bytes: 64 MiB if you say nothing. A longer one is
    /// an error of its own and does not end the session.
    pub line: usize,
    /// How long a one-shot query waits for background work after a result, before it says
    /// that nothing more follows; `None` for as long as it takes.
    pub background_work: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            initialize: DEFAULT_TIME_LIMIT,
            request: DEFAULT_TIME_LIMIT,
            permission: None,
            close: DEFAULT_CLOSE_LIMIT,
            store: DEFAULT_TIME_LIMIT,
            line: DEFAULT_LINE_LIMIT,
            background_work: Some(Duration::from_secs(600)),
        }
    }
}

impl Options {
    /// The flags with which an agent elsewhere is to be started, so that it dials `url` and is
    /// set up as these options say.
    #[cfg(feature = "websocket")]
    pub fn remote_arguments(&self, url: &str) -> Result<Vec<std::ffi::OsString>, Error> {
        let mut words = vec!["--sdk-url".into(), url.into()];
        words.extend(arguments::arguments(self)?);
        Ok(words)
    }

    /// The variables with which an agent elsewhere is to be started; `None` removes one.
    #[cfg(feature = "websocket")]
    pub fn remote_variables(&self) -> BTreeMap<String, Option<String>> {
        arguments::variables(self)
    }

    /// Whether the agent may have something to ask of this program.
    pub(crate) fn has_callbacks(&self) -> bool {
        self.can_use_tool.is_some()
            || self.on_elicitation.is_some()
            || self.on_user_dialog.is_some()
            || !self.on_request.is_empty()
            || !self.hooks.is_empty()
            || !self.sdk_mcp_servers.is_empty()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables may be secrets, and callbacks have nothing to show.
        f.debug_struct("Options")
            .field("transport", &self.transport)
            .field("cwd", &self.cwd)
            .field("model", &self.model)
            .field("permission_mode", &self.permission_mode)
            .finish_non_exhaustive()
    }
}
