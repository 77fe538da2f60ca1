//! Options of an agent.

mod agent_setup;
pub(crate) mod argument_files;
pub(crate) mod arguments;
pub(crate) mod check;
pub(crate) mod connect;
#[cfg(feature = "sessions")]
pub(crate) mod directories;
mod groups;
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

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use bowline_protocol::{HookEvent, MAX_LINE_BYTES, PermissionMode};

pub use agent_setup::AgentSetup;
pub use connect::AgentTransport;
pub(crate) use connect::{AgentOrigin, Connect};
pub use groups::{
    CallbackOptions, GenerationOptions, MessageOptions, PermissionOptions, ProcessOptions,
    SessionOptions, SettingsOptions, ToolOptions,
};
pub use spawn::{ProcessUser, Spawner};
pub use values::{
    BuiltinTools, PermissionPrompts, Plugin, PluginDelivery, PreviewFormat, Resume, SettingSource,
    Settings, Skills, SystemPrompt, Thinking, TraceContext,
};

use crate::{
    callback::{CanUseTool, HookMatcher},
    tool::SdkServer,
};

/// How long the agent may take to respond to `initialize`, and to any other request.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// How long the agent may take to end by itself, and then to heed SIGTERM.
pub const DEFAULT_CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// Callback for every line that the agent writes to its stderr.
pub type StderrCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// Options of an agent. Start from the default, change what you need.
///
/// The fields that most programs set come first; the others are grouped by subject. Setters exist for
/// what is set most, in any group. Each option names the flag, the field of `initialize` or
/// the variable that it becomes. Its name in the official SDKs, and the versions of the official CLI that
/// support it, are in the table of `docs/sdk-options.md`; an agent that does not know a flag exits with
/// an error, one that does not know a field ignores it. Options apply to every way to run the agent,
/// except those about its process.
///
/// ```
/// use bowline_host::{Effort, Options, PermissionMode};
///
/// let mut options = Options::default()
///     .model("sonnet")
///     .cwd("/srv/project")
///     .permission_mode(PermissionMode::AcceptEdits)
///     .max_turns(10);
/// // Options without a setter are fields, grouped by subject.
/// options.generation.effort = Some(Effort::Max);
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// How the agent is reached; a process that this program starts, unless set.
    pub transport: AgentTransport,
    /// Working directory. It must exist where the agent is started.
    pub cwd: Option<PathBuf>,
    /// Model, by name or alias: `--model`.
    pub model: Option<String>,
    /// System prompt; empty, unless set: `--system-prompt`, `--append-system-prompt`.
    pub system_prompt: SystemPrompt,
    /// Rules for tool calls that need no approval: `--allowedTools`.
    pub allowed_tools: Vec<String>,
    /// Permission mode: `--permission-mode`.
    pub permission_mode: Option<PermissionMode>,
    /// Callback that decides what neither rules nor mode decide: `--permission-prompt-tool stdio`.
    pub can_use_tool: Option<Arc<dyn CanUseTool>>,
    /// Hooks, by event. They are called before and after what the agent does, and may block it: `hooks`.
    pub hooks: BTreeMap<HookEvent, Vec<HookMatcher>>,
    /// MCP servers in this program, with its own tools: `sdkMcpServers`.
    pub sdk_mcp_servers: Vec<SdkServer>,
    /// Limit of model requests for each prompt, 0 for none: `--max-turns`.
    pub max_turns: Option<u32>,
    /// Session to continue: `--continue`, `--resume`.
    pub resume: Resume,

    // The rest, by subject.
    /// The process of an agent: its program, environment, output.
    pub process: ProcessOptions,
    /// How responses are generated: thinking, effort, output schema, budgets.
    pub generation: GenerationOptions,
    /// Built-in tools and MCP servers elsewhere.
    pub tools: ToolOptions,
    /// Who decides about permissions, beside the callback.
    pub permissions: PermissionOptions,
    /// Callbacks for less common requests of the agent.
    pub callbacks: CallbackOptions,
    /// The session's identity, where it continues, and where it is stored.
    pub session: SessionOptions,
    /// Settings, folders, skills, plugins and subagents.
    pub settings: SettingsOptions,
    /// Which messages the agent sends, and how prompts are read.
    pub messages: MessageOptions,
    /// Time and size limits on this side of the session.
    pub limits: Limits,
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
    /// Timeout of the agent's response to `initialize`.
    pub initialize: Duration,
    /// Timeout of the agent's response to any other request.
    pub request: Duration,
    /// How long [`can_use_tool`](Options::can_use_tool) may take. A call that is undecided
    /// by then is denied; `None` waits for as long as it takes.
    pub permission: Option<Duration>,
    /// How long the process may take to end after its stdin was closed, and again after SIGTERM.
    pub close: Duration,
    /// How long the session store may take to give a session.
    pub store: Duration,
    /// The longest line that is read from a process, in bytes; the default is 64 MiB. A longer one is
    /// a separate error and does not end the session.
    pub line: usize,
    /// How long a one-shot query waits for background work after a result, before it signals
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
            line: MAX_LINE_BYTES,
            background_work: Some(Duration::from_secs(600)),
        }
    }
}

impl Options {
    /// Whether the agent may send requests to this program.
    pub(crate) fn has_callbacks(&self) -> bool {
        self.can_use_tool.is_some()
            || self.callbacks.on_elicitation.is_some()
            || self.callbacks.on_user_dialog.is_some()
            || !self.callbacks.on_request.is_empty()
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
