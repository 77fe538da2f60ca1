//! Consent to a project by the program or user that starts a session in it.

use std::{fmt, path::PathBuf};

use super::super::SourceSet;

/// Entry points of programs that choose the folder themselves: editors, desktop programs, remote
/// workers, CI. A shell's `cli` and `sdk-cli` are not among them, and neither is our own `mcp`.
const HOSTS: &[&str] = &[
    "claude-code-github-action",
    "claude-desktop",
    "claude-jetbrains",
    "claude-vscode",
    "local-agent",
    "remote",
    "remote_cowork",
];

/// The prefix of SDKs, of which there is one for nearly every language: `sdk-py`, `sdk-ts`.
const SDK: &str = "sdk-";
/// What follows it where a person has typed `-p` in a shell.
const SHELL: &str = "cli";

/// Consent of the program or user that starts a session to its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StarterConsent {
    /// It requests trust in this run (`--trust`, `BOWLINE_TRUST`).
    pub given: bool,
    /// The sources of settings that it names itself (`--setting-sources`).
    pub sources: Option<SourceSet>,
    /// The entry point that it has set (`CLAUDE_CODE_ENTRYPOINT`).
    pub entrypoint: Option<String>,
}

/// Why a folder is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustReason {
    /// For this run, by a flag or a variable.
    Given,
    /// The project's files were named as sources.
    Sources,
    /// A host with this entry point drives the session.
    Host(String),
    /// The user trusts this folder.
    Recorded(PathBuf),
}

impl StarterConsent {
    /// Why the starter consents, if it does.
    pub(super) fn reason(&self) -> Option<TrustReason> {
        if self.given {
            return Some(TrustReason::Given);
        }
        if self.sources.is_some_and(|named| named.project || named.local) {
            return Some(TrustReason::Sources);
        }
        let host = self.entrypoint.as_ref().filter(|name| is_host(name));
        host.map(|name| TrustReason::Host(name.clone()))
    }
}

/// Whether an entry point is that of a program which drives sessions.
fn is_host(entrypoint: &str) -> bool {
    let is_sdk = |language: &str| {
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        !language.is_empty() && language != SHELL && language.chars().all(plain)
    };
    HOSTS.contains(&entrypoint) || entrypoint.strip_prefix(SDK).is_some_and(is_sdk)
}

impl fmt::Display for TrustReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("for this run (--trust or BOWLINE_TRUST)"),
            Self::Sources => f.write_str("--setting-sources names its files"),
            Self::Host(name) => write!(f, "a host drives the session ({name})"),
            Self::Recorded(folder) => write!(f, "recorded for {}", folder.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_known_by_their_entry_points() {
        for host in ["sdk-py", "sdk-ts", "sdk-rust", "claude-vscode", "claude-code-github-action"] {
            assert!(is_host(host), "{host}");
        }
        for other in ["cli", "sdk-cli", "sdk-", "sdk", "mcp", "", "SDK-PY", "sdk-p y", "unknown"] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn naming_the_projects_files_is_consent_and_naming_others_is_not() {
        let named =
            |list: &str| StarterConsent { sources: list.parse().ok(), ..StarterConsent::default() };
        for list in ["project", "local", "user,project", "user,project,local"] {
            assert_eq!(named(list).reason(), Some(TrustReason::Sources), "{list}");
        }
        for list in ["", "user"] {
            assert_eq!(named(list).reason(), None, "{list}");
        }
    }
}
