//! Survey of a project that is not trusted: all that it brings and that does not apply.

use crate::{
    command::Library,
    config::SessionConfig,
    context::{memory, style},
    settings::{LeftOut, Standing, Trust, servers_left_out},
    subagent,
};

/// What of the project does not apply in a session with this configuration.
pub(crate) fn survey(config: &SessionConfig) -> LeftOut {
    let SessionConfig { places, sources, settings, plugins, .. } = config;
    let mut left_out = settings.left_out();
    if config.trust == Trust::Trusted {
        return left_out;
    }
    let standing = Standing::new(places, config.trust);
    let place = (places, *sources);
    if sources.project {
        left_out.extend(servers_left_out(places, &standing));
    }
    subagent::find_all(place, settings, plugins, Vec::new(), &standing, &mut left_out);
    Library::find(place, plugins, &standing, &mut left_out);
    style::find(place, plugins, &standing, &mut left_out);
    left_out.extend(memory::links_out(places, &config.cwd, *sources, &standing));
    left_out
}
