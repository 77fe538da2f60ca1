//! The environment variables that settings set.

use super::{Settings, Source, Trust};

/// What a project that nobody trusts may set: how programs print, and limits of ours. Too many
/// variables say where keys go or which program is run to name those instead.
const HARMLESS: &[&str] = &[
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "MAX_MCP_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "MCP_TIMEOUT",
    "MCP_TOOL_TIMEOUT",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
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
}

/// Whether a project that nobody trusts may set this variable.
pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_what_is_run_and_where_keys_go() {
        for name in ["ANTHROPIC_BASE_URL", "BASH_ENV", "HTTPS_PROXY", "LD_PRELOAD", "PATH"] {
            assert!(!is_harmless(name), "{name}");
        }
        assert!(is_harmless("RUST_LOG") && is_harmless("LC_ALL"));
    }
}
