//! Construction of a session: its parts in the order of their dependencies, and its main agent.

use std::{
    path::Path,
    sync::{Arc, Weak, atomic::AtomicU64},
};

use bowline_mcp::McpServers;
use bowline_model::ModelMessage;
use bowline_protocol::Extra;
use bowline_sessions::{AgentName, CustomTitle, TranscriptWriter};
use bowline_tools::{FileObserver, Registry, Setup, Workspace};
use tokio_util::sync::CancellationToken;

use super::opening;
use crate::{
    agent::{Agent, Instructions},
    agent_kind::AgentKinds,
    approvals::PendingApprovals,
    config::{SessionConfig, ToolSelection},
    context::plan,
    conversation::Conversation,
    file_history::FileHistory,
    hook::{HookEnvironment, Hooks, Scripts},
    hooking::{HookEventForwarder, HookInputParts, HookRunner, HostCallbacks, SessionServices},
    host::Host,
    identity::Identity,
    instructions::ContextState,
    journal::Journal,
    library::CommandCatalog,
    mcp::{McpBridge, ServerStartup},
    permission::{Policy, Roots},
    plugin_reload,
    session_context::SessionContext,
    settings::ProjectTrust,
    side::SideModel,
    sink::MessageSink,
    state::{
        BackgroundWork, CurrentPlugins, CurrentPrompt, CurrentSettings, HostProfile, MainTools,
        ModelSelection, OutputFormat, PendingChanges, Permissions, PromptQueue, SessionTitle,
        TurnControl,
    },
    structured_output,
    tasks::TaskBoard,
    tool,
    tool_services::ToolServices,
    toolset::{Filter, Toolset},
    usage::SessionUsage,
    watch::Watch,
};

/// Why a session could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The schema for results is not a JSON Schema.
    #[error("the JSON schema for results is not valid: {0}")]
    BadSchema(String),
}

