//! Registered hooks: those of settings, layer by layer, and those of the host.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_protocol::{
    AgentId, CallbackId, HookCommand, HookEvent, HookFailure, HookMatcher, HookSettings,
    PermissionRule,
};
use bowline_tools::MODEL_KEYS;
use parking_lot::{Mutex, RwLock};
use tokio::task::JoinSet;

use super::{HookCallbacks, HookEnvironment, HookServices, Matcher, Scripts};
use bowline_settings::{
    Settings, Source,
    plugin::{Plugin, Plugins},
};

/// How long a callback, a program or a request may take by default.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// The same for a program that holds up a prompt.
const PROMPT_TIME_LIMIT: Duration = Duration::from_secs(30);
/// The same for a request to a model.
const MODEL_TIME_LIMIT: Duration = Duration::from_secs(30);
/// The same for a subagent.
const AGENT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// The hooks of a session.
///
/// Dropping it ends the hooks that still run in the background.
pub struct Hooks {
    pub(super) callbacks: Arc<dyn HookCallbacks>,
    pub(super) services: Arc<dyn HookServices>,
    environment: RwLock<Arc<HookEnvironment>>,
    table: RwLock<Arc<Table>>,
    pub(super) background: Mutex<JoinSet<()>>,
}

/// All registrations, replaced as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    settings: Vec<Arc<Registration>>,
    plugins: Vec<Arc<Registration>>,
    host: Vec<Arc<Registration>>,
    agents: Vec<Arc<Registration>>,
    by_event: HashMap<HookEvent, Vec<Arc<Registration>>>,
    policy: HookPolicy,
}

/// One hook.
#[derive(Debug)]
pub struct Registration {
    /// When it runs.
    pub event: HookEvent,
    /// For what.
    pub matcher: Matcher,
    /// The matcher as it was written.
    pub matcher_text: Option<String>,
    /// Who wants it.
    pub origin: HookOrigin,
    /// What runs.
    pub action: HookAction,
    /// How long it may take, if its registration has a limit.
    pub timeout: Option<Duration>,
    /// What a failure of a callback means, if its registration has a limit.
    pub on_failure: Option<HookFailure>,
    /// Whether a hook that runs once only has run.
    pub(super) done: AtomicBool,
}

/// Who registered a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookOrigin {
    /// A layer of settings.
    Settings {
        /// The layer.
        source: Source,
        /// Its file.
        path: Option<PathBuf>,
    },
    /// A plugin.
    Plugin(Arc<Plugin>),
    /// The host.
    Host,
    /// The kind of a subagent that runs; only for that one.
    Agent(AgentId),
}

/// What a hook runs.
#[derive(Debug, Clone, PartialEq)]
pub enum HookAction {
    /// Something that settings describe.
    Command(Box<HookCommand>),
    /// A callback of the host.
    Callback(CallbackId),
}

/// What settings say about hooks as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HookPolicy {
    /// A managed setting switches all hooks off.
    pub disabled_by_policy: bool,
    /// Only managed hooks of all that settings have.
    pub managed_only: bool,
    /// Some setting switches hooks off; managed ones stay unless that one is managed.
    pub all_disabled: bool,
    /// How many hooks are managed.
    pub policy_hook_count: usize,
}

impl Hooks {
    /// No hooks yet.
    pub fn new(
        callbacks: Arc<dyn HookCallbacks>,
        services: Arc<dyn HookServices>,
        environment: HookEnvironment,
    ) -> Self {
        Self {
            callbacks,
            services,
            environment: RwLock::new(Arc::new(environment)),
            table: RwLock::default(),
            background: Mutex::default(),
        }
    }

    /// Replaces the hooks of settings.
    pub fn set_settings(&self, settings: &Settings) {
        let policy = HookPolicy::of(settings);
        let found = of_settings(settings, policy).collect();
        self.replace(|table| Table { settings: found, policy, ..table.sources() });
    }

    /// Replaces the hooks of plugins.
    pub fn set_plugins(&self, plugins: &Plugins) {
        let found = of_plugins(plugins).collect();
        self.replace(|table| Table { plugins: found, ..table.sources() });
    }

