//! What all agents of a session share: the way out, the rules, the books, the settings that can change.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline_mcp::McpServers;
use bowline_model::{ModelError, RetryPolicy, Thinking, known_model};
use bowline_protocol::{
    AgentDefinition, AgentId, Effort, Extra, HostRequest, InformationalLevel, InformationalMessage,
    Initialize, McpServerRef, McpToolPolicy, ModelSwitchInput, PermissionMode, PermissionUpdate,
    RawJson, SessionId, SessionState, SessionStateChangedMessage, UpdateDestination,
};
use bowline_sessions::{CostState, CustomTitle};
use bowline_tools::Workspace;
use tokio::{
    sync::{Notify, RwLock},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    file_history::FileHistory, questions::QuestionBoard, queue::PromptQueue, tasks::TaskBoard,
};
use crate::{
    agent::Identity,
    command::LibraryCell,
    config::{ConnectedModel, SessionConfig, SessionStateEvents},
    context::{self, style},
    hook::{HookObserver, Hooks},
    journal::{Journal, Told},
    ledger::{Account, Ledger, LineChanges, Tokens},
    outlet::Outlet,
    permission::{Policy, ProposedCall, Verdict, write_settings},
    plugin::Plugins,
    settings::Settings,
    toolset::Toolset,
    turn::{answer::Answer, run::millis},
    watch::Watch,
};

/// What all agents of a session share.
pub(crate) struct Shared {
    pub(crate) config: SessionConfig,
    pub(crate) outlet: Arc<Outlet>,
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
    /// Commands and skills that people wrote.
    pub(crate) library: LibraryCell,
    /// Files that others change.
    pub(crate) watch: Watch,
    /// When the session began.
    pub(crate) began: Instant,
    policy: Mutex<Policy>,
    ledger: Mutex<Ledger>,
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
    /// Calls without a conversation: those that are safe beside each other share it.
    pub(super) direct_calls: RwLock<()>,
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

/// What can change while a session runs.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    /// The model, as it was asked for.
    pub(crate) model: String,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<Effort>,
    pub(crate) title: Option<String>,
    pub(crate) output_style: String,
    /// The shape that results must have.
    pub(crate) json_schema: Option<serde_json::Value>,
    /// The prompt being worked on.
    pub(crate) prompt_id: Option<String>,
    /// Names the turn that runs.
    pub(crate) turn_id: String,
    /// What the host announced when it connected.
    pub(crate) host: HostTraits,
    pub(crate) state: SessionState,
    /// What hooks want the model to know with the next prompt.
    pub(crate) context: Vec<String>,
    /// Agents that the host defined.
    pub(crate) agents: BTreeMap<String, AgentDefinition>,
    /// The mode to go back to when a plan is agreed on.
    pub(crate) mode_before_plan: Option<PermissionMode>,
    /// What the main agent can call has to be put together anew.
    pub(crate) tools_changed: bool,
    /// What the main agent has yet to notice.
    pub(crate) unnoticed: Unnoticed,
    /// How strict to be about the tools of single MCP servers.
    pub(crate) server_modes: BTreeMap<String, PermissionMode>,
    /// What is decided about single tools of MCP servers.
    pub(crate) server_policies: BTreeMap<String, ServerPolicy>,
}

/// What was changed from outside and reaches the main agent with its next turn or request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unnoticed {
    /// A switch of the model that hooks have not heard of.
    pub(crate) model_switch: Option<ModelSwitchInput>,
    /// The model is of another family: it could not verify earlier reasoning.
    pub(crate) foreign_thinking: bool,
}

/// What is decided about the tools of one MCP server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerPolicy {
    pub(crate) tools: Vec<McpToolPolicy>,
    /// Whether it may allow what would be asked: a server inside the host may not.
    pub(crate) may_allow: bool,
}

/// What a host announces in `initialize`.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostTraits {
    pub(crate) initialized: bool,
    pub(crate) forward_subagent_text: bool,
    pub(crate) plan_mode_instructions: Option<String>,
    pub(crate) skills: Option<Vec<String>>,
    /// In place of our own system prompt.
    pub(crate) system_prompt: Option<Vec<String>>,
    /// Behind the system prompt.
    pub(crate) append_system_prompt: Option<String>,
    /// Whether facts about the place go with the first prompt rather than into the system prompt.
    pub(crate) exclude_dynamic_sections: bool,
    /// Behind the system prompt of subagents.
    pub(crate) append_subagent_system_prompt: Option<String>,
    /// Other names for tools.
    pub(crate) tool_aliases: BTreeMap<String, String>,
    /// Whether anybody watches, if that is known.
    pub(crate) has_subscribers: Option<bool>,
    /// Whether interrupting leaves background tasks alone.
    pub(crate) stops_tasks_itself: bool,
}

