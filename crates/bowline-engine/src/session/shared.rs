//! What all agents of a session share: the way out, the rules, the books, the settings that can change.

mod costs;
mod live;
mod permissions;
mod turn;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use bowline_mcp::McpServers;
use bowline_model::{ModelError, RetryPolicy, known_model};
use bowline_protocol::{
    AgentId, Effort, HostRequest, InformationalLevel, InformationalMessage, PermissionMode,
    SessionId,
};
use bowline_tools::Workspace;
use tokio::{sync::Notify, task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    file_history::FileHistory, questions::QuestionBoard, queue::PromptQueue, tasks::TaskBoard,
};
use crate::{
    command::LibraryCell,
    config::{ConnectedModel, SessionConfig},
    context,
    hook::{HookObserver, Hooks},
    journal::{Journal, WriteNotice},
    permission::Policy,
    plugin::Plugins,
    settings::{Settings, Standing},
    sink::MessageSink,
    toolset::Toolset,
    turn::call_slot::CallSlots,
    usage::UsageLedger,
    watch::Watch,
};

use self::live::Live;
pub(crate) use self::live::ServerPolicy;

/// What all agents of a session share.
pub(crate) struct Shared {
    pub(crate) config: SessionConfig,
    pub(crate) sink: Arc<MessageSink>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) hooks: Hooks,
    pub(crate) hook_frames: Arc<dyn HookObserver>,
    pub(crate) journal: Journal,
    /// The MCP servers.
    pub(crate) mcp: Arc<McpServers>,
    /// Copies of files from before they were changed; `None` if nobody wants them.
    pub(crate) file_history: Option<Arc<FileHistory>>,
    /// What the model is told besides the conversation.
    pub(crate) context: context::State,
    /// The standing of the project.
    pub(crate) standing: Standing,
    /// Commands and skills that people wrote.
    pub(crate) library: LibraryCell,
    /// Files that others change.
    pub(crate) watch: Watch,
    /// When the session began.
    pub(crate) began: Instant,
    policy: Mutex<Policy>,
    ledger: Mutex<UsageLedger>,
    live: Mutex<Live>,
    queue: Mutex<PromptQueue>,
    settings: Mutex<Settings>,
    plugins: Mutex<Arc<Plugins>>,
    /// Stops the turn that runs.
    turn: Mutex<Option<CancellationToken>>,
    /// Fires when the host has the answer to its last interrupt.
    interrupt_answered: Mutex<Option<CancellationToken>>,
    /// What runs beside the conversation.
    beside: Mutex<JoinSet<()>>,
    /// What the main agent can call.
    main_tools: Mutex<Option<Arc<Toolset>>>,
    /// Fires once hooks have heard that the session begins.
    pub(crate) started: CancellationToken,
    /// Wakes the session when something waits for it.
    pub(crate) wake: Notify,
    /// Why the session cannot go on.
    pub(super) fault: OnceLock<String>,
    pub(crate) board: TaskBoard,
    /// Questions that wait for a person.
    pub(crate) questions: QuestionBoard,
    /// Where calls without a conversation acquire a slot.
    pub(super) direct_calls: CallSlots,
    /// Whether a turn has waited for the MCP servers there are.
    pub(super) servers_awaited: AtomicBool,
    /// Whether the MCP servers are being let go of.
    pub(super) servers_closing: AtomicBool,
    /// The host will say no more.
    input_ended: AtomicBool,
    /// Whether the turn that runs is stopped for a prompt that cannot wait.
    pub(super) makes_way: AtomicBool,
    /// How many results there were.
    pub(super) results: AtomicU64,
    /// What the host asked for that holds for the session it claims, too.
    pub(super) kept_for_claim: Mutex<Vec<HostRequest>>,
}

impl Shared {
    #[expect(clippy::too_many_arguments, reason = "called once, by the session's start")]
    pub(crate) fn new(
        config: SessionConfig,
        policy: Policy,
        sink: Arc<MessageSink>,
        workspace: Arc<Workspace>,
        hooks: Hooks,
        hook_frames: Arc<dyn HookObserver>,
        journal: Journal,
        board: TaskBoard,
        mcp: Arc<McpServers>,
        file_history: Option<Arc<FileHistory>>,
    ) -> Self {
        let known =
            config.resumed.as_ref().map(|resumed| resumed.known.clone()).unwrap_or_default();
        Self {
            standing: Standing::new(&config.places, config.trust),
            policy: Mutex::new(policy),
            ledger: Mutex::new(UsageLedger::new(config.prices.clone())),
            live: Mutex::new(Live::new(&config)),
            queue: Mutex::new(PromptQueue::new(known)),
            settings: Mutex::new(config.settings.clone()),
            plugins: Mutex::new(Arc::new(config.plugins.clone())),
            turn: Mutex::default(),
            beside: Mutex::default(),
            main_tools: Mutex::default(),
            started: CancellationToken::new(),
            interrupt_answered: Mutex::default(),
            wake: Notify::new(),
            fault: OnceLock::new(),
            board,
            questions: QuestionBoard::default(),
            direct_calls: CallSlots::default(),
            servers_awaited: AtomicBool::new(false),
            servers_closing: AtomicBool::new(false),
            input_ended: AtomicBool::new(false),
            makes_way: AtomicBool::new(false),
            results: AtomicU64::new(0),
            kept_for_claim: Mutex::default(),
            context: context::State::default(),
            library: LibraryCell::default(),
            watch: Watch::default(),
            began: Instant::now(),
            config,
            sink,
            workspace,
            hooks,
            hook_frames,
            journal,
            mcp,
            file_history,
        }
    }

