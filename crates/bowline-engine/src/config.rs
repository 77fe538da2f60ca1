//! Configuration of a session. Everything from outside (flags, environment, settings) is a value here.

mod resume;

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bowline_mcp::{ConfigProblem, NamedServer, Scope, ServerList, expand, read_file};
use bowline_model::{Model, ModelError, ModelRef, Prices, Providers, RetryPolicy, Thinking};
use bowline_protocol::{
    AgentDefinition, ApiKeySource, Effort, McpServerConfig, McpServerError, SessionId,
};
use bowline_sessions::{LiveContext, TranscriptWriter};
use bowline_tools::MODEL_KEYS;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    permission::{Policy, Roots},
    plugin::Plugins,
    settings::{Settings, SettingsPaths, SkippedParts, SourceSet, Trust},
};

/// How long background work may keep a session alive by default.
const BACKGROUND_WAIT: Duration = Duration::from_secs(600);

/// Long enough for most servers, short enough for a user who waits.
const MCP_GRACE: Duration = Duration::from_secs(5);

/// How a session is set up. Start from [`SessionConfig::new`] and change what you need.
#[non_exhaustive]
pub struct SessionConfig {
    /// The id of the session.
    pub session_id: SessionId,
    /// The title that the user gave it.
    pub title: Option<String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The source of models.
    pub models: Arc<dyn Models>,
    /// The model's name, as the user gave it.
    pub model: String,
    /// Whether it was chosen for this session, and so overrides the model of the main agent's kind.
    pub model_is_chosen: bool,
    /// The model that `default` means when a host switches back to it.
    pub default_model: String,
    /// Models that take over when it is overloaded, in order.
    pub fallback_models: Vec<String>,
    /// The prices of tokens.
    pub prices: Prices,
    /// The retry policy of model requests.
    pub retry: RetryPolicy,
    /// The thinking configuration; `None` leaves it to the model.
    pub thinking: Option<Thinking>,
    /// The effort of the model.
    pub effort: Option<Effort>,
    /// The output limit in tokens, if it is less than the model's.
    pub max_output_tokens: Option<u64>,
    /// The model for small tasks on the side, such as a title; `None` for the session's own.
    pub small_model: Option<String>,
    /// Beta features of the API.
    pub betas: Vec<String>,
    /// The token budget of the task that is sent to the model.
    pub task_budget: Option<u64>,
    /// The kind of agent that the main one is; `None` for our own.
    pub agent: Option<String>,
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// The tools it starts with.
    pub tools: ToolSelection,
    /// The MCP servers it starts with; their tools are among its own.
    pub mcp_servers: Vec<NamedServer>,
    /// The invalid MCP servers that were left out, reported to the host.
    pub mcp_server_errors: Vec<McpServerError>,
    /// Limits of MCP servers, and our client identity.
    pub mcp_options: bowline_mcp::Options,
    /// How long the first turn waits for MCP servers to connect. The tools of a later one are added
    /// when it connects.
    pub mcp_grace: Duration,
    /// The permission policy.
    pub policy: Policy,
    /// The destination of permission requests.
    pub permission_prompts: PermissionPrompts,
    /// Whether the mode that allows everything may be switched to later.
    pub may_bypass_permissions: bool,
    /// The settings all of this came from; hooks are taken from here.
    pub settings: Settings,
    /// The paths of settings and sessions.
    pub places: SettingsPaths,
    /// The sources whose instructions, commands, skills and output styles apply.
    pub sources: SourceSet,
    /// Whether the project is trusted, so that its files apply unchanged. `settings` must have been
    /// loaded with the same value.
    pub trust: Trust,
    /// The parts of an untrusted project that do not apply ([`survey`](Self::survey)).
    pub left_out: SkippedParts,
    /// The plugins it starts with.
    pub plugins: Plugins,
    /// Definitions of subagents.
    pub agents: BTreeMap<String, AgentDefinition>,
    /// Model round trips in a turn; `None` for no limit.
    pub max_turns: Option<u32>,
    /// The budget of the session.
    pub max_budget_usd: Option<f64>,
    /// The JSON schema of results.
    pub json_schema: Option<Value>,
    /// Whether the host wants stream events of responses.
    pub include_partial_messages: bool,
    /// Whether the host wants messages about hooks.
    pub include_hook_events: bool,
    /// Whether prompts are replayed to the host when they are dequeued.
    pub replay_user_messages: bool,
    /// Whether the text of subagents is sent.
    pub forward_subagent_text: bool,
    /// Whether the host is notified when the session becomes busy or idle.
    pub session_state_events: SessionStateEvents,
    /// How often Stop hooks may send the model back to work.
    pub stop_hook_block_cap: u32,
    /// Options and limits of tools.
    pub tool_options: bowline_tools::Options,
    /// Whether files must have been read before they are changed; `None` decides by the
    /// model.
    pub read_before_write: Option<bool>,
    /// Variables for the processes the session starts.
    pub environment: BTreeMap<String, Option<String>>,
    /// Variables that commands of the model do not see.
    pub hidden_variables: Vec<String>,
    /// The transcript writer; `None` keeps it in memory only.
    pub transcript: Option<TranscriptWriter>,
    /// The session that is resumed.
    pub resumed: Option<LiveContext>,
    /// Whether files are backed up before they are changed.
    pub file_checkpointing: bool,
    /// Which program started us, as in `sdk-py`.
    pub entrypoint: String,
    /// Our version, as reported to hosts.
    pub version: String,
    /// When this program was built (ISO 8601), as reported to hosts.
    pub build_time: String,
    /// The source of the API key.
    pub api_key_source: ApiKeySource,
    /// The size in tokens at which the context is full; `None` for the model's own limit.
    pub auto_compact_window: Option<u64>,
    /// Whether a full context is compacted automatically.
    pub auto_compact: bool,
    /// How long background work may keep a session alive whose host has closed its input, between
    /// turns; `None` for as long as it takes.
    pub background_wait: Option<Duration>,
    /// How long it waits for the next prompt once it has nothing to do; `None` for as long as its
    /// input is open.
    pub idle_limit: Option<Duration>,
    /// Whether facts about the environment go with the first prompt rather than into the system prompt.
    pub exclude_dynamic_sections: bool,
    /// Whether prompts that begin with a slash can be commands, and skills are offered.
    pub slash_commands: bool,
    /// Whether the managed settings of the first `initialize` are among its settings.
    pub managed_by_host: bool,
    /// Whether `Setup` hooks run before the session starts, and why.
    pub setup: Option<SetupTrigger>,
    /// Whether it only waits for its host to claim a session, which then replaces it
    /// ([`Session::take_over`](crate::Session::take_over)): no hooks run, no server is connected
    /// and prompts are refused.
    pub unclaimed: bool,
}

