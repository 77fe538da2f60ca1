//! Setup of a session from the command line, the environment and the settings.
//!
//! Files are read here and nowhere else before the session runs, each once and only if it is
//! needed. No process is started, and nothing is connected but the server that keeps a session's
//! log, if one is named.

mod aliases;
mod api_key_helper;
mod error;
mod models;
mod permissions;
mod plugins;
mod prompts;
mod remote;
mod servers;
mod session;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_engine::{
    PermissionPrompts, SessionConfig, SessionStateEvents, ToolSelection,
    plugin::Plugins,
    settings::{
        NO_SANDBOX, SandboxSetting, Settings, SettingsPaths, SettingsRequest, SkippedParts,
        SourceSet, StarterConsent, Trust, TrustReason,
    },
};
use bowline_model::{DEFAULT_MODEL, Providers, RetryPolicy};
use bowline_protocol::ApiKeySource;

use self::aliases::AliasedModels;
pub(crate) use self::error::{SetupError, check_combinations};
use crate::{
    args::{AutoCompact, InputFormat, PermissionPromptsArg, RunArgs, split_rules},
    environment::Environment,
    remote_log::RemoteLog,
    version,
};

/// Tools of a `--bare` session.
const BARE_TOOLS: [&str; 3] = ["Bash", "Edit", "Read"];

/// The other end of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A program that speaks the protocol.
    Host,
    /// A reader of one response.
    Reader,
}

/// A session that is ready to start.
pub(crate) struct Prepared {
    /// Its configuration.
    pub(crate) config: SessionConfig,
    /// Notices for the user, printed before the start.
    pub(crate) notices: Vec<String>,
    /// Its log on a server.
    pub(crate) remote_log: Option<RemoteLog>,
}

/// Settings of a folder, and their paths.
pub(crate) struct Found {
    pub(crate) places: SettingsPaths,
    pub(crate) settings: Settings,
    /// Sources of settings that apply.
    pub(crate) sources: SourceSet,
    pub(crate) trust: Trust,
    /// Why the folder is trusted, if it is.
    pub(crate) trust_reason: Option<TrustReason>,
    /// The environment with the variables from settings.
    pub(crate) environment: Environment,
}

impl Found {
    /// Reads the settings that apply to `cwd`.
    pub(crate) fn read(
        args: &RunArgs,
        environment: &Environment,
        cwd: &Path,
    ) -> Result<Self, SetupError> {
        let sources = &args.sources;
        let project = sources.project_config_root.as_deref().unwrap_or(cwd);
        let places = places(environment, &cwd.join(project));
        let named = sources.setting_sources.as_deref().map(str::parse).transpose()?;
        let consent = StarterConsent {
            given: sources.trust || environment.trusts(),
            sources: named,
            entrypoint: environment.host_entrypoint(speaks_protocol(args)).map(str::to_owned),
        };
        let (mut trust, mut trust_reason) = Trust::decide(&places, &consent);
        // Instructions come from the folder itself, wherever its settings are.
        let around = SettingsPaths { project: cwd.to_owned(), ..places.clone() };
        if Trust::decide(&around, &consent).0 == Trust::Untrusted {
            (trust, trust_reason) = (Trust::Untrusted, None);
        }
        let request = SettingsRequest {
            sources: match sources.restricted {
                true => SourceSet::NONE,
                false => named.unwrap_or(SourceSet::ALL),
            },
            trust,
            flag: sources.settings.clone(),
            managed: sources.managed_settings.clone(),
        };
        let mut settings = Settings::load(&places, &request)?;
        if args.sources.finds_nothing() {
            settings.ignore_hooks();
        }
        let sources = request.sources;
        let environment = environment.clone().with(settings.variables());
        Ok(Self { places, settings, sources, trust, trust_reason, environment })
    }
}

impl Found {
    /// Parts of the project that do not apply, because it is not trusted.
    pub(crate) fn left_out(&self, cwd: &Path, plugins: &Plugins) -> SkippedParts {
        let models = Arc::new(Providers::new());
        let mut config = SessionConfig::new(cwd, models, DEFAULT_MODEL);
        config.places = self.places.clone();
        config.sources = self.sources;
        config.settings = self.settings.clone();
        config.plugins = plugins.clone();
        config.trust = self.trust;
        config.survey();
        config.left_out
    }
}

