//! Kinds of agents: built in, from files, plugins, settings, the command line and the host.

mod doubt;
mod kind;
mod load;
mod memory;
mod servers;

use std::{collections::BTreeMap, sync::Arc};

use bowline_protocol::{AgentDefinition, AgentInfo};

pub(crate) use self::{
    kind::{AgentKind, AgentSource, GENERAL_PURPOSE, ProjectInstructions},
    memory::{folder as memory_folder, section as memory_section},
};
use crate::{
    config::SessionConfig,
    plugin::Plugins,
    settings::{ProjectTrust, Settings, SettingsPaths, SkippedParts, Source, SourceSet},
    state::{CurrentPlugins, CurrentSettings, HostProfile},
};

/// The kinds of agents of a session.
pub(crate) struct AgentKinds {
    places: SettingsPaths,
    sources: SourceSet,
    trust: ProjectTrust,
    /// The kinds of the command line.
    given: BTreeMap<String, AgentDefinition>,
    /// The kind of the main agent, if one was chosen.
    main: Option<String>,
    settings: Arc<CurrentSettings>,
    plugins: Arc<CurrentPlugins>,
    host: Arc<HostProfile>,
}

impl AgentKinds {
    pub(crate) fn new(
        config: &SessionConfig,
        trust: &ProjectTrust,
        settings: &Arc<CurrentSettings>,
        plugins: &Arc<CurrentPlugins>,
        host: &Arc<HostProfile>,
    ) -> Self {
        Self {
            places: config.places.clone(),
            sources: config.sources,
            trust: trust.clone(),
            given: config.agents.clone(),
            main: config.agent.clone(),
            settings: Arc::clone(settings),
            plugins: Arc::clone(plugins),
            host: Arc::clone(host),
        }
    }

    /// All kinds, by name. Later sources replace earlier ones of the same name.
    pub(crate) fn all(&self) -> Vec<AgentKind> {
        let from_host = self.host.read(|host| host.agents.clone());
        let given = self.given.iter().chain(&from_host);
        let given =
            given.map(|(name, definition)| AgentKind::given(Source::Flag, name, definition));
        let mut kinds = find_all(
            (&self.places, self.sources),
            &self.settings.get(),
            &self.plugins.get(),
            given.collect(),
            &self.trust,
            &mut SkippedParts::default(),
        );
        kinds.sort_by(|a, b| a.name.cmp(&b.name));
        kinds
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.all().into_iter().map(|kind| kind.name).collect()
    }

    /// The kinds as hosts see them.
    pub(crate) fn infos(&self) -> Vec<AgentInfo> {
        let info = |kind: AgentKind| AgentInfo {
            name: kind.name,
            description: kind.description,
            model: kind.model,
            ..AgentInfo::default()
        };
        self.all().into_iter().map(info).collect()
    }

    pub(crate) fn find(&self, name: &str) -> Option<AgentKind> {
        self.all().into_iter().find(|kind| kind.name == name)
    }

    /// The kind of the main agent, if one was chosen.
    pub(crate) fn main(&self) -> Option<AgentKind> {
        self.find(self.main.as_deref()?)
    }
}

/// All kinds of a configuration; `left_out` collects those that do not apply.
pub(crate) fn find_all(
    (places, sources): (&SettingsPaths, SourceSet),
    settings: &Settings,
    plugins: &Plugins,
    given: Vec<AgentKind>,
    standing: &ProjectTrust,
    left_out: &mut SkippedParts,
) -> Vec<AgentKind> {
    let mut kinds = kind::built_in();
    let mut project = load::of_project(places, sources, standing, left_out);
    // An untrusted kind must not replace another one.
    let replacing = if standing.is_trusted() { std::mem::take(&mut project) } else { Vec::new() };
    let (user, set) = (load::of_user(places, sources), load::from_settings(settings));
    let others = load::from_plugins(plugins).into_iter().chain(user);
    for kind in others.chain(replacing).chain(set).chain(given) {
        match kinds.iter_mut().find(|known| known.name == kind.name) {
            Some(known) => *known = kind,
            None => kinds.push(kind),
        }
    }
    doubt::add_unless_taken(&mut kinds, project, left_out);
    kinds
}
