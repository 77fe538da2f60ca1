//! The environment variables that settings set.

use super::{Layer, Settings, Source};

/// Variables that say how programs print, and limits of our own. A project that is not trusted may set
/// these. Any other name may be one by which some shell, loader, interpreter or tool runs something
/// or sends something elsewhere: there are more of them than could be listed.
const HARMLESS: &[&str] = &[
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
];

impl Settings {
    /// The variables that settings set, the ones that win last.
    pub fn variables(&self) -> impl Iterator<Item = (&String, &String)> {
        self.layers().iter().flat_map(|layer| &layer.known.env)
    }

    /// Whether WebFetch may reach this machine and private networks.
    pub fn allows_private_addresses(&self) -> bool {
        self.known().bowline.allow_private_addresses.unwrap_or(false)
    }

    /// Whether commands run without the keys of models. A project can want that, but not take it
    /// back.
    pub fn hides_keys(&self) -> bool {
        let said = |layer: &Layer| layer.known.bowline.hide_keys;
        let is_projects = |layer: &&Layer| matches!(layer.source, Source::Project | Source::Local);
        let users = self.layers().iter().rev().filter(|layer| !is_projects(layer)).find_map(said);
        users == Some(true)
            || self.layers().iter().filter(is_projects).any(|layer| said(layer) == Some(true))
    }
}

/// Whether a project that is not trusted may set this variable.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_variables_are_not_harmless() {
        for name in ["ANTHROPIC_BASE_URL", "BASH_ENV", "https_proxy", "LD_PRELOAD", "PATH", "PS4"] {
            assert!(!is_harmless(name), "{name}");
        }
        for name in ["EDITOR", "GIT_SSH", "TOOL_OF_TOMORROW", "no_color", "NO_COLOR "] {
            assert!(!is_harmless(name), "{name}");
        }
        assert!(is_harmless("RUST_LOG") && is_harmless("NODE_ENV"));
    }
}
