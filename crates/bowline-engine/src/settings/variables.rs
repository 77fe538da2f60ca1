//! The environment variables that settings set.

use super::{Settings, Source, Trust};

/// Variables that say where requests and keys go, or which program is run. A project that nobody
/// trusts must not set them.
const SENSITIVE: [&str; 4] = ["ANTHROPIC_", "OPENAI_", "CLAUDE_CODE_", "BOWLINE_"];

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
fn is_harmless(name: &str) -> bool {
    !SENSITIVE.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_where_keys_go() {
        assert!(!is_harmless("ANTHROPIC_BASE_URL") && !is_harmless("OPENAI_API_KEY"));
        assert!(is_harmless("RUST_LOG"));
    }
}