/// Prepares the session of a command line, in `cwd`.
pub(crate) fn prepare(
    args: &RunArgs,
    environment: &Environment,
    cwd: PathBuf,
    audience: Audience,
) -> Result<Prepared, SetupError> {
    check_combinations(args)?;
    let Found { places, settings, sources, trust, environment, .. } =
        Found::read(args, environment, &cwd)?;
    let known = settings.known().clone();
    let mut notices: Vec<_> = settings.problems().iter().map(ToString::to_string).collect();
    match settings.sandbox_wish() {
        Some(SandboxSetting::Required) => return Err(SetupError::NoSandbox),
        Some(SandboxSetting::Preferred) => notices.push(format!("Warning: {NO_SANDBOX}.")),
        None => {}
    }
    notices.extend(args.idle_flags());

    let (policy, ignored) = permissions::policy(args, &settings, &places, &environment, &cwd)?;
    notices.extend(ignored);
    let entrypoint = environment.entrypoint().unwrap_or("sdk-cli").to_owned();
    let model = args.model.model.clone();
    let model = model.or_else(|| environment.model().map(str::to_owned)).or(known.model);
    let model = model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    let helper =
        known.api_key_helper.as_deref().filter(|_| api_key_helper::is_needed(&model, &environment));
    let helped = helper.map(api_key_helper::run).transpose()?;
    let models = models::models(args, &environment, &entrypoint, helped.as_ref());

    let models = AliasedModels::new(models, &environment);
    let mut config = SessionConfig::new(&cwd, Arc::new(models), &model);
    config.fallback_models = models::fallbacks(args, &model, known.fallback_model);
    config.prices = settings.prices(&mut notices);
    config.retry = RetryPolicy {
        max_retries: environment.max_retries().unwrap_or(config.retry.max_retries),
        ..config.retry
    };
    let budget = known.max_thinking_tokens.or(environment.max_thinking_tokens());
    let budget = if environment.disables_thinking() { Some(0) } else { budget };
    config.thinking = models::thinking(&args.model, known.always_thinking_enabled, budget);
    let effort = args.model.effort.as_deref().or(environment.effort_level()).map(str::to_owned);
    config.effort = models::effort(effort.or(known.effort_level), &mut notices);
    config.max_output_tokens = environment.max_output_tokens();
    config.small_model = environment.small_model().map(str::to_owned);
    config.betas = split_rules(&args.model.betas);
    config.task_budget = args.limits.task_budget;
    config.agent = args.model.agent.clone().or(known.agent);
    config.setup = args.session.setup();
    config.model_is_chosen = args.model.model.is_some();
    config.sources = if args.sources.finds_nothing() { SourceSet::NONE } else { sources };
    config.system_prompt = prompts::system_prompt(&args.model, &cwd)?;
    let agents = args.model.agents.as_deref().filter(|_| !args.sources.safe_mode);
    config.agents = prompts::agents(agents, &cwd)?;
    config.tools = tool_selection(args);
    config.permission_prompts = match known.permissions.deny_instead_of_prompting {
        Some(true) => PermissionPrompts::Disabled,
        _ => permission_prompts(args, audience),
    };
    config.may_bypass_permissions = policy.bypass_available;
    config.policy = policy;
    let turns = args.limits.max_turns.or(environment.max_turns()).filter(|&turns| turns > 0);
    config.max_turns = turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX));
    config.max_budget_usd = args.limits.max_budget_usd;
    config.json_schema = prompts::json_schema(args.output.json_schema.as_deref())?;
    config.include_partial_messages = args.output.include_partial_messages;
    config.include_hook_events = args.output.include_hook_events;
    config.replay_user_messages = args.output.replay_user_messages;
    config.forward_subagent_text = args.output.forward_subagent_text;
    config.session_state_events = session_state_events(&environment);
    config.stop_hook_block_cap =
        environment.stop_hook_block_cap().unwrap_or(config.stop_hook_block_cap);
    config.tool_options = tool_options(&environment);
    config.tool_options.private_addresses = settings.allows_private_addresses();
    config.file_checkpointing = environment.file_checkpointing();
    config.version = version::PROTOCOL.to_owned();
    config.api_key_source = match environment.anthropic_api_key() {
        Some(_) => ApiKeySource::Environment,
        None if helped.is_some() => ApiKeySource::Helper,
        None => ApiKeySource::None,
    };
    config.background_wait = environment.background_wait().unwrap_or(config.background_wait);
    config.idle_limit = environment.idle_limit();
    config.exclude_dynamic_sections = args.model.exclude_dynamic_system_prompt_sections;
    config.slash_commands = !args.sources.disable_slash_commands;
    config.auto_compact =
        known.auto_compact_enabled.unwrap_or(true) && !environment.disables_auto_compact();
    config.auto_compact_window = match args.limits.autocompact {
        Some(AutoCompact::From(tokens)) => Some(tokens),
        Some(AutoCompact::Auto) => None,
        None => known.auto_compact_window.or(environment.auto_compact_window()),
    };
    config.mcp_options = servers::options(&environment);
    config.mcp_grace = environment.mcp_grace().unwrap_or(config.mcp_grace);
    if !args.sources.safe_mode {
        servers::read(&args.sources.mcp_config, &mut config, &mut notices)?;
    }
    config.plugins = plugins::load(&args.sources, settings.known(), &places, &cwd);
    if audience == Audience::Reader {
        notices.extend(plugins::problems(&config.plugins));
    }
    let default_model = settings.known().model.clone();
    config.default_model = default_model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());

    let remote_log = remote::log(&args.session, &environment, &settings)?;
    let fetched = remote_log.as_ref().map(remote::fetch).transpose()?;
    config.entrypoint = entrypoint;
    config.places = places;
    session::open(&mut config, &args.session, &environment, fetched)?;
    config.title = args.session.name.clone();
    config.settings = settings;
    config.trust = trust;
    config.inherit_variables();
    if !args.sources.strict_mcp_config && !args.sources.finds_nothing() {
        notices.extend(config.add_servers_of_settings());
    }
    notices.extend(config.expand_servers(&|name| environment.named(name)));
    notices.extend(config.survey());
    for name in Environment::SECRETS.into_iter().chain(Environment::OF_ONE_RUN) {
        config.environment.insert(name.to_owned(), None);
    }
    Ok(Prepared { config, notices, remote_log })
}