impl Shared {
    #[expect(clippy::too_many_arguments, reason = "called once, by the session's start")]
    pub(crate) fn new(
        config: SessionConfig,
        policy: Policy,
        outlet: Arc<Outlet>,
        workspace: Arc<Workspace>,
        hooks: Hooks,
        hook_frames: Arc<dyn HookObserver>,
        journal: Journal,
        board: TaskBoard,
        mcp: Arc<McpServers>,
        file_history: Option<Arc<FileHistory>>,
    ) -> Self {
        let live = Live {
            model: config.model.clone(),
            thinking: config.thinking,
            effort: config.effort,
            title: config.title.clone().or_else(|| config.resumed.as_ref()?.title.clone()),
            output_style: style_of(&config.settings),
            json_schema: config.json_schema.clone(),
            context: Vec::new(),
            agents: BTreeMap::new(),
            mode_before_plan: None,
            tools_changed: false,
            prompt_id: None,
            turn_id: String::new(),
            host: HostTraits {
                forward_subagent_text: config.forward_subagent_text,
                exclude_dynamic_sections: config.exclude_dynamic_sections,
                ..HostTraits::default()
            },
            state: SessionState::Idle,
            unnoticed: Unnoticed::default(),
            server_modes: BTreeMap::new(),
            server_policies: BTreeMap::new(),
        };
        let known =
            config.resumed.as_ref().map(|resumed| resumed.known.clone()).unwrap_or_default();
        Self {
            policy: Mutex::new(policy),
            ledger: Mutex::new(Ledger::new(config.prices.clone())),
            live: Mutex::new(live),
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
            direct_calls: RwLock::default(),
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
            outlet,
            workspace,
            hooks,
            hook_frames,
            journal,
            mcp,
            file_history,
        }
    }

    pub(crate) fn id(&self) -> SessionId {
        self.outlet.session_id()
    }

    pub(crate) fn policy(&self) -> MutexGuard<'_, Policy> {
        lock(&self.policy)
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
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

    /// The working directories besides the first.
    pub(crate) fn added_directories(&self) -> Vec<PathBuf> {
        self.policy().directories().skip(1).map(Path::to_path_buf).collect()
    }

    /// Puts the name of the tool that the host wants used in the place of one it wants not used.
    pub(crate) fn redirect(&self, tool: &mut String) {
        if let Some(other) = self.live().host.tool_aliases.get(tool) {
            *tool = other.clone();
        }
    }

    /// Decides about a call, by the mode that counts for the server it belongs to or for the agent
    /// that makes it.
    pub(crate) fn judge(
        &self,
        call: &ProposedCall<'_>,
        server: Option<&McpServerRef>,
        caller: &Identity,
    ) -> Verdict {
        let mode = server.and_then(|server| self.live().server_modes.get(&server.name).cloned());
        let mut policy = self.policy();
        let own = caller.subagent().and_then(|agent| agent.permission_mode.as_ref());
        let mode = mode.or_else(|| own.and_then(|mode| policy.mode_for_agent(mode)));
        let Some(mode) = mode else { return policy.evaluate(call) };
        let usual = std::mem::replace(&mut policy.mode, mode);
        let verdict = policy.evaluate(call);
        policy.mode = usual;
        verdict
    }

    /// Changes the rules, in memory and, where the change says so, on disk.
    pub(crate) fn apply_permission_update(&self, update: &PermissionUpdate) {
        let applied = self.policy().apply(update);
        self.workspace.set_added_roots(self.added_directories());
        let persist = match applied {
            Ok(persist) => persist,
            Err(error) => {
                tracing::warn!(%error, "a permission update was not applied");
                return;
            }
        };
        if let Some(persist) = persist {
            let Some(path) = self.settings_file(&persist.destination) else { return };
            if let Err(error) = write_settings(&path, &persist.update) {
                tracing::warn!(%error, path = %path.display(), "a permission rule was not saved");
            }
            self.note_settings_file(&path);
        }
    }

