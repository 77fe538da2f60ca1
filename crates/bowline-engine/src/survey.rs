//! Survey of a project that is not trusted: its parts that do not apply.

use crate::{
    agent_kind,
    config::SessionConfig,
    instructions::{memory, style},
    library::Library,
    settings::{ProjectTrust, SkippedParts, Trust, servers_left_out},
};

impl SessionConfig {
    /// Finds the parts of an untrusted project that do not apply; one line about them for the user,
    /// if there are any.
    pub fn survey(&mut self) -> Option<String> {
        self.left_out = survey(self);
        self.left_out.line(&self.places.project)
    }
}

/// The parts of the project that do not apply in a session with this configuration.
fn survey(config: &SessionConfig) -> SkippedParts {
    let SessionConfig { places, sources, settings, plugins, .. } = config;
    let mut left_out = settings.left_out();
    if config.trust == Trust::Trusted {
        return left_out;
    }
    let standing = ProjectTrust::new(places, config.trust);
    let place = (places, *sources);
    if sources.project {
        left_out.extend(servers_left_out(places, &standing));
    }
    agent_kind::find_all(place, settings, plugins, Vec::new(), &standing, &mut left_out);
    Library::find(place, plugins, &standing, &mut left_out);
    style::find(place, plugins, &standing, &mut left_out);
    left_out.extend(memory::links_out(places, &config.cwd, *sources, &standing));
    left_out
}