/// Builds the parts of a session, each before those that use it, and the main agent.
pub(crate) fn start(
    mut config: SessionConfig,
    host: Arc<dyn Host>,
) -> Result<(Arc<SessionContext>, Agent), StartError> {
    if let Some(schema) = &config.json_schema {
        bowline_tools::check_is_schema(schema).map_err(StartError::BadSchema)?;
    }
    let (session, cwd) = (&config.session_id, config.cwd.display());
    tracing::debug!(%session, %cwd, model = config.model, "the session begins");
    let replays = config.replay_user_messages;
    let sink = Arc::new(MessageSink::new(Arc::clone(&host), config.session_id.clone(), replays));
    let prices = config.prices.clone();
    let usage = Arc::new(SessionUsage::new(prices, config.max_budget_usd, &sink));
    let models = Arc::new(ModelSelection::new(&config));
    let side = Arc::new(SideModel::new(&config, &models, &usage));
    let trust = ProjectTrust::new(&config.places, config.trust);
    let tasks = TaskBoard::new(Arc::clone(&sink));
    let directories: Vec<_> = config.policy.directories().map(Path::to_path_buf).collect();
    let history_transcript = config.transcript.as_ref().map(|writer| writer.path().to_owned());
    let tool_folders = tool_folders(&config);
    let permissions = permissions(&mut config, &trust);
    let journal = Arc::new(journal(&mut config));
    let conversation = resumed(&mut config);
    let file_history =
        FileHistory::of(&config, &directories, history_transcript.as_deref(), &journal, &sink);
    let tool_services = Arc::new(ToolServices::new(&permissions, &side));
    let setup = Setup {
        roots: directories.iter().skip(1).cloned().collect(),
        task_observer: Some(Arc::new(tasks.clone())),
        file_observer: file_history.clone().map(|history| history as Arc<dyn FileObserver>),
        hidden_files: Some(Arc::clone(&tool_services) as _),
        summarize: Some(tool_services as _),
        ..tool_folders
    };
    let workspace = workspace(&config, setup);
    let turn = Arc::new(TurnControl::new(&sink, config.session_state_events));
    let approvals = Arc::new(PendingApprovals::new(&turn));
    let (prompt, pending) = (Arc::<CurrentPrompt>::default(), Arc::<PendingChanges>::default());
    let (main_tools, model_context) = (Arc::<MainTools>::default(), Arc::<ContextState>::default());
    let host_profile = Arc::new(HostProfile::new(&config));
    let settings = Arc::new(CurrentSettings::new(config.settings.clone()));
    let plugins = Arc::new(CurrentPlugins::new(config.plugins.clone()));
    let closing = CancellationToken::new();
    let mut made = None;
    // Servers report to hooks and commands, which in turn use the servers.
    let mcp = Arc::new_cyclic(|mcp: &Weak<McpServers>| {
        let services = SessionServices {
            side: Arc::clone(&side),
            permissions: Arc::clone(&permissions),
            workspace: Arc::clone(&workspace),
            mcp: Weak::clone(mcp),
            main_tools: Arc::downgrade(&main_tools),
            context: Arc::downgrade(&model_context),
        };
        let parts = HookInputParts {
            sink: Arc::clone(&sink),
            journal: Arc::clone(&journal),
            workspace: Arc::clone(&workspace),
            permissions: Arc::clone(&permissions),
            models: Arc::clone(&models),
            prompt: Arc::clone(&prompt),
            main_kind: config.agent.clone(),
        };
        let hooks = Arc::new(hooks(&config, &host, services, parts));
        let commands = CommandCatalog::new(&config, &trust, &plugins, &host_profile, mcp);
        let commands = Arc::new(commands);
        let bridge = Arc::new(McpBridge {
            host: Arc::clone(&host),
            sink: Arc::clone(&sink),
            hooks: Arc::clone(&hooks),
            approvals: Arc::clone(&approvals),
            commands: Arc::clone(&commands),
            closing: closing.clone(),
        });
        let servers = bridge.servers(&config, &workspace);
        made = Some((hooks, commands, bridge));
        servers
    });
    let (hooks, commands, bridge) = made.expect("the closure above has run");
    let known = config.resumed.as_ref().map(|resumed| resumed.known.clone()).unwrap_or_default();
    let session = Arc::new(SessionContext {
        queue: PromptQueue::new(known),
        title: SessionTitle::new(&config, &journal, &sink),
        output: OutputFormat::new(&config),
        watch: Arc::new(Watch::new(&config, &hooks, &workspace, &settings, &permissions, &pending)),
        servers: ServerStartup::new(&config, &mcp, closing),
        kinds: AgentKinds::new(&config, &trust, &settings, &plugins, &host_profile),
        background: BackgroundWork::default(),
        host: host_profile,
        config,
        trust,
        sink,
        journal,
        turn,
        prompt,
        pending,
        permissions,
        approvals,
        usage,
        models,
        side,
        settings,
        plugins,
        hooks,
        workspace,
        main_tools,
        mcp,
        bridge,
        commands,
        model_context,
        tasks,
        file_history,
    });
    let agent = main_agent(&session, conversation);
    Ok((session, agent))
}

/// The main agent, built after all parts that it uses.
fn main_agent(session: &Arc<SessionContext>, conversation: Conversation) -> Agent {
    for server in &session.config.mcp_servers {
        session.permissions.set_server_policy(&server.name, &server.config);
    }
    plugin_reload::add_servers(session);
    session.permissions.apply_server_policies();
    let resumed = session.config.resumed.as_ref();
    let compaction = resumed.and_then(|it| it.compaction.as_ref());
    session.model_context.compactions().dropped_tokens =
        compaction.and_then(|it| it.cumulative_dropped_tokens).unwrap_or(0);
    let tools = main_tools(session);
    session.main_tools.set(&tools);
    if let Some(cost) = resumed.and_then(|resumed| resumed.cost.as_ref()) {
        session.usage.restore(cost);
    }
    opening::adopt_main_agent(session);
    session.watch.note_settings_files();
    let agent = Agent {
        identity: Identity::Main,
        conversation,
        tools,
        workspace: Arc::clone(&session.workspace),
        instructions: Instructions::default(),
        own_journal: None,
        joined: Vec::new(),
        tokens: Arc::new(AtomicU64::new(0)),
        session: Arc::clone(session),
        compactions: Default::default(),
    };
    agent.note_context();
    agent
}

fn permissions(config: &mut SessionConfig, trust: &ProjectTrust) -> Arc<Permissions> {
    let mut policy = std::mem::replace(&mut config.policy, Policy::new(Roots::default()));
    policy.plan_file.get_or_insert_with(|| plan::new_file(&config.places.config_dir));
    Arc::new(Permissions::new(policy, config.places.clone(), trust.clone()))
}

