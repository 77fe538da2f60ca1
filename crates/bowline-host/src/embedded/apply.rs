//! Options put over the configuration of an engine.

use bowline_engine::{
    PermissionPrompts, SessionConfig, SessionStateEvents, SystemPrompt as EnginePrompt,
    ToolSelection, permission::RuleSource,
};
use bowline_model as model;
use bowline_protocol::{PermissionBehavior, PermissionMode};

use crate::{BuiltinTools, Effort, Error, Options, Resume, SystemPrompt, Thinking};

/// Puts the options over the configuration.
pub(super) fn apply(options: &Options, config: &mut SessionConfig) -> Result<(), Error> {
    reject(options)?;
    if let Some(model) = &options.model {
        config.model.clone_from(model);
        config.default_model.clone_from(model);
    }
    config.fallback_models.extend(options.fallback_models.iter().cloned());
    config.thinking = options.thinking.as_ref().map(thinking).or(config.thinking.take());
    config.effort = options.effort.map(effort).or(config.effort);
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
    config.max_turns = options.max_turns.or(config.max_turns);
    config.max_budget_usd = options.max_budget_usd.or(config.max_budget_usd);
    config.json_schema = options.output_schema.clone().or(config.json_schema.take());
    config.include_partial_messages |= options.include_partial_messages;
    config.include_hook_events |= options.include_hook_events;
    config.replay_user_messages |= options.replay_user_messages;
    config.forward_subagent_text |= options.forward_subagent_text;
    config.file_checkpointing |= options.file_checkpointing;
    config.session_state_events = SessionStateEvents::HostOnly;
    if let Some(id) = &options.session_id {
        config.session_id = id.as_str().into();
    }
    config.environment.extend(options.env.clone());
    Ok(())
}

fn permissions(options: &Options, config: &mut SessionConfig) {
    let policy = &mut config.policy;
    for rule in &options.allowed_tools {
        policy.rules.add(RuleSource::CliArg, &PermissionBehavior::Allow, rule);
    }
    for rule in &options.disallowed_tools {
        policy.rules.add(RuleSource::CliArg, &PermissionBehavior::Deny, rule);
    }
    for folder in &options.add_dirs {
        policy.add_directory(RuleSource::CliArg, folder);
    }
    if let Some(mode) = &options.permission_mode {
        policy.mode = mode.clone().canonical();
    }
    if options.allow_dangerously_skip_permissions
        || policy.mode == PermissionMode::BypassPermissions
    {
        policy.bypass_available = true;
        config.may_bypass_permissions = true;
    }
    if let Some(tool) = &options.permission_prompt_tool {
        config.permission_prompts = PermissionPrompts::McpTool(tool.clone());
    } else if options.can_use_tool.is_some() {
        config.permission_prompts = PermissionPrompts::Host;
    }
}

/// Says which options need a process.
fn reject(options: &Options) -> Result<(), Error> {
    let set = [
        ("cli_path", options.cli_path.is_some()),
        ("cwd", options.cwd.is_some()),
        ("extra_args", !options.extra_args.is_empty()),
        ("task_budget", options.task_budget.is_some()),
        ("mcp_servers", !options.mcp_servers.is_empty()),
        ("resume", options.resume != Resume::No),
        ("settings", options.settings.is_some()),
        ("managed_settings", options.managed_settings.is_some()),
        ("setting_sources", options.setting_sources.is_some()),
        ("sandbox", options.sandbox.is_some()),
        ("project_config_root", options.project_config_root.is_some()),
        ("skills", options.skills.is_some()),
        ("plugins", !options.plugins.is_empty()),
        ("agent", options.agent.is_some()),
        ("debug_file", options.debug_file.is_some()),
    ];
    match set.iter().find(|(_, set)| *set) {
        None => Ok(()),
        Some((name, _)) => Err(Error::Options(format!(
            "`{name}` needs a process; for an embedded agent say it in its `SessionConfig`"
        ))),
    }
}

fn thinking(thinking: &Thinking) -> model::Thinking {
    match thinking {
        Thinking::Adaptive => model::Thinking::Adaptive { display: None },
        Thinking::Budget(tokens) => {
            model::Thinking::Enabled { budget_tokens: *tokens, display: None }
        }
        Thinking::Disabled => model::Thinking::Disabled,
    }
}

fn effort(effort: Effort) -> model::Effort {
    match effort {
        Effort::Low => model::Effort::Low,
        Effort::Medium => model::Effort::Medium,
        Effort::High => model::Effort::High,
        Effort::Xhigh => model::Effort::Xhigh,
        Effort::Max => model::Effort::Max,
    }
}
