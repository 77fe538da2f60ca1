//! Catalog of a session for its host, in `init` at the start of every turn and in `initialize`.

use bowline_model::{KNOWN_MODELS, Thinks, known_model};
use bowline_protocol::{
    AccountInfo, Effort, Extra, FastModeState, InitMessage, InitializeResponse, ModelInfo,
    UserMessage,
};

use serde_json::json;

use crate::{agent::Agent, context, session_context::SessionContext};

/// Features beyond the first version of the protocol, for hosts to look up.
const CAPABILITIES: &[&str] = &[
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "sdk_mcp_tools_list_changed",
    "mcp_read_resource_v1",
    "reload_plugins_refuse_if_busy_v1",
];

/// The `init` message of a turn.
pub(crate) fn init(agent: &Agent, prompts: &[UserMessage]) -> InitMessage {
    let uuids: Vec<_> = prompts.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
    let session = &agent.session;
    let config = &session.config;
    let own_model = agent.instructions.model.as_deref();
    let model =
        own_model.map_or_else(|| session.models.name(), |model| session.models.resolve(model));
    let directories = session.permissions.added_directories();
    let output_style = session.output.style();
    let plugins = session.plugins.get();
    let warnings = (!plugins.warnings.is_empty()).then(|| json!(plugins.warnings));
    let warnings = warnings.map(|warnings| ("plugin_warnings".to_owned(), warnings));
    let errors = &config.mcp_server_errors;
    InitMessage {
        cwd: agent.workspace.current_dir().display().to_string(),
        tools: agent.tools.names_for_hosts(),
        mcp_servers: session.mcp.brief_status(),
        mcp_server_errors: (!errors.is_empty()).then(|| errors.clone()),
        model,
        permission_mode: session.permissions.mode(),
        slash_commands: session.commands.names(),
        plugins: plugins.infos(),
        plugin_errors: (!plugins.problems.is_empty()).then(|| plugins.problems.clone()),
        api_key_source: config.api_key_source.clone(),
        claude_code_version: config.version.clone(),
        output_style,
        agents: Some(session.kinds.names()),
        skills: session.commands.skill_names(),
        betas: (!config.betas.is_empty()).then(|| config.betas.clone()),
        capabilities: Some(capabilities()),
        user_message_uuids: (!uuids.is_empty()).then_some(uuids),
        original_cwd: Some(config.cwd.display().to_string()),
        additional_directories: Some(
            directories.iter().map(|path| path.display().to_string()).collect(),
        ),
        extra: warnings.into_iter().collect(),
        ..InitMessage::default()
    }
}

/// The response to `initialize`.
pub(crate) fn initialize_response(session: &SessionContext) -> InitializeResponse {
    let config = &session.config;
    InitializeResponse {
        commands: session.commands.all(),
        agents: session.kinds.infos(),
        output_style: session.output.style(),
        available_output_styles: context::output_style_names(session),
        models: models(session),
        account: AccountInfo {
            token_source: Some("none".to_owned()),
            api_key_source: Some(config.api_key_source.to_string()),
            api_provider: Some("firstParty".to_owned()),
            ..AccountInfo::default()
        },
        hook_on_failure_supported: Some(true),
        fast_mode_state: Some(FastModeState::Off),
        claude_code_version: Some(config.version.clone()),
        pid: Some(std::process::id().into()),
        current_permission_mode: Some(session.permissions.mode()),
        session_state: Some(session.turn.state().to_string()),
        capabilities: Some(capabilities()),
        extra: Extra::from_iter([(
            "user_output_styles_dir".to_owned(),
            json!(config.places.config_dir.join("output-styles")),
        )]),
        ..InitializeResponse::default()
    }
}

/// The models that a host can offer: the default one first, also under the name `default`.
pub(crate) fn models(session: &SessionContext) -> Vec<ModelInfo> {
    let levels: Vec<_> = Effort::ALL.iter().map(|effort| effort.to_string()).collect();
    let model = |known: &bowline_model::KnownModel| ModelInfo {
        value: known.alias.unwrap_or(known.id).to_owned(),
        resolved_model: Some(known.id.to_owned()),
        display_name: known.display_name.to_owned(),
        description: format!("{} tokens of context", known.context_window),
        supports_effort: Some(known.takes_effort),
        supported_effort_levels: known.takes_effort.then(|| levels.clone()),
        supports_adaptive_thinking: Some(known.thinks == Thinks::Adaptively),
        ..ModelInfo::default()
    };
    let default = &session.config.default_model;
    let unknown = || ModelInfo { resolved_model: Some(default.clone()), ..ModelInfo::default() };
    let default = ModelInfo {
        value: "default".to_owned(),
        display_name: "Default".to_owned(),
        description: format!("The default model: {default}"),
        ..known_model(default).map_or_else(unknown, model)
    };
    std::iter::once(default).chain(KNOWN_MODELS.iter().map(model)).collect()
}

fn capabilities() -> Vec<String> {
    CAPABILITIES.iter().map(|name| (*name).to_owned()).collect()
}
