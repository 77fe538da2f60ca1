//! The plugins that the command line and the settings name.

use std::path::Path;

use bowline_engine::{
    plugin::{PluginRequest, Plugins},
    settings::{KnownSettings, SettingsPaths},
};

use crate::args::SourceArgs;

/// Loads named and installed plugins. Bare mode ignores installed ones, safe mode all.
pub(super) fn load(
    args: &SourceArgs,
    known: &KnownSettings,
    places: &SettingsPaths,
    cwd: &Path,
) -> Plugins {
    let folder = |path| PluginRequest::folder(cwd.join(path));
    let whole = args.plugin_dir.iter().map(folder);
    let without_servers = args.plugin_dir_no_mcp.iter().map(folder);
    let without_servers = without_servers.map(PluginRequest::without_servers);
    let none = KnownSettings::default();
    let installed = if args.finds_nothing() { &none } else { known };
    let named = whole.chain(without_servers).filter(|_| !args.safe_mode);
    Plugins::load(named.collect(), installed, places)
}

/// Problems of plugins, for users. Hosts receive them when a turn begins.
pub(super) fn problems(plugins: &Plugins) -> impl Iterator<Item = String> {
    plugins.problems.iter().map(|problem| format!("{}: {}", problem.plugin, problem.message))
}
