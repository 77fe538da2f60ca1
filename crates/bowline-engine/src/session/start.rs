//! Setting a session up: the workspace, the hooks, the tools, the main agent.

use std::{
    path::Path,
    sync::{Arc, Weak, atomic::AtomicU64},
};

use bowline_model::ModelMessage;
use bowline_protocol::Extra;
use bowline_sessions::{AgentName, CustomTitle, TranscriptWriter};
use bowline_tools::{FileObserver, Registry, Setup, Workspace};

use super::{Shared, file_history::FileHistory, mcp::McpBridge, tasks::TaskBoard};
use crate::{
    agent::{Agent, Instructions},
    config::{SessionConfig, ToolSelection},
    context::plan,
    conversation::Conversation,
    hook::{HookEnvironment, HookObserver, HookServices, Hooks, Scripts},
    hooking::{HookFrames, HostCallbacks, SessionServices},
    host::Host,
    identity::Identity,
    journal::Journal,
    permission::{Policy, Roots},
    sink::MessageSink,
    structured_output, tool,
    tooling::ToolServices,
    toolset::{Filter, Toolset},
};

/// Why a session could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The schema for results is no JSON schema.
    #[error("the JSON schema for results is not valid: {0}")]
    BadSchema(String),
}

/// Builds what a session is made of.
pub(crate) fn start(
    mut config: SessionConfig,
    host: Arc<dyn Host>,
) -> Result<(Arc<Shared>, Agent), StartError> {
    if let Some(schema) = &config.json_schema {
        bowline_tools::check_is_schema(schema).map_err(StartError::BadSchema)?;
    }
    let (session, cwd) = (&config.session_id, config.cwd.display());
    tracing::debug!(%session, %cwd, model = config.model, "the session begins");
    let sink = Arc::new(MessageSink::new(Arc::clone(&host), config.session_id.clone()));
    let board = TaskBoard::new(Arc::clone(&sink));
    let file_history = FileHistory::of(&config);
    let tool_services = Arc::new(ToolServices::default());
    let workspace = workspace(&config, &board, file_history.as_ref(), &tool_services);
    let bridge = McpBridge::new(Arc::clone(&host));
    let mcp = bridge.servers(&config, &workspace);
    let services = Arc::new(SessionServices::default());
    let hooks = Hooks::new(
        Arc::new(HostCallbacks { host }),
        Arc::clone(&services) as Arc<dyn HookServices>,
        hook_environment(&config),
    );
    hooks.set_settings(&config.settings);
    hooks.set_plugins(&config.plugins);
    let wanted = config.include_hook_events;
    let frames: Arc<dyn HookObserver> = Arc::new(HookFrames { sink: Arc::clone(&sink), wanted });
    if let (Some(title), Some(writer)) = (&config.title, &mut config.transcript) {
        give_title(writer, title);
    }
    let journal = Journal::new(config.transcript.take());
    let mut policy = std::mem::replace(&mut config.policy, Policy::new(Roots::default()));
    policy.plan_file.get_or_insert_with(|| plan::new_file(&config.places.config_dir));
    if let Some(resumed) = &config.resumed {
        journal.recall(&resumed.messages);
    }
    let conversation = resumed(&mut config);
    let shared = Arc::new(Shared::new(
        config,
        policy,
        sink,
        workspace,
        hooks,
        frames,
        journal,
        board,
        mcp,
        file_history,
    ));
    bridge.belongs_to(&shared);
    services.belongs_to(&shared);
    tool_services.belongs_to(&shared);
    if let Some(history) = &shared.file_history {
        history.belongs_to(&shared);
    }
    for server in &shared.config.mcp_servers {
        shared.set_server_policy(&server.name, &server.config);
    }
    shared.add_plugin_servers();
    shared.apply_server_policies();
    let compaction = shared.config.resumed.as_ref().and_then(|it| it.compaction.as_ref());
    shared.context.compactions().dropped_tokens =
        compaction.and_then(|it| it.cumulative_dropped_tokens).unwrap_or(0);
    let tools = main_tools(&shared);
    shared.set_main_tools(&tools);
    shared.restore_costs();
    shared.adopt_main_agent();
    shared.note_settings_files();
    let agent = Agent {
        identity: Identity::Main,
        conversation,
        tools,
        workspace: Arc::clone(&shared.workspace),
        instructions: Instructions::default(),
        own_journal: None,
        joined: Vec::new(),
        tokens: Arc::new(AtomicU64::new(0)),
        session: shared,
        compactions: Default::default(),
    };
    agent.note_context();
    Ok((Arc::clone(&agent.session), agent))
}

fn workspace(
    config: &SessionConfig,
    board: &TaskBoard,
    file_history: Option<&Arc<FileHistory>>,
    services: &Arc<ToolServices>,
) -> Arc<Workspace> {
    let setup = Setup {
        options: config.tool_options.clone(),
        roots: config.policy.directories().skip(1).map(Path::to_path_buf).collect(),
        environment: config.environment.clone(),
        hidden_variables: config.hidden_variables.clone(),
        private_dir: Some(config.places.config_dir.clone()),
        task_observer: Some(Arc::new(board.clone())),
        file_observer: file_history.map(|history| Arc::clone(history) as Arc<dyn FileObserver>),
        hidden_files: Some(Arc::clone(services) as _),
        summarize: Some(Arc::clone(services) as _),
        ..folders(config)
    };
    Workspace::new(&config.cwd, setup)
}

/// Where large results and the output of background commands go: beside the transcript, if there is one.
fn folders(config: &SessionConfig) -> Setup {
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

/// Notes what the user calls the session; written with its first line.
fn give_title(writer: &mut TranscriptWriter, title: &str) {
    let session_id = writer.session_id().clone();
    writer.note(CustomTitle {
        custom_title: title.to_owned(),
        session_id: session_id.clone(),
        extra: Extra::new(),
    });
    writer.note(AgentName { agent_name: title.to_owned(), session_id, extra: Extra::new() });
}

/// The conversation of the session that is taken up again.
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

/// What the main agent can call.
pub(crate) fn main_tools(session: &Arc<Shared>) -> Arc<Toolset> {
    Arc::new_cyclic(|all| toolset(session, all))
}

fn toolset(session: &Arc<Shared>, all: &Weak<Toolset>) -> Toolset {
    let config = &session.config;
    let mut registry = Registry::builtin(&config.tool_options);
    for tool in tool::engine_tools(session, all) {
        registry.insert(tool);
    }
    if let ToolSelection::Named(names) = &config.tools {
        registry.choose(names);
    }
    let mut filters = session.main_kind().map(|kind| kind.filters()).unwrap_or_default();
    filters.push(Filter::Except(session.policy().rules.disabled_on_servers()));
    registry.retain(|spec| filters.iter().all(|filter| filter.admits_tool(spec)));
    let mut disabled: Vec<String> = tool::disabled(session).collect();
    registry.retain(|spec| {
        let is_disabled = session.policy().rules.is_disabled(&spec.name);
        if is_disabled {
            disabled.push(spec.name.to_string());
        }
        !is_disabled
    });
    if let Some(schema) = &session.live().json_schema {
        registry.insert(structured_output::tool(schema));
    }
    Toolset::new(registry, Some(Arc::clone(&session.mcp) as _), disabled, filters)
}