    /// Replaces the host's callbacks (`initialize`).
    pub fn set_callbacks(&self, callbacks: &BTreeMap<HookEvent, Vec<HookMatcher>>) {
        let found = callbacks.iter().flat_map(|(event, matchers)| {
            matchers.iter().flat_map(move |matcher| {
                let text = matcher.matcher.as_ref().cloned();
                matcher.hook_callback_ids.iter().map(move |id| {
                    Arc::new(Registration {
                        event: event.clone(),
                        matcher: Matcher::new(text.as_deref()),
                        matcher_text: text.clone(),
                        origin: HookOrigin::Host,
                        action: HookAction::Callback(id.clone()),
                        timeout: matcher.time_limit(),
                        on_failure: matcher.on_failure.clone(),
                        done: AtomicBool::new(false),
                    })
                })
            })
        });
        let found = found.collect();
        self.replace(|table| Table { host: found, ..table.sources() });
    }

    /// Takes the hooks of a subagent that starts. What is to run when it stops runs then, not when
    /// the session does.
    pub fn add_agent(&self, agent: &AgentId, hooks: &HookSettings) {
        if hooks.is_empty() {
            return;
        }
        let mut hooks = hooks.clone();
        if let Some(groups) = hooks.remove(&HookEvent::Stop) {
            hooks.entry(HookEvent::SubagentStop).or_default().extend(groups);
        }
        let found: Vec<_> = registrations(&hooks, HookOrigin::Agent(agent.clone())).collect();
        self.replace(|table| {
            let agents = table.agents.iter().chain(&found).cloned().collect();
            Table { agents, ..table.sources() }
        });
    }

    /// Forgets the hooks of a subagent that has ended.
    pub fn remove_agent(&self, agent: &AgentId) {
        let is_its = |hook: &Arc<Registration>| hook.is_of_agent() && hook.is_for(Some(agent));
        if self.table().agents.iter().any(is_its) {
            self.replace(|table| {
                let agents = table.agents.iter().filter(|hook| !is_its(hook)).cloned().collect();
                Table { agents, ..table.sources() }
            });
        }
    }

    /// Changes what programs find in their environment from now on.
    pub fn set_environment(&self, environment: HookEnvironment) {
        let mut current = self.environment.write();
        *current = Arc::new(environment);
    }

    /// What hooks leave for later commands, if they can.
    pub fn scripts(&self) -> Option<Scripts> {
        self.environment().scripts.clone()
    }

    /// Whether there is any hook for an event. Cheap, so that a session without hooks pays nothing.
    pub fn any(&self, event: &HookEvent) -> bool {
        self.table().by_event.contains_key(event)
    }

    /// The names that the matchers of an event list.
    pub fn matcher_names(&self, event: &HookEvent) -> Vec<String> {
        let hooks = self.of_event(event);
        let texts = hooks.iter().filter_map(|hook| hook.matcher_text.as_deref());
        let names = texts.flat_map(|text| text.split('|')).map(str::trim);
        names.filter(|name| !matches!(*name, "" | "*")).map(str::to_owned).collect()
    }

    /// What settings say about hooks as a whole.
    pub fn policy(&self) -> HookPolicy {
        self.table().policy
    }

    /// Every hook, those of settings first, lowest layer first.
    pub fn registrations(&self) -> Vec<Arc<Registration>> {
        self.table().admitted().cloned().collect()
    }

    /// The same about hooks that no session has yet.
    pub fn problems_of(settings: &Settings, plugins: &Plugins) -> Vec<String> {
        let admitted = of_settings(settings, HookPolicy::of(settings)).chain(of_plugins(plugins));
        admitted.filter_map(|hook| hook.problem()).collect()
    }

    /// Hooks that can never run, or run more often than they are meant to, and why.
    pub fn problems(&self) -> Vec<String> {
        self.registrations().iter().filter_map(|hook| hook.problem()).collect()
    }

    pub(super) fn environment(&self) -> Arc<HookEnvironment> {
        self.environment.read().clone()
    }

    pub(super) fn of_event(&self, event: &HookEvent) -> Vec<Arc<Registration>> {
        self.table().by_event.get(event).cloned().unwrap_or_default()
    }

    fn table(&self) -> Arc<Table> {
        self.table.read().clone()
    }

    fn replace(&self, change: impl FnOnce(&Table) -> Table) {
        let mut table = self.table.write();
        *table = Arc::new(change(&table).indexed());
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").field("table", &self.table()).finish_non_exhaustive()
    }
}

impl Table {
    /// The same hooks, not yet found by their events.
    fn sources(&self) -> Self {
        Self { by_event: HashMap::new(), ..self.clone() }
    }

    fn indexed(mut self) -> Self {
        let mut by_event: HashMap<_, Vec<_>> = HashMap::new();
        for registration in self.admitted() {
            by_event.entry(registration.event.clone()).or_default().push(registration.clone());
        }
        self.by_event = by_event;
        self
    }

