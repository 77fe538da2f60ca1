//! Agents that work for other agents: which kinds there are, and how one runs.

mod brief;
mod doubt;
mod kind;
mod launch;
mod load;
mod memory;
mod run;
mod servers;
mod toolset;

use bowline_protocol::AgentInfo;

pub(crate) use self::{
    kind::{AgentKind, AgentSource, GENERAL_PURPOSE, ProjectInstructions},
    launch::{Assignment, Launched, launch},
    memory::{folder as memory_folder, section as memory_section},
    run::{Finished, work},
    servers::startable as startable_servers,
};
use crate::{
    plugin::Plugins,
    session::{Shared, catalog},
    settings::{LeftOut, Places, Settings, Source, SourceSet, Standing},
};

/// How many agents may be above one another. Each sees only what it is told; deeper ones know too
/// little to be of use.
pub(crate) const MAX_DEPTH: u32 = 3;

/// The kinds of agents there are, by name.
pub(crate) fn names(session: &Shared) -> Vec<String> {
    kinds(session).into_iter().map(|kind| kind.name).collect()
}

/// What a host is told about them.
pub(crate) fn infos(session: &Shared) -> Vec<AgentInfo> {
    let info =
        |kind: AgentKind| catalog::agent_info(&kind.name, &kind.description, kind.model.as_deref());
    kinds(session).into_iter().map(info).collect()
}

/// The kind of this name.
pub(crate) fn find(session: &Shared, name: &str) -> Option<AgentKind> {
    kinds(session).into_iter().find(|kind| kind.name == name)
}

/// All kinds: built in, of plugins, from files, from settings, from the command line and the host.
/// Later ones replace earlier ones of the same name.
pub(crate) fn kinds(session: &Shared) -> Vec<AgentKind> {
    let from_host = session.live().agents.clone();
    let given = session.config.agents.iter().chain(&from_host);
    let given = given.map(|(name, definition)| AgentKind::given(Source::Flag, name, definition));
    let mut kinds = find_all(
        (&session.config.places, session.config.sources),
        &session.settings().clone(),
        &session.plugins(),
        given.collect(),
        &session.standing,
        &mut LeftOut::default(),
    );
    kinds.sort_by(|a, b| a.name.cmp(&b.name));
    kinds
}

/// The same before there is a session; `left_out` hears of what does not apply.
pub(crate) fn find_all(
    (places, sources): (&Places, SourceSet),
    settings: &Settings,
    plugins: &Plugins,
    given: Vec<AgentKind>,
    standing: &Standing,
    left_out: &mut LeftOut,
) -> Vec<AgentKind> {
    let mut kinds = kind::built_in();
    let mut project = load::of_project(places, sources, standing, left_out);
    // Only what is trusted takes the place of something else.
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