    fn settings_file(&self, destination: &UpdateDestination) -> Option<PathBuf> {
        let places = &self.config.places;
        match destination {
            UpdateDestination::UserSettings => Some(places.user_file()),
            UpdateDestination::ProjectSettings => Some(places.project_file()),
            UpdateDestination::LocalSettings => Some(places.local_file()),
            _ => None,
        }
    }

    /// What a host brings when it connects.
    pub(crate) fn take_up(&self, request: Initialize) {
        if let Some(title) = &request.title {
            let (custom_title, session_id) = (title.clone(), self.id());
            self.journal.note(CustomTitle { custom_title, session_id, extra: Extra::new() });
        }
        let mut live = self.live();
        if let Some(schema) = &request.json_schema {
            live.json_schema = Some(schema.to_value());
        }
        if let Some(title) = request.title {
            live.title = Some(title);
        }
        live.host.forward_subagent_text |= request.forward_subagent_text == Some(true);
        live.host.stops_tasks_itself |= request.per_task_stop_affordance == Some(true);
        live.host.plan_mode_instructions = request.plan_mode_instructions;
        live.host.skills = request.skills;
        live.host.system_prompt = request.system_prompt;
        live.host.append_system_prompt = request.append_system_prompt;
        live.host.exclude_dynamic_sections |= request.exclude_dynamic_sections == Some(true);
        live.host.append_subagent_system_prompt = request.append_subagent_system_prompt;
        live.agents.extend(request.agents.unwrap_or_default());
        live.tools_changed = true;
        live.host.tool_aliases = request.tool_aliases.unwrap_or_default();
    }

    /// Continues the books of a session that is taken up again.
    pub(crate) fn restore_costs(&self) {
        let cost = self.config.resumed.as_ref().and_then(|resumed| resumed.cost.as_ref());
        let Some(cost) = cost else { return };
        let used = cost.model_usage.iter();
        let by_model = used.filter_map(|(model, usage)| Some((model.clone(), usage.parse().ok()?)));
        let api_time = Duration::from_millis(cost.total_api_duration);
        let changes =
            LineChanges { added: cost.total_lines_added, removed: cost.total_lines_removed };
        self.ledger().restore(by_model.collect(), api_time, changes);
    }