    /// Every hook that the settings let run. Those of settings were chosen when they were taken.
    fn admitted(&self) -> impl Iterator<Item = &Arc<Registration>> {
        let others = self.plugins.iter().chain(&self.agents);
        let others = others.filter(|_| self.policy.admits_unmanaged());
        self.settings.iter().chain(others).chain(&self.host)
    }
}

/// The hooks of the settings that may have some.
fn of_settings(
    settings: &Settings,
    policy: HookPolicy,
) -> impl Iterator<Item = Arc<Registration>> + '_ {
    let layers = settings.layers().iter();
    let layers = layers.filter(move |layer| policy.admits(layer.source, settings));
    layers.flat_map(|layer| {
        let origin = HookOrigin::Settings { source: layer.source, path: layer.path.clone() };
        registrations(&layer.known.hooks, origin)
    })
}

/// The hooks of plugins.
fn of_plugins(plugins: &Plugins) -> impl Iterator<Item = Arc<Registration>> + '_ {
    plugins.loaded().iter().flat_map(|plugin| {
        registrations(&plugin.hooks, HookOrigin::Plugin(Arc::new(plugin.clone())))
    })
}

/// The hooks that a settings file, or a plugin, describes.
fn registrations(
    hooks: &HookSettings,
    origin: HookOrigin,
) -> impl Iterator<Item = Arc<Registration>> + '_ {
    let groups =
        hooks.iter().flat_map(|(event, groups)| groups.iter().map(move |group| (event, group)));
    groups.flat_map(move |(event, group)| {
        let origin = origin.clone();
        group.hooks.iter().map(move |hook| {
            Arc::new(Registration {
                event: event.clone(),
                matcher: Matcher::new(group.matcher.as_deref()),
                matcher_text: group.matcher.clone(),
                origin: origin.clone(),
                timeout: hook.time_limit(),
                on_failure: None,
                action: HookAction::Command(Box::new(hook.clone())),
                done: AtomicBool::new(false),
            })
        })
    })
}

impl Registration {
    /// Whether it applies to events of this agent; `None` is the main one.
    pub(super) fn is_for(&self, agent: Option<&AgentId>) -> bool {
        match &self.origin {
            HookOrigin::Agent(own) => agent == Some(own),
            HookOrigin::Settings { .. } | HookOrigin::Plugin(_) | HookOrigin::Host => true,
        }
    }

    fn is_of_agent(&self) -> bool {
        matches!(self.origin, HookOrigin::Agent(_))
    }

    /// What the hook is called: its command, its address, its callback.
    pub fn label(&self) -> &str {
        match &self.action {
            HookAction::Callback(id) => id.as_str(),
            HookAction::Command(hook) => hook.label(),
        }
    }

    /// How long the hook may take.
    pub fn time_limit(&self) -> Duration {
        let usual = match &self.action {
            HookAction::Callback(_) => TIME_LIMIT,
            HookAction::Command(hook) => match &**hook {
                HookCommand::Prompt(_) => MODEL_TIME_LIMIT,
                HookCommand::Agent(_) => AGENT_TIME_LIMIT,
                HookCommand::Command(_) if self.event == HookEvent::UserPromptSubmit => {
                    PROMPT_TIME_LIMIT
                }
                _ => TIME_LIMIT,
            },
        };
        self.timeout.unwrap_or(usual)
    }

    /// Why it does not run when it is meant to, if that is so.
    fn problem(&self) -> Option<String> {
        let location = match &self.origin {
            HookOrigin::Host => "sdk".to_owned(),
            HookOrigin::Agent(agent) => format!("agent {agent}"),
            HookOrigin::Plugin(plugin) => plugin.source.clone(),
            HookOrigin::Settings { path: Some(path), .. } => path.display().to_string(),
            HookOrigin::Settings { source, path: None } => source.to_string(),
        };
        let Self { event, matcher, matcher_text, action, .. } = self;
        if matches!(event, HookEvent::Other(_)) {
            return Some(format!("{location}: unknown hook event `{event}`"));
        }
        if event.supports_matcher() && !matcher.is_valid() {
            let text = matcher_text.as_deref().unwrap_or_default();
            return Some(format!("{location}: {event}: matcher `{text}` matches nothing"));
        }
        let HookAction::Command(hook) = action else { return None };
        if matches!(**hook, HookCommand::Unknown(_)) {
            return Some(format!("{location}: {event}: unknown type of hook"));
        }
        let error = hook.condition()?.parse::<PermissionRule>().err()?;
        Some(format!("{location}: {event}: invalid condition, treated as true: {error}"))
    }

