//! Environment variables that a project may set although it is not trusted.

/// Variables that control how programs print, and limits of our own. A project that is not trusted may set
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
