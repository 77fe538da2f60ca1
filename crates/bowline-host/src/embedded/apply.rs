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
    let has_settings = setup::settings(options, &mut config)?;
    apply(options, &mut config)?;
    if has_settings {
        setup::servers(options, &mut config);
    }
    setup::plugins(options, &mut config);
    setup::survey(&mut config);
    let saved = agent.home.is_some() && config.transcript.is_none();
    setup::resume(options, saved, &mut config)?;
    Ok(config)
}

/// Puts the options over the configuration.
fn apply(options: &Options, config: &mut SessionConfig) -> Result<(), Error> {
    if let Some(model) = &options.model {
        config.model.clone_from(model);
        config.model_is_chosen = true;
        config.default_model.clone_from(model);
    }
    if !options.generation.fallback_models.is_empty() {
        config.fallback_models.clone_from(&options.generation.fallback_models);
    }
    config.thinking = thinking(options, config.thinking.take());
    config.effort = options.generation.effort.or(config.effort);
    config.betas.extend(options.generation.betas.iter().cloned());
    config.system_prompt = match &options.system_prompt {
        SystemPrompt::Empty => EnginePrompt::Custom(Vec::new()),
        SystemPrompt::Text(text) => EnginePrompt::Custom(vec![text.clone()]),
        SystemPrompt::Parts(parts) => EnginePrompt::Custom(parts.clone()),
        SystemPrompt::File(path) => {
            let path = config.cwd.join(path);
            let what = format!("reading the system prompt {}", path.display());
            let text = std::fs::read_to_string(path);
            EnginePrompt::Custom(vec![text.map_err(|error| Error::connection(what, error))?])
        }
        SystemPrompt::Preset { append, .. } => EnginePrompt::Default { append: append.clone() },
    };
    match &options.tools.builtin {
        Some(BuiltinTools::All) => config.tools = ToolSelection::Default,
        Some(BuiltinTools::Only(names)) => config.tools = ToolSelection::Named(names.clone()),
        None => {}
    }
    permissions(options, config);
    for (name, server) in &options.tools.mcp_servers {
        config.add_mcp_server(name, server.clone());
    }
    for file in &options.tools.mcp_config_files {
        config.add_mcp_file(file).map_err(|problems| {
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            Error::Options(format!("{}: {}", file.display(), problems.join("; ")))
        })?;
    }
    config.agent = options.settings.agent.clone().or(config.agent.take());
    config.task_budget = options.generation.task_budget.or(config.task_budget);
    config.max_turns = options.max_turns.or(config.max_turns).filter(|turns| *turns > 0);
    config.max_budget_usd = options.generation.max_budget_usd.or(config.max_budget_usd);
    config.json_schema = options.generation.output_schema.clone().or(config.json_schema.take());
    config.include_partial_messages |= options.messages.include_partial_messages;
    config.include_hook_events |= options.messages.include_hook_events;
    config.replay_user_messages |= options.messages.replay_user_messages;
    config.forward_subagent_text |= options.messages.forward_subagent_text;
    config.file_checkpointing |= options.session.file_checkpointing;
    config.session_state_events = SessionStateEvents::HostOnly;
    config.environment.extend(options.process.env.clone());
    Ok(())
}

fn permissions(options: &Options, config: &mut SessionConfig) {
    let policy = &mut config.policy;
    let allowed = [&options.allowed_tools[..], &setup::skill_rules(options)].concat();
    policy.rules.add_all(RuleSource::CliArg, &PermissionBehavior::Allow, &allowed);
    policy.rules.add_all(
        RuleSource::CliArg,
        &PermissionBehavior::Deny,
        &options.tools.disallowed_tools,
    );
    for folder in &options.settings.add_dirs {
        policy.add_directory(RuleSource::CliArg, folder);
    }
    if let Some(mode) = &options.permission_mode {
        policy.mode = mode.clone().canonical();
    }
    let wanted = options.permissions.allow_dangerously_skip_permissions
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
    if options.permissions.permission_prompts == Some(HostPrompts::Disabled) {
        config.permission_prompts = PermissionPrompts::Disabled;
    } else if let Some(tool) = &options.permissions.permission_prompt_tool {
        config.permission_prompts = PermissionPrompts::McpTool(tool.clone());
    } else if options.can_use_tool.is_some() {
        config.permission_prompts = PermissionPrompts::Host;
    }
}