impl SessionConfig {
    /// A new session in `cwd` with `model` from `models`: nothing is saved, no permission is requested.
    pub fn new(cwd: impl Into<PathBuf>, models: Arc<dyn Models>, model: impl Into<String>) -> Self {
        let cwd = cwd.into();
        let model = model.into();
        Self {
            default_model: model.clone(),
            model_is_chosen: false,
            session_id: SessionId(Uuid::new_v4().to_string()),
            models,
            model,
            fallback_models: Vec::new(),
            prices: Prices::default(),
            retry: RetryPolicy::default(),
            thinking: None,
            effort: None,
            max_output_tokens: None,
            small_model: None,
            betas: Vec::new(),
            task_budget: None,
            agent: None,
            system_prompt: SystemPrompt::default(),
            tools: ToolSelection::default(),
            mcp_servers: Vec::new(),
            mcp_server_errors: Vec::new(),
            mcp_options: bowline_mcp::Options::default(),
            mcp_grace: MCP_GRACE,
            policy: Policy::new(Roots { current_directory: cwd.clone(), home: None }),
            permission_prompts: PermissionPrompts::Nobody,
            may_bypass_permissions: false,
            settings: Settings::default(),
            places: SettingsPaths::new(cwd.join(".bowline"), &cwd),
            sources: SourceSet::default(),
            trust: Trust::default(),
            left_out: SkippedParts::default(),
            plugins: Plugins::default(),
            agents: BTreeMap::new(),
            max_turns: None,
            max_budget_usd: None,
            json_schema: None,
            include_partial_messages: false,
            include_hook_events: false,
            replay_user_messages: false,
            forward_subagent_text: false,
            session_state_events: SessionStateEvents::Off,
            stop_hook_block_cap: 8,
            tool_options: bowline_tools::Options::default(),
            read_before_write: None,
            environment: BTreeMap::new(),
            hidden_variables: Vec::new(),
            transcript: None,
            resumed: None,
            file_checkpointing: false,
            entrypoint: "sdk-rust".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build_time: String::new(),
            api_key_source: ApiKeySource::None,
            auto_compact_window: None,
            auto_compact: true,
            background_wait: Some(BACKGROUND_WAIT),
            idle_limit: None,
            title: None,
            exclude_dynamic_sections: false,
            slash_commands: true,
            managed_by_host: false,
            setup: None,
            unclaimed: false,
            cwd,
        }
    }

    /// Adds an MCP server named by the caller.
    pub fn add_mcp_server(&mut self, name: impl Into<String>, config: McpServerConfig) {
        self.mcp_servers.push(NamedServer { name: name.into(), config, scope: Scope::Dynamic });
    }