fn journal(config: &mut SessionConfig) -> Journal {
    if let (Some(title), Some(writer)) = (&config.title, &mut config.transcript) {
        give_title(writer, title);
    }
    let journal = Journal::new(config.transcript.take());
    if let Some(resumed) = &config.resumed {
        journal.recall(&resumed.messages);
    }
    journal
}

fn hooks(
    config: &SessionConfig,
    host: &Arc<dyn Host>,
    services: SessionServices,
    parts: HookInputParts,
) -> HookRunner {
    let callbacks = Arc::new(HostCallbacks { host: Arc::clone(host) });
    let hooks = Hooks::new(callbacks, Arc::new(services), hook_environment(config));
    hooks.set_settings(&config.settings);
    hooks.set_plugins(&config.plugins);
    let (sink, requested) = (Arc::clone(&parts.sink), config.include_hook_events);
    HookRunner::new(hooks, Arc::new(HookEventForwarder { sink, requested }), parts)
}

fn workspace(config: &SessionConfig, setup: Setup) -> Arc<Workspace> {
    let setup = Setup {
        options: config.tool_options.clone(),
        environment: config.environment.clone(),
        hidden_variables: config.hidden_variables.clone(),
        private_dir: Some(config.places.config_dir.clone()),
        ..setup
    };
    Workspace::new(&config.cwd, setup)
}

/// Folders for large results and the output of background commands: beside the transcript, if there is
/// one.
fn tool_folders(config: &SessionConfig) -> Setup {
    let Some(writer) = &config.transcript else { return Setup::default() };
    let files = writer.files();
    let tasks_dir = match bowline_private::temporary_folder() {
        Ok(users) => bowline_sessions::tasks_folder(&users, &files.project_key(), files.id()),
        Err(error) => {
            tracing::warn!(%error, "there is no temporary folder");
            files.side_folder().join("tasks")
        }
    };
    Setup { results_dir: files.tool_results(), tasks_dir, ..Setup::default() }
}

fn hook_environment(config: &SessionConfig) -> HookEnvironment {
    let scripts = config.places.config_dir.join("session-env").join(config.session_id.as_str());
    HookEnvironment {
        project_dir: config.cwd.clone(),
        entrypoint: Some(config.entrypoint.clone()),
        scripts: Some(Scripts::in_folder(scripts)),
        variables: config.environment.clone(),
    }
}

/// Sets the title of the transcript; written with its first line.
fn give_title(writer: &mut TranscriptWriter, title: &str) {
    let session_id = writer.session_id().clone();
    writer.note(CustomTitle {
        custom_title: title.to_owned(),
        session_id: session_id.clone(),
        extra: Extra::new(),
    });
    writer.note(AgentName { agent_name: title.to_owned(), session_id, extra: Extra::new() });
}

/// The conversation of the session that is resumed.
fn resumed(config: &mut SessionConfig) -> Conversation {
    let messages = match &mut config.resumed {
        Some(resumed) => std::mem::take(&mut resumed.messages),
        None => Vec::new(),
    };
    let message = |message: bowline_sessions::ContextMessage| ModelMessage {
        role: message.role,
        content: message.content,
    };
    Conversation::new(messages.into_iter().map(message).collect())
}

/// The tools of the main agent.
pub(crate) fn main_tools(session: &Arc<SessionContext>) -> Arc<Toolset> {
    Arc::new_cyclic(|all| toolset(session, all))
}

fn toolset(session: &Arc<SessionContext>, all: &Weak<Toolset>) -> Toolset {
    let config = &session.config;
    let mut registry = Registry::builtin(&config.tool_options);
    for tool in tool::engine_tools(session, all) {
        registry.insert(tool);
    }
    if let ToolSelection::Named(names) = &config.tools {
        registry.choose(names);
    }
    let mut filters = session.kinds.main().map(|kind| kind.filters()).unwrap_or_default();
    filters.push(Filter::Except(session.permissions.policy().rules.disabled_on_servers()));
    registry.retain(|spec| filters.iter().all(|filter| filter.admits_tool(spec)));
    let mut disabled: Vec<String> = tool::disabled(session).collect();
    registry.retain(|spec| {
        let is_disabled = session.permissions.policy().rules.is_disabled(&spec.name);
        if is_disabled {
            disabled.push(spec.name.to_string());
        }
        !is_disabled
    });
    if let Some(schema) = session.output.schema() {
        registry.insert(structured_output::tool(&schema));
    }
    Toolset::new(registry, Some(Arc::clone(&session.mcp) as _), disabled, filters)
}
