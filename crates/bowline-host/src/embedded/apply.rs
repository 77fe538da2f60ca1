//! Options put over the configuration of an engine.

use bowline_engine::{
    PermissionPrompts, SessionConfig, SessionStateEvents, SystemPrompt as EnginePrompt,
    ToolSelection, permission::RuleSource,
};
use bowline_model as model;
use bowline_protocol::{PermissionBehavior, PermissionMode};

use super::{Embedded, setup};
use crate::{
    BuiltinTools, Error, Options, PermissionPrompts as HostPrompts, SystemPrompt, Thinking,
};

/// How the engine is set up for a session with these options.
pub(super) fn configure(agent: &Embedded, options: &Options) -> Result<SessionConfig, Error> {
    reject(options)?;
    let mut config = agent.config(options.cwd.as_deref());
    let trust = setup::settings(options, &mut config)?;
    apply(options, &mut config)?;
    if let Some(trust) = trust {
        setup::servers(options, trust, &mut config);
    }
    setup::plugins(options, &mut config);
    let saved = agent.home.is_some() && config.transcript.is_none();
    setup::take_up(options, saved, &mut config)?;
    Ok(config)
}

/// Puts the options over the configuration.
fn apply(options: &Options, config: &mut SessionConfig) -> Result<(), Error> {
    if let Some(model) = &options.model {
        config.model.clone_from(model);
        config.default_model.clone_from(model);
    }
    config.fallback_models.extend(options.fallback_models.iter().cloned());
    config.thinking = thinking(options).or(config.thinking.take());
    config.effort = options.effort.or(config.effort);
    config.betas.extend(options.betas.iter().cloned());
    config.system_prompt = match &options.system_prompt {
        SystemPrompt::Empty => EnginePrompt::Custom(Vec::new()),
        SystemPrompt::Text(text) => EnginePrompt::Custom(vec![text.clone()]),
        SystemPrompt::Parts(parts) => EnginePrompt::Custom(parts.clone()),
        SystemPrompt::File(path) => {
            let what = format!("reading the system prompt {}", path.display());
            let text = std::fs::read_to_string(path);
            EnginePrompt::Custom(vec![text.map_err(|error| Error::connection(what, error))?])
        }
        SystemPrompt::Preset { append, .. } => EnginePrompt::Default { append: append.clone() },
    };
    match &options.tools {
        Some(BuiltinTools::All) => config.tools = ToolSelection::Default,
        Some(BuiltinTools::Only(names)) => config.tools = ToolSelection::Named(names.clone()),
        None => {}
    }
    permissions(options, config);
    for (name, server) in &options.mcp_servers {
        config.add_mcp_server(name, server.clone());
    }
    for file in &options.mcp_config_files {
        config.add_mcp_file(file).map_err(|problems| {
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            Error::Options(format!("{}: {}", file.display(), problems.join("; ")))
        })?;
    }
    config.agent = options.agent.clone().or(config.agent.take());
    config.task_budget = options.task_budget.or(config.task_budget);
    config.max_turns = options.max_turns.or(config.max_turns);
    config.max_budget_usd = options.max_budget_usd.or(config.max_budget_usd);
    config.json_schema = options.output_schema.clone().or(config.json_schema.take());
    config.include_partial_messages |= options.include_partial_messages;
    config.include_hook_events |= options.include_hook_events;
    config.replay_user_messages |= options.replay_user_messages;
    config.forward_subagent_text |= options.forward_subagent_text;
    config.file_checkpointing |= options.file_checkpointing;
    config.session_state_events = SessionStateEvents::HostOnly;
    config.environment.extend(options.env.clone());
    Ok(())
}

fn permissions(options: &Options, config: &mut SessionConfig) {
    let policy = &mut config.policy;
    let allowed = [&options.allowed_tools[..], &setup::skill_rules(options)].concat();
    policy.rules.add_all(RuleSource::CliArg, &PermissionBehavior::Allow, &allowed);
    policy.rules.add_all(RuleSource::CliArg, &PermissionBehavior::Deny, &options.disallowed_tools);
    for folder in &options.add_dirs {
        policy.add_directory(RuleSource::CliArg, folder);
    }
    if let Some(mode) = &options.permission_mode {
        policy.mode = mode.clone().canonical();
    }
    let wanted = options.allow_dangerously_skip_permissions
        || policy.mode == PermissionMode::BypassPermissions;
    if wanted && config.settings.forbids_bypass() {
        tracing::warn!("permissions are not bypassed: settings forbid it");
        if policy.mode == PermissionMode::BypassPermissions {
            policy.mode = PermissionMode::Default;
        }
    } else if wanted {
        policy.bypass_available = true;
        config.may_bypass_permissions = true;
    }
    if options.permission_prompts == Some(HostPrompts::Nobody) {
        config.permission_prompts = PermissionPrompts::Disabled;
    } else if let Some(tool) = &options.permission_prompt_tool {
        config.permission_prompts = PermissionPrompts::McpTool(tool.clone());
    } else if options.can_use_tool.is_some() {
        config.permission_prompts = PermissionPrompts::Host;
    }
}

/// Says which options need a process.
fn reject(options: &Options) -> Result<(), Error> {
    let set = [
        ("cli_path", options.cli_path.is_some()),
        ("cli_runner", !options.cli_runner.is_empty()),
        ("spawner", options.spawner.is_some()),
        ("user", options.user.is_some()),
        ("extra_args", !options.extra_args.is_empty()),
        ("clear_env", options.clear_env),
        ("trace_context", options.trace_context.is_some()),
        ("debug", options.debug),
        ("debug_file", options.debug_file.is_some()),
    ];
    match set.iter().find(|(_, set)| *set) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Error::Options(format!("`{name}` is for an agent in a process of its own")))
        }
    }
}

fn thinking(options: &Options) -> Option<model::Thinking> {
    let display = options.thinking_display.as_deref().map(|display| match display {
        "omitted" => model::ThinkingDisplay::Omitted,
        // The API knows no highlights; a summary is the nearest to them.
        _ => model::ThinkingDisplay::Summarized,
    });
    Some(match options.thinking.as_ref()? {
        Thinking::Adaptive => model::Thinking::Adaptive { display },
        Thinking::Budget(tokens) => model::Thinking::Enabled { budget_tokens: *tokens, display },
        Thinking::Disabled => model::Thinking::Disabled,
    })
}