    /// Adds the MCP servers of a file such as `.mcp.json`, or returns its problems.
    pub fn add_mcp_file(&mut self, file: &Path) -> Result<(), Vec<ConfigProblem>> {
        let ServerList { servers, problems } = read_file(&self.cwd.join(file), Scope::Dynamic);
        self.mcp_servers.extend(servers);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Adds the MCP servers of the project and those that settings name, unless their names are taken, and
    /// returns their problems.
    pub fn add_servers_of_settings(&mut self) -> Vec<String> {
        let (servers, problems) = self.settings.servers(&self.places, self.sources, self.trust);
        for server in servers {
            if !self.mcp_servers.iter().any(|taken| taken.name == server.name) {
                self.mcp_servers.push(server);
            }
        }
        problems
    }

    /// Expands variables (`${NAME}`, `${NAME:-default}`) in the configurations of MCP servers, and
    /// returns a notice for each server with unset ones.
    pub fn expand_servers(&mut self, lookup: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        let servers = self.mcp_servers.iter_mut();
        let notices = servers.filter_map(|NamedServer { name, config, .. }| {
            let missing = expand(config, lookup);
            (!missing.is_empty()).then(|| {
                format!("MCP server {name}: not set and without a default: {}", missing.join(", "))
            })
        });
        notices.collect()
    }

    /// Sets the variables of the session's processes: those of its settings, and those that identify
    /// the session.
    pub fn inherit_variables(&mut self) {
        if self.settings.hides_keys() {
            self.hidden_variables.extend(MODEL_KEYS.iter().map(|name| (*name).to_owned()));
        }
        let set = self.settings.variables();
        // There is no terminal for an editor.
        let editor = [("GIT_EDITOR".to_owned(), Some("true".to_owned()))];
        let set = set.map(|(name, value)| (name.clone(), Some(value.clone())));
        self.environment = editor.into_iter().chain(set).collect();
        let own = [
            ("CLAUDECODE", "1".to_owned()),
            ("CLAUDE_CODE_CHILD_SESSION", "1".to_owned()),
            ("CLAUDE_CODE_ENTRYPOINT", self.entrypoint.clone()),
            ("CLAUDE_CODE_SESSION_ID", self.session_id.to_string()),
            ("CLAUDE_PID", std::process::id().to_string()),
        ];
        self.environment.extend(own.map(|(name, value)| (name.to_owned(), Some(value))));
    }
}

impl fmt::Debug for SessionConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionConfig")
            .field("session_id", &self.session_id)
            .field("cwd", &self.cwd)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A source of models.
pub trait Models: Send + Sync + 'static {
    /// Connects to the model of this name or alias.
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError>;
}

/// A model that is ready for requests.
#[derive(Clone)]
pub struct ConnectedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The provider's name of it, used in requests.
    pub wire_name: String,
    /// Our name of it, used in messages and bills.
    pub name: String,
}

impl fmt::Debug for ConnectedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPrompt {
    /// Our own, with this appended.
    Default {
        /// The appended text.
        append: Option<String>,
    },
    /// A custom prompt.
    Custom(Vec<String>),
}

impl Default for SystemPrompt {
    fn default() -> Self {
        Self::Default { append: None }
    }
}

/// The tools a session starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolSelection {
    /// All of them.
    #[default]
    Default,
    /// These, by name.
    Named(Vec<String>),
}

/// The destination of permission requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PermissionPrompts {
    /// The host.
    Host,
    /// A tool of an MCP server, by its full name.
    McpTool(String),
    /// No approver is attached: calls that need a request are denied.
    #[default]
    Nobody,
    /// Requests are switched off although there is a host (`--permission-prompts none`).
    Disabled,
}

/// The trigger of `Setup` hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupTrigger {
    /// `--init`: work in the folder begins.
    Init,
    /// `--maintenance`: work in the folder continues.
    Maintenance,
}

impl SetupTrigger {
    /// The `trigger` of the hook input.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Maintenance => "maintenance",
        }
    }
}

/// Whether the host is notified when the session becomes busy or idle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionStateEvents {
    /// It is not.
    #[default]
    Off,
    /// Its SDK is, which does not pass the messages on.
    HostOnly,
    /// It is.
    On,
}

impl Models for Providers {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let reference: ModelRef = name.parse()?;
        let model = Self::connect(self, &reference)?;
        let name = match &reference {
            ModelRef::Anthropic(name) => name.clone(),
            other => other.to_string(),
        };
        Ok(ConnectedModel { model, wire_name: reference.name().to_owned(), name })
    }
}