    /// Whether a server or a model replies, and neither a program nor the host.
    pub(super) fn is_served(&self) -> bool {
        let HookAction::Command(hook) = &self.action else { return false };
        !matches!(**hook, HookCommand::Command(_) | HookCommand::Unknown(_))
    }

    /// What its program finds in its environment.
    ///
    /// One that a project brings along gets no keys of models.
    pub(super) fn environment<'a>(&self, usual: &'a HookEnvironment) -> Cow<'a, HookEnvironment> {
        let own: Vec<(String, Option<String>)> = match &self.origin {
            HookOrigin::Plugin(plugin) => {
                let text = |path: &Path| Some(path.display().to_string());
                plugin.variables().map(|(name, path)| (name.to_owned(), text(path))).to_vec()
            }
            HookOrigin::Settings { source: Source::Project | Source::Local, .. }
            | HookOrigin::Agent(_) => {
                MODEL_KEYS.iter().map(|name| ((*name).to_owned(), None)).collect()
            }
            HookOrigin::Settings { .. } | HookOrigin::Host => return Cow::Borrowed(usual),
        };
        let mut environment = usual.clone();
        environment.variables.extend(own);
        Cow::Owned(environment)
    }

    /// What a failure means, if its registration defines it.
    pub(super) fn on_failure(&self) -> Option<&HookFailure> {
        match &self.action {
            HookAction::Callback(_) => self.on_failure.as_ref(),
            HookAction::Command(hook) => match &**hook {
                HookCommand::Command(hook) => hook.on_failure.as_ref(),
                HookCommand::Http(hook) => hook.on_failure.as_ref(),
                _ => None,
            },
        }
    }

    /// Whether the hook may run now, which for one that runs only once is true only once.
    pub(super) fn take_turn(&self) -> bool {
        !self.runs_once() || !self.done.swap(true, Ordering::Relaxed)
    }

    fn runs_once(&self) -> bool {
        let HookAction::Command(hook) = &self.action else { return false };
        let once = match &**hook {
            HookCommand::Command(hook) => hook.once,
            HookCommand::Prompt(hook) => hook.once,
            HookCommand::Agent(hook) => hook.once,
            HookCommand::Http(hook) => hook.once,
            HookCommand::McpTool(hook) => hook.once,
            _ => None,
        };
        once == Some(true)
    }

    /// Whether two hooks would do the same, so that one of them is enough.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let (HookAction::Command(one), HookAction::Command(two)) = (&self.action, &other.action)
        else {
            return false;
        };
        match (&**one, &**two) {
            (HookCommand::Command(one), HookCommand::Command(two)) => {
                (&one.command, &one.args, &one.shell, &one.condition)
                    == (&two.command, &two.args, &two.shell, &two.condition)
            }
            (one, two) => one == two,
        }
    }
}

impl HookPolicy {
    fn of(settings: &Settings) -> Self {
        let managed = || settings.layers().iter().filter(|layer| layer.source == Source::Policy);
        let hooks = managed().flat_map(|layer| layer.known.hooks.values().flatten());
        Self {
            disabled_by_policy: managed().any(|layer| layer.known.disable_all_hooks == Some(true)),
            managed_only: managed().any(|layer| layer.known.allow_managed_hooks_only == Some(true)),
            all_disabled: settings.known().disable_all_hooks == Some(true)
                || settings.hooks_ignored(),
            policy_hook_count: hooks.map(|group| group.hooks.len()).sum(),
        }
    }

    /// Whether hooks count that are not managed.
    fn admits_unmanaged(self) -> bool {
        !(self.disabled_by_policy || self.managed_only || self.all_disabled)
    }

    /// Whether the hooks of a layer run.
    fn admits(self, source: Source, settings: &Settings) -> bool {
        if self.disabled_by_policy || source == Source::Policy {
            return !self.disabled_by_policy;
        }
        !(self.managed_only || settings.hooks_ignored() || are_switched_off(source, settings))
    }
}

/// Whether the hooks of a source are switched off: by the highest layer that sets it
/// and does not rank below the source, or else by the user, who may want none at all. So no layer takes
/// away the guard of one above it.
fn are_switched_off(source: Source, settings: &Settings) -> bool {
    let said = |of: &dyn Fn(Source) -> bool| {
        let layers = settings.layers().iter().rev().filter(|layer| of(layer.source));
        layers.filter_map(|layer| layer.known.disable_all_hooks).next()
    };
    let own_or_higher = said(&|other| other >= source);
    own_or_higher.or_else(|| said(&|other| other == Source::User)) == Some(true)
}
