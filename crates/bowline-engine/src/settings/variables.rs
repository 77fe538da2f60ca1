//! The environment variables that settings set.

use super::{Layer, Settings, Source, Trust};

/// How the names begin that say where requests and keys go, or that make shells, loaders and
/// interpreters run something. A project that nobody trusts must not set them.
const PREFIXES: &[&str] = &[
    "ANTHROPIC_",
    "AWS_",
    "BASH_",
    "BOWLINE_",
    "BUNDLE_",
    "CARGO_",
    "CLAUDE",
    "CURL_",
    "DOCKER_",
    "DYLD_",
    "GCONV_",
    "GEM_",
    "GIT_",
    "GO",
    "JAVA_",
    "JDK_",
    "LD_",
    "LESS",
    "LUA_",
    "MAKE",
    "MALLOC_",
    "NODE_",
    "NPM_",
    "OPENAI_",
    "PERL",
    "PHP",
    "PIP_",
    "PROMPT",
    "PS",
    "PYTHON",
    "RUBY",
    "RUSTC",
    "RUSTDOC",
    "RUSTUP_",
    "SSH_",
    "SSL_",
    "UV_",
    "XDG_",
    "_JAVA",
];

/// The same by how they end: whatever program they are for.
const SUFFIXES: &[&str] = &[
    "ASKPASS", "BROWSER", "COMMAND", "CONFIG", "EDITOR", "FLAGS", "HOME", "OPTIONS", "OPTS",
    "PAGER", "PATH", "PRELOAD", "PROXY", "SHELL", "WRAPPER",
];

/// The same in full.
const NAMES: &[&str] = &["ENV", "IFS", "TMPDIR", "VISUAL", "ZDOTDIR"];

/// Exceptions: how programs print, and limits of ours.
const HARMLESS: &[&str] = &[
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CARGO_TERM_COLOR",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
];

impl Settings {
    /// The variables that settings set, the ones that win last, as far as the folder is trusted.
    pub fn variables(&self, trust: Trust) -> impl Iterator<Item = (&String, &String)> {
        self.layers().iter().flat_map(move |layer| {
            let trusted = layer.source != Source::Project || trust == Trust::Trusted;
            let may = move |name: &str| trusted || is_harmless(name);
            layer.known.env.iter().filter(move |(name, _)| may(name))
        })
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

/// Whether a project that nobody trusts may set this variable.
pub(super) fn is_harmless(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let runs_something = NAMES.contains(&upper.as_str())
        || PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| upper.ends_with(suffix));
    HARMLESS.contains(&name) || !runs_something
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_what_is_run_and_where_keys_go() {
        for name in ["ANTHROPIC_BASE_URL", "BASH_ENV", "https_proxy", "LD_PRELOAD", "PATH", "PS4"] {
            assert!(!is_harmless(name), "{name}");
        }
        assert!(is_harmless("RUST_LOG") && is_harmless("NODE_ENV"));
    }
}
