//! Context of a session: the parts that its agents, tools and commands use.

use std::sync::Arc;

use bowline_mcp::McpServers;
use bowline_tools::Workspace;

use crate::{
    agent_kind::AgentKinds,
    approvals::PendingApprovals,
    config::SessionConfig,
    file_history::FileHistory,
    hooking::HookRunner,
    instructions::ContextState,
    journal::Journal,
    library::CommandCatalog,
    mcp::{McpBridge, ServerStartup},
    settings::ProjectTrust,
    side::SideModel,
    sink::MessageSink,
    state::{
        BackgroundWork, CurrentPlugins, CurrentPrompt, CurrentSettings, HostProfile, MainTools,
        ModelSelection, OutputFormat, PendingChanges, Permissions, PromptQueue, SessionTitle,
        TurnControl,
    },
    tasks::TaskBoard,
    usage::SessionUsage,
    watch::Watch,
};

/// The parts of a session. It has no methods: each part has its own.
pub(crate) struct SessionContext {
    pub(crate) config: SessionConfig,
    /// Whether the project is trusted.
    pub(crate) trust: ProjectTrust,
    /// Sends messages to the host.
    pub(crate) sink: Arc<MessageSink>,
    /// Writes the transcript.
    pub(crate) journal: Arc<Journal>,
    /// Controls the turn that runs.
    pub(crate) turn: Arc<TurnControl>,
    /// Prompts that wait for their turn.
    pub(crate) queue: PromptQueue,
    /// Ids of the current prompt.
    pub(crate) prompt: Arc<CurrentPrompt>,
    /// Changes for the main agent's next turn.
    pub(crate) pending: Arc<PendingChanges>,
    pub(crate) permissions: Arc<Permissions>,
    /// Requests to the host that wait for a person.
    pub(crate) approvals: Arc<PendingApprovals>,
    pub(crate) usage: Arc<SessionUsage>,
    pub(crate) models: Arc<ModelSelection>,
    /// Requests to models beside the conversation.
    pub(crate) side: Arc<SideModel>,
    /// What the host announced.
    pub(crate) host: Arc<HostProfile>,
    pub(crate) title: SessionTitle,
    pub(crate) output: OutputFormat,
    pub(crate) settings: Arc<CurrentSettings>,
    pub(crate) plugins: Arc<CurrentPlugins>,
    pub(crate) hooks: Arc<HookRunner>,
    /// Files that others change.
    pub(crate) watch: Arc<Watch>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) main_tools: Arc<MainTools>,
    pub(crate) mcp: Arc<McpServers>,
    pub(crate) bridge: Arc<McpBridge>,
    pub(crate) servers: ServerStartup,
    /// Slash commands and skills.
    pub(crate) commands: Arc<CommandCatalog>,
    pub(crate) kinds: AgentKinds,
    /// Instructions and snapshots of what the model sees.
    pub(crate) model_context: Arc<ContextState>,
    /// Background tasks as the host sees them.
    pub(crate) tasks: TaskBoard,
    pub(crate) background: BackgroundWork,
    /// Copies of files from before they were changed, if the host wants them.
    pub(crate) file_history: Option<Arc<FileHistory>>,
}