fn tool_selection(args: &RunArgs) -> ToolSelection {
    let bare = args.sources.bare;
    let named = args.permissions.tools.as_deref().map(split_rules);
    match named {
        Some(mut names) if names != ["default"] => {
            names.retain(|name| !bare || BARE_TOOLS.contains(&name.as_str()));
            ToolSelection::Named(names)
        }
        _ if bare => ToolSelection::Named(BARE_TOOLS.map(str::to_owned).to_vec()),
        _ => ToolSelection::Default,
    }
}

fn permission_prompts(args: &RunArgs, audience: Audience) -> PermissionPrompts {
    if args.permissions.permission_prompts == Some(PermissionPromptsArg::None) {
        return PermissionPrompts::Disabled;
    }
    match args.permissions.permission_prompt_tool.as_deref() {
        Some("stdio") if audience == Audience::Host => PermissionPrompts::Host,
        Some("stdio") | None => PermissionPrompts::Nobody,
        Some(tool) => PermissionPrompts::McpTool(tool.to_owned()),
    }
}

fn session_state_events(environment: &Environment) -> SessionStateEvents {
    if environment.emits_session_state() {
        SessionStateEvents::On
    } else if environment.host_reads_session_state() {
        SessionStateEvents::HostOnly
    } else {
        SessionStateEvents::Off
    }
}

fn tool_options(environment: &Environment) -> bowline_tools::Options {
    let mut options = bowline_tools::Options::default();
    options.background_tasks = environment.background_tasks();
    let profile = environment.home().map(|home| home.join(".bashrc"));
    options.shell_profile = profile.filter(|profile| profile.is_file());
    options.stay_in_start_dir = environment.bash_stays_in_start_dir();
    options.max_timeout = environment.bash_max_timeout().unwrap_or(options.max_timeout);
    options.default_timeout = environment.bash_default_timeout().unwrap_or(options.default_timeout);
    options.max_output_chars = environment.bash_max_output().unwrap_or(options.max_output_chars);
    options.max_read_tokens = environment.max_read_tokens().unwrap_or(options.max_read_tokens);
    options
}

/// Paths of settings and state for a project.
pub(crate) fn places(environment: &Environment, project: &Path) -> SettingsPaths {
    SettingsPaths {
        official_state: environment.official_state(),
        home: environment.home(),
        ..SettingsPaths::new(environment.config_dir(), project)
    }
}

/// Whether the program at the other end speaks the protocol of the SDKs.
fn speaks_protocol(args: &RunArgs) -> bool {
    audience(args) == Audience::Host || args.remote.sdk_url.is_some()
}

/// The other end, by the input format.
pub(crate) fn audience(args: &RunArgs) -> Audience {
    match args.output.input_format {
        InputFormat::StreamJson => Audience::Host,
        InputFormat::Text => Audience::Reader,
    }
}

#[cfg(test)]
mod tests;