/// Rejects options that do not apply without a process.
fn reject(options: &Options) -> Result<(), Error> {
    let of_a_process = [
        ("extra_args", !options.process.extra_args.is_empty()),
        ("trace_context", options.process.trace_context.is_some()),
        ("debug", options.process.debug),
        ("debug_file", options.process.debug_file.is_some()),
    ];
    let mut of_a_process = of_a_process.into_iter().filter_map(|(name, set)| set.then_some(name));
    if let Some(name) = options.about_its_start().chain(&mut of_a_process).next() {
        let what = format!("`{name}` is for an agent in a process of its own");
        return Err(Error::Options(what));
    }
    let absent = [
        ("question_preview", options.tools.question_preview.is_some()),
        ("sandbox", options.settings.sandbox.as_ref().is_some_and(|it| it["enabled"] != false)),
        ("prompt_suggestions", options.messages.prompt_suggestions),
        ("agent_progress_summaries", options.messages.agent_progress_summaries),
        ("system_prompt_snapshot", options.generation.system_prompt_snapshot == Some(true)),
    ];
    if let Some((name, _)) = absent.iter().find(|(_, set)| *set) {
        return Err(Error::Options(format!("`{name}` is nothing that an embedded agent has")));
    }
    if options.process.client_app.is_some() {
        let what = "`client_app` is for an agent in a process of its own: say it in the headers of \
                    the `Providers` that `Embedded::new` is given";
        return Err(Error::Options(what.to_owned()));
    }
    Ok(())
}

/// The model's thinking: as the options specify, else as configured before.
fn thinking(options: &Options, before: Option<model::Thinking>) -> Option<model::Thinking> {
    let display = options.generation.thinking_display.as_deref().map(|display| match display {
        "omitted" => model::ThinkingDisplay::Omitted,
        // The API knows no highlights; a summary is the nearest to them.
        _ => model::ThinkingDisplay::Summarized,
    });
    match (&options.generation.thinking, before) {
        (Some(Thinking::Adaptive), _) => Some(model::Thinking::Adaptive { display }),
        (Some(Thinking::Budget(0) | Thinking::Disabled), _) => Some(model::Thinking::Disabled),
        (Some(Thinking::Budget(tokens)), _) => {
            Some(model::Thinking::Enabled { budget_tokens: *tokens, display })
        }
        (None, Some(model::Thinking::Adaptive { display: before })) => {
            Some(model::Thinking::Adaptive { display: display.or(before) })
        }
        (None, Some(model::Thinking::Enabled { budget_tokens, display: before })) => {
            Some(model::Thinking::Enabled { budget_tokens, display: display.or(before) })
        }
        (None, Some(model::Thinking::Disabled)) => Some(model::Thinking::Disabled),
        (None, None) => display.map(|display| model::Thinking::Adaptive { display: Some(display) }),
    }
}

#[cfg(test)]
mod tests {
    use bowline_engine::settings::Trust;
    use serde_json::json;

    use super::*;
    use crate::{Effort, SettingSource, Settings};

    /// The engine's configuration with these settings, and then with the options that `set` changes.
    fn configured(settings: serde_json::Value, set: impl Fn(&mut Options)) -> SessionConfig {
        let mut options = Options::default();
        options.settings.additional = Some(Settings::Inline(settings));
        set(&mut options);
        configure(&Embedded::script(std::env::temp_dir()), &options).unwrap()
    }

