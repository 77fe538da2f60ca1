//! Variables under which `git` runs no program that a repository names, and reaches nothing.
//!
//! Settings in the environment outrank those of a repository, and `git` hands them on to the submodules that it
//! enters. Drivers and filters have names that the repository chooses, so that no variable switches them off;
//! nor does any value of `diff.external` switch it off. The permission judge looks for those.

use std::collections::BTreeMap;

use bowline_shell::Command;

/// What a repository cannot change.
const SETTINGS: &[(&str, &str)] = &[
    // A folder with the files of a repository is one only if it is called `.git`.
    ("safe.bareRepository", "explicit"),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.askPass", ""),
    ("credential.helper", ""),
    ("log.showSignature", "false"),
    // The programs that `git` itself would choose.
    ("gpg.program", "gpg"),
    ("gpg.openpgp.program", "gpg"),
    ("gpg.x509.program", "gpgsm"),
    ("gpg.ssh.program", "ssh-keygen"),
    ("submodule.recurse", "false"),
    ("status.submoduleSummary", "false"),
];

/// What stands beside the settings.
const VARIABLES: &[(&str, Option<&str>)] = &[
    // No transport is on the list.
    ("GIT_ALLOW_PROTOCOL", Some("")),
    ("GIT_NO_LAZY_FETCH", Some("1")),
    // The index is not written, so that no hook runs for it.
    ("GIT_OPTIONAL_LOCKS", Some("0")),
    ("GIT_TERMINAL_PROMPT", Some("0")),
    ("GIT_PAGER", Some("cat")),
    ("GIT_EXTERNAL_DIFF", None),
    ("GIT_ASKPASS", None),
    ("SSH_ASKPASS", None),
    ("GIT_SSH", None),
    ("GIT_SSH_COMMAND", None),
    ("GIT_PROXY_COMMAND", None),
];

/// Whether the only `git` in a line is one that shows settings. It runs nothing, and is to show those that hold
/// otherwise.
pub(crate) fn only_shows_settings(command: &str) -> bool {
    let script = bowline_shell::parse(command);
    let mut layers = script.commands.iter().flat_map(|command| command.layers().0);
    let is_git = |command: &Command| command.name() == Some("git");
    let shows = |command: &Command| command.words.get(1).is_some_and(|word| word.is("config"));
    script.opaque.is_none()
        && layers.clone().any(|command| is_git(&command))
        && layers.all(|command| !is_git(&command) || shows(&command))
}

/// The variables, for a command that has `count` as its `GIT_CONFIG_COUNT`: what is set there stays, and
/// comes first.
pub(crate) fn git_environment(count: Option<&str>) -> BTreeMap<String, Option<String>> {
    let first: usize = count.and_then(|count| count.trim().parse().ok()).unwrap_or_default();
    let mut variables = BTreeMap::new();
    for (at, (key, value)) in SETTINGS.iter().enumerate() {
        let at = first.saturating_add(at);
        variables.insert(format!("GIT_CONFIG_KEY_{at}"), Some((*key).to_owned()));
        variables.insert(format!("GIT_CONFIG_VALUE_{at}"), Some((*value).to_owned()));
    }
    let count = first.saturating_add(SETTINGS.len());
    variables.insert("GIT_CONFIG_COUNT".to_owned(), Some(count.to_string()));
    let others =
        VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
    variables.extend(others);
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_git_settings_are_kept() {
        let variables = git_environment(Some("2"));
        assert_eq!(variables["GIT_CONFIG_KEY_2"].as_deref(), Some("safe.bareRepository"));
        assert!(!variables.contains_key("GIT_CONFIG_KEY_1"));
        let count = (2 + SETTINGS.len()).to_string();
        assert_eq!(variables["GIT_CONFIG_COUNT"], Some(count));
    }

    #[test]
    fn commands_that_show_settings_are_recognized() {
        for command in ["git config --get user.name", "cd x && git config --get a.b | cat"] {
            assert!(only_shows_settings(command), "{command}");
        }
        for command in ["git log config", "git config --get a.b; git log", "ls", "git -C x config"]
        {
            assert!(!only_shows_settings(command), "{command}");
        }
    }

    #[test]
    fn invalid_config_count_is_replaced() {
        for count in [None, Some(""), Some("x"), Some("-1")] {
            assert!(git_environment(count).contains_key("GIT_CONFIG_KEY_0"), "{count:?}");
        }
    }
}