    /// What the session cost, for whoever takes it up again.
    pub(crate) fn cost_state(&self) -> CostState {
        let ledger = self.ledger();
        let used = ledger.by_model().iter();
        let model_usage = used
            .filter_map(|(model, usage)| Some((model.clone(), RawJson::from_value(usage).ok()?)))
            .collect();
        CostState {
            session_id: self.id(),
            total_cost_usd: ledger.total_cost(),
            total_api_duration: millis(ledger.api_time()),
            total_lines_added: ledger.changes().added,
            total_lines_removed: ledger.changes().removed,
            model_usage,
            ..CostState::default()
        }
    }

    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        self.config.retry.clone()
    }

    pub(crate) fn over_budget(&self) -> bool {
        self.config.max_budget_usd.is_some_and(|budget| self.ledger().total_cost() >= budget)
    }

    /// Enters an answer, or an attempt at one, in the books.
    ///
    /// Returns how many tokens it took.
    pub(crate) fn enter_answer(&self, account: Account, answer: &mut Answer) -> u64 {
        self.ledger().enter_api_time(answer.take_api_time());
        let Some((model, usage)) = answer.take_usage() else { return 0 };
        let unpriced = self.ledger().enter(account, &model, &usage);
        if let Some(content) = unpriced {
            let level = InformationalLevel::Warning;
            self.outlet.aside(InformationalMessage {
                content,
                level,
                tag: Some(NO_PRICE_TAG.to_owned()),
                ..InformationalMessage::default()
            });
        }
        Tokens::from(&usage).total()
    }

    /// Emits what a write to disk has to tell.
    pub(crate) async fn tell(&self, told: Told) {
        if let Some(message) = told {
            self.outlet.emit(message).await;
        }
    }

    /// Tells the user something.
    pub(crate) async fn inform(&self, level: InformationalLevel, content: impl Into<String>) {
        let content = content.into();
        self.outlet
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

    /// Where the plan of plan mode is written.
    pub(crate) fn plan_file(&self) -> Option<PathBuf> {
        self.policy().plan_file.clone()
    }

    /// The plan, if one was written.
    pub(crate) fn plan(&self) -> Option<String> {
        std::fs::read_to_string(self.plan_file()?).ok().filter(|plan| !plan.trim().is_empty())
    }

    pub(crate) fn enter_plan_mode(&self) {
        let before = std::mem::replace(&mut self.policy().mode, PermissionMode::Plan);
        if before != PermissionMode::Plan {
            self.live().mode_before_plan = Some(before);
        }
    }

    /// Goes back to the mode before plan mode.
    pub(crate) fn leave_plan_mode(&self) {
        let before = self.live().mode_before_plan.take();
        self.policy().mode = before.unwrap_or(PermissionMode::Default);
    }

    /// Notes how to stop the turn that runs now; `None` when none does.
    pub(crate) fn set_turn(&self, cancel: Option<CancellationToken>) {
        *lock(&self.turn) = cancel;
    }

    /// Stops the turn that runs, if one does.
    pub(crate) fn interrupt_turn(&self) -> bool {
        let turn = lock(&self.turn);
        if let Some(cancel) = &*turn {
            cancel.cancel();
        }
        turn.is_some()
    }

    /// Stops the turn that runs. What it came to is shown once the guard is gone.
    pub(crate) fn interrupt_until_answered(&self) -> DropGuard {
        let answered = CancellationToken::new();
        *lock(&self.interrupt_answered) = Some(answered.clone());
        self.interrupt_turn();
        answered.drop_guard()
    }

    /// Waits until the host has the answer to its interrupt, if that is what stopped the turn.
    pub(crate) async fn interrupt_answered(&self) {
        let answered = lock(&self.interrupt_answered).clone();
        if let Some(answered) = answered {
            answered.cancelled().await;
        }
    }

    /// Whether a turn runs.
    pub(crate) fn turn_runs(&self) -> bool {
        lock(&self.turn).is_some()
    }

    /// Ends the session, which cannot go on. The first reason counts.
    pub(crate) fn give_up(&self, why: String) {
        self.fault.set(why).ok();
        self.wake.notify_one();
    }

    /// Stops the turn that runs for a prompt that cannot wait.
    pub(super) fn make_way(&self) {
        self.makes_way.store(true, Ordering::Relaxed);
        self.interrupt_turn();
    }

    /// Whether the turn that runs is stopped for a prompt, and not because somebody wants it to end.
    pub(crate) fn makes_way(&self) -> bool {
        self.makes_way.load(Ordering::Relaxed)
    }

    /// Whether a turn runs.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.turn).is_some()
    }

    pub(crate) fn end_input(&self) {
        self.input_ended.store(true, Ordering::Release);
    }

    pub(crate) fn input_ended(&self) -> bool {
        self.input_ended.load(Ordering::Acquire)
    }

    /// Counts one more result; which one it is.
    pub(super) fn count_result(&self) -> u64 {
        self.results.fetch_add(1, Ordering::Relaxed)
    }

    /// The session begins or ends its work.
    pub(crate) async fn set_state(&self, state: SessionState) {
        if let Some(frame) = self.change_state(state) {
            self.outlet.send(frame).await;
        }
    }

    /// The same, from where nobody can wait.
    pub(crate) fn set_state_in_passing(&self, state: SessionState) {
        if let Some(frame) = self.change_state(state) {
            self.outlet.aside(frame);
        }
    }

    /// Changes the state; returns what the host is to hear of it.
    fn change_state(&self, state: SessionState) -> Option<SessionStateChangedMessage> {
        {
            let mut live = self.live();
            if live.state == state {
                return None;
            }
            live.state = state.clone();
        }
        let sdk_host_only = match self.config.session_state_events {
            SessionStateEvents::Off => return None,
            SessionStateEvents::HostOnly => Some(true),
            SessionStateEvents::On => None,
        };
        let unsent = SessionStateChangedMessage::default();
        Some(SessionStateChangedMessage { state, sdk_host_only, ..unsent })
    }
}

/// The manner of answering that the settings want.
fn style_of(settings: &Settings) -> String {
    settings.known().output_style.clone().unwrap_or_else(|| style::DEFAULT.to_owned())
}

/// What is behind these locks stays whole even if a holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the background may take to end when the session does.
pub(crate) const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// The tag of the message that nobody knows what a model costs.
const NO_PRICE_TAG: &str = "model_without_price";