    pub(crate) fn id(&self) -> SessionId {
        self.sink.session_id()
    }

    pub(crate) fn policy(&self) -> MutexGuard<'_, Policy> {
        lock(&self.policy)
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, UsageLedger> {
        lock(&self.ledger)
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, Live> {
        lock(&self.live)
    }

    pub(crate) fn queue(&self) -> MutexGuard<'_, PromptQueue> {
        lock(&self.queue)
    }

    pub(crate) fn settings(&self) -> MutexGuard<'_, Settings> {
        lock(&self.settings)
    }

    /// The plugins as they were last read.
    pub(crate) fn plugins(&self) -> Arc<Plugins> {
        lock(&self.plugins).clone()
    }

    pub(super) fn set_plugins(&self, plugins: Plugins) -> Arc<Plugins> {
        let plugins = Arc::new(plugins);
        *lock(&self.plugins) = Arc::clone(&plugins);
        plugins
    }

    pub(crate) fn mode(&self) -> PermissionMode {
        self.policy().mode.clone()
    }

    pub(crate) fn prompt_id(&self) -> Option<String> {
        self.live().prompt_id.clone()
    }

    /// How much effort the model makes; `None` if it cannot be told.
    pub(crate) fn effort_level(&self) -> Option<String> {
        let takes_effort = known_model(&self.model_name()).is_none_or(|known| known.takes_effort);
        let level = self.live().effort.map_or("medium", Effort::as_str);
        takes_effort.then(|| level.to_owned())
    }

    pub(crate) fn transcript_path(&self) -> String {
        let path = self.journal.with(|writer| Some(writer.path().display().to_string()));
        path.unwrap_or_default()
    }

    /// The model that the session uses now.
    pub(crate) fn model(&self) -> Result<ConnectedModel, ModelError> {
        let name = self.live().model.clone();
        self.config.models.connect(&name)
    }

    /// What the session's model is called; as it was asked for if it cannot be reached.
    pub(crate) fn model_name(&self) -> String {
        self.model().map_or_else(|_| self.live().model.clone(), |connected| connected.name)
    }

    /// Where a subagent's transcript is, or would be.
    pub(crate) fn subagent_transcript(&self, id: &AgentId) -> String {
        let path = self.journal.with(|writer| Some(writer.files().subagent(id)));
        path.map(|path| path.display().to_string()).unwrap_or_default()
    }

    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        self.config.retry.clone()
    }

    /// Emits what a write to disk has to tell.
    pub(crate) async fn emit_notice(&self, notice: WriteNotice) {
        if let Some(message) = notice {
            self.sink.emit(message).await;
        }
    }

    /// Tells the user something.
    pub(crate) async fn inform(&self, level: InformationalLevel, content: impl Into<String>) {
        let content = content.into();
        self.sink
            .send(InformationalMessage { content, level, ..InformationalMessage::default() })
            .await;
    }

    /// Lets something run beside the conversation until the session ends.
    pub(crate) fn run_beside(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut beside = lock(&self.beside);
        while beside.try_join_next().is_some() {}
        beside.spawn(work);
    }

    /// What runs beside the conversation, to be joined at the end.
    pub(crate) fn take_beside(&self) -> JoinSet<()> {
        std::mem::take(&mut *lock(&self.beside))
    }

    /// What the main agent can call.
    pub(crate) fn main_tools(&self) -> Arc<Toolset> {
        lock(&self.main_tools).clone().unwrap_or_else(|| Arc::new(Toolset::empty()))
    }

    pub(crate) fn set_main_tools(&self, tools: &Arc<Toolset>) {
        *lock(&self.main_tools) = Some(Arc::clone(tools));
    }
}

/// What is behind these locks stays whole even if a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the background may take to end when the session does.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