    #[test]
    fn settings_count_and_options_count_more() {
        let settings = json!({
            "model": "opus", "fallbackModel": ["haiku"], "effortLevel": "low",
            "maxThinkingTokens": 2000, "autoCompactWindow": 50_000, "agent": "reviewer",
            "bowline": {"prices": {"opus": {"input": 1.0, "output": 2.0, "cache_read": 0.1, "cache_write": 1.5}}},
        });
        let config = configured(settings.clone(), |_| {});
        assert_eq!((&*config.model, &*config.default_model), ("opus", "opus"));
        assert_eq!(config.fallback_models, ["haiku"]);
        assert_eq!(config.effort, Some(Effort::Low));
        let budget = model::Thinking::Enabled { budget_tokens: 2000, display: None };
        assert_eq!(config.thinking, Some(budget));
        assert_eq!(config.auto_compact_window, Some(50_000));
        assert_eq!(config.agent.as_deref(), Some("reviewer"));
        assert!(config.prices.overrides.contains_key("opus"), "{:?}", config.prices);

        let config = configured(settings, |options| {
            options.model = Some("sonnet".to_owned());
            options.generation.fallback_models = vec!["opus".to_owned()];
            options.generation.effort = Some(Effort::High);
            options.generation.thinking_display = Some("omitted".to_owned());
        });
        assert_eq!((&*config.model, &config.fallback_models[..]), ("sonnet", &["opus".into()][..]));
        assert_eq!(config.effort, Some(Effort::High));
        let display = Some(model::ThinkingDisplay::Omitted);
        let thinking = model::Thinking::Enabled { budget_tokens: 2000, display };
        assert_eq!(config.thinking, Some(thinking));
    }

    #[test]
    fn a_program_that_names_the_projects_files_trusts_them() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        std::fs::create_dir_all(project.join(".claude")).unwrap();
        let hook = json!([{"hooks": [{"type": "command", "command": "true"}]}]);
        let settings =
            json!({"permissions": {"defaultMode": "acceptEdits"}, "hooks": {"Stop": hook}});
        std::fs::write(project.join(".claude/settings.json"), settings.to_string()).unwrap();
        let config = |agent: Embedded, sources: Option<&[SettingSource]>| {
            let mut options = Options::default();
            options.settings.setting_sources = sources.map(<[_]>::to_vec);
            options.settings.additional = Some(Settings::Inline(json!({})));
            configure(&agent, &options).unwrap()
        };
        let agent = || Embedded::script(&project).saved_in(&home);
        let named = config(agent(), Some(&[SettingSource::Project]));
        assert_eq!((named.trust, named.policy.mode), (Trust::Trusted, PermissionMode::AcceptEdits));
        assert!(named.left_out.is_empty());
        for sources in [None, Some(&[SettingSource::User][..])] {
            let config = config(agent(), sources);
            assert_eq!(
                (config.trust, config.policy.mode),
                (Trust::Untrusted, PermissionMode::Default)
            );
        }
        let configured = config(agent().configure(|config| config.trust = Trust::Trusted), None);
        assert_eq!(configured.trust, Trust::Trusted);
    }

    #[test]
    fn a_prompt_in_a_file_is_found_where_the_agent_works() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("prompt.md"), "Be brief.").unwrap();
        let mut options = Options::default().cwd(folder.path());
        options.system_prompt = SystemPrompt::File("prompt.md".into());
        let config = configure(&Embedded::script(std::env::temp_dir()), &options).unwrap();
        assert_eq!(config.system_prompt, EnginePrompt::Custom(vec!["Be brief.".to_owned()]));
    }

    #[test]
    fn thinking_display_implies_thinking() {
        let config = configured(json!({}), |options| {
            options.generation.thinking_display = Some("omitted".to_owned());
        });
        let display = Some(model::ThinkingDisplay::Omitted);
        assert_eq!(config.thinking, Some(model::Thinking::Adaptive { display }));
        assert_eq!(configured(json!({}), |_| {}).thinking, None);
    }
}
