//! Settings and sessions for an engine, as our own program sets them up.

use bowline_engine::{
    SessionConfig,
    permission::Roots,
    plugin::{PluginRequest, Plugins},
    settings::{SourceSet, StarterConsent, Trust},
};
use bowline_protocol::MessageUuid;
use bowline_sessions::{Mirroring, StartFrom, StartOptions};

use crate::{Error, Options, PluginDelivery, Resume, Skills};

/// Reads the settings that the options name, and applies their merged values. Returns whether there
/// are any.
///
/// A program that names the project's files trusts them, and so does one that sets
/// `SessionConfig::trust` itself.
pub(super) fn settings(options: &Options, config: &mut SessionConfig) -> Result<bool, Error> {
    let sources = options.sources();
    let is_requested = sources.is_some()
        || options.settings.additional.is_some()
        || options.settings.sandbox.is_some()
        || options.settings.managed_settings.is_some();
    if let Some(root) = &options.settings.project_config_root {
        config.places.project = config.cwd.join(root);
    }
    config.places.home = config.places.home.take().or_else(std::env::home_dir);
    let given = config.trust == Trust::Trusted;
    let consent = StarterConsent { given, sources, entrypoint: None };
    config.trust = Trust::decide(&config.places, &consent).0;
    if !is_requested {
        return Ok(false);
    }
    config.sources = sources.unwrap_or(SourceSet::NONE);
    let settings = options.load_settings(&config.places, config.sources, config.trust)?;
    let roots = Roots { current_directory: config.cwd.clone(), home: std::env::home_dir() };
    let mut policy = settings.policy(&config.places, roots);
    let mut notices = Vec::new();
    policy.mode = settings.start_mode().canonical();
    let known = settings.known();
    if let Some(model) = &known.model {
        config.model.clone_from(model);
        config.default_model.clone_from(model);
    }
    if !known.fallback_model.is_empty() {
        config.fallback_models.clone_from(&known.fallback_model);
    }
    config.thinking = settings.thinking().or(config.thinking.take());
    config.effort = settings.effort(&mut notices).or(config.effort);
    config.prices.overrides.extend(settings.prices(&mut notices).overrides);
    config.auto_compact = known.auto_compact_enabled.unwrap_or(config.auto_compact);
    config.auto_compact_window = known.auto_compact_window.or(config.auto_compact_window);
    config.agent = config.agent.take().or_else(|| known.agent.clone());
    notices.extend(settings.problems().iter().map(ToString::to_string));
    for notice in notices {
        tracing::warn!("{notice}");
    }
    config.policy = policy;
    config.tool_options.private_addresses |= settings.allows_private_addresses();
    let configured = std::mem::take(&mut config.environment);
    config.settings = settings;
    config.inherit_variables();
    config.environment.extend(configured);
    Ok(true)
}

/// Adds the MCP servers of the settings to those of the options, whose names count first, and puts
/// the values of variables into them.
#[expect(
    clippy::disallowed_methods,
    reason = "the SDK reads the environment of the program it is part of, where its options leave it open"
)]
pub(super) fn servers(options: &Options, config: &mut SessionConfig) {
    let mut problems = match options.tools.strict_mcp_config {
        true => Vec::new(),
        false => config.add_servers_of_settings(),
    };
    let set = config.environment.clone();
    let lookup = |name: &str| match set.get(name) {
        Some(value) => value.clone(),
        None => std::env::var(name).ok(),
    };
    problems.extend(config.expand_servers(&lookup));
    for problem in problems {
        tracing::warn!("{problem}");
    }
}

/// Reads the plugins that the options name and those that the settings switch on.
pub(super) fn plugins(options: &Options, config: &mut SessionConfig) {
    // Those that go with `initialize` are read when it comes.
    let named = match options.settings.plugin_delivery {
        PluginDelivery::Initialize => &[],
        PluginDelivery::Flags => &options.settings.plugins[..],
    };
    if named.is_empty() && config.settings.layers().is_empty() {
        return;
    }
    let folders = named.iter().map(|plugin| {
        let request = PluginRequest::folder(config.cwd.join(&plugin.path));
        match plugin.skip_mcp_discovery {
            true => request.without_servers(),
            false => request,
        }
    });
    config.plugins = Plugins::load(folders.collect(), config.settings.known(), &config.places);
}

/// Looks for configuration of the project that does not apply, and reports it.
pub(super) fn survey(config: &mut SessionConfig) {
    if let Some(line) = config.survey() {
        tracing::warn!("{line}");
    }
}

/// The rules that let the model use skills.
pub(super) fn skill_rules(options: &Options) -> Vec<String> {
    match &options.settings.skills {
        None => Vec::new(),
        Some(Skills::All) => vec!["Skill".to_owned()],
        Some(Skills::Named(names)) => names.iter().map(|name| format!("Skill({name})")).collect(),
    }
}

/// Finds the conversation to resume, or begins one. `saved` is whether a new one is kept.
pub(super) fn resume(
    options: &Options,
    saved: bool,
    config: &mut SessionConfig,
) -> Result<(), Error> {
    let from = match &options.resume {
        Resume::No => StartFrom::Nothing,
        Resume::Newest => StartFrom::Newest,
        Resume::Session(target) => StartFrom::Session(target.clone()),
    };
    if !saved && from == StartFrom::Nothing {
        if let Some(id) = &options.session.session_id {
            config.session_id = id.as_str().into();
        }
        return Ok(());
    }
    let uuid = |text: &Option<String>| text.as_deref().map(MessageUuid::from);
    let wanted = StartOptions {
        from,
        id: options.session.session_id.clone(),
        fork: options.session.fork_session,
        at: uuid(&options.session.resume_session_at),
        drops_turn: uuid(&options.session.resume_drops_turn),
        unsaved: options.session.no_session_persistence,
        mirroring: match options.session.session_store {
            Some(_) => Mirroring::Ended,
            None => Mirroring::No,
        },
    };
    config.resume(&wanted, None).map_err(|error| Error::Connection {
        what: "opening the session".to_owned(),
        source: Some(error.into()),
    })
}
