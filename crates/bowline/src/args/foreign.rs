//! Flags of the official CLI that do not do here what they do there. None is passed over in silence.
//!
//! `docs/compatibility.md` lists both tables; a test compares them.

use super::{RunArgs, SystemPromptSnapshot};

/// Flags that are refused, and why: they ask for something that is not there.
pub(super) const REFUSED: [(&str, &str); 18] = [
    ("--ax-screen-reader", "there is no screen to draw on"),
    ("--background", "sessions run in front; start them from a program with bowline-host"),
    ("--bg", "sessions run in front; start them from a program with bowline-host"),
    ("--brief", "answers are messages; there is no tool to send them with"),
    ("--chrome", "no browser is steered; an MCP server can"),
    ("--cloud", "a product of the vendor"),
    ("--desktop", "a product of the vendor"),
    ("--dump-system-prompt", "the official CLI no longer has it either"),
    ("--environment", "a product of the vendor"),
    ("--file", "files of the vendor's API are not fetched"),
    ("--from-pr", "pull requests are not looked up; name the session with --resume"),
    ("--ide", "editors are not connected to; they start us"),
    ("--no-chrome", "no browser is steered"),
    ("--plugin-url", "plugins are not fetched; name a folder with --plugin-dir"),
    ("--remote-control", "a product of the vendor; --sdk-url serves any host"),
    ("--remote-control-session-name-prefix", "a product of the vendor"),
    ("--tmux", "no terminal is steered"),
    ("--worktree", "the session is not moved into one; start us there"),
];

/// A flag that is taken and changes nothing.
pub(super) struct Idle {
    pub(super) flag: &'static str,
    pub(super) why: &'static str,
    is_given: fn(&RunArgs) -> bool,
}

/// Flags that are taken, because a host may send them unasked, and change nothing.
pub(super) const IDLE: [Idle; 5] = [
    Idle {
        flag: "--channels",
        why: "there are no channels",
        is_given: |args| !args.output.channels.is_empty(),
    },
    Idle {
        flag: "--enable-auth-status",
        why: "nobody signs in",
        is_given: |args| args.output.enable_auth_status,
    },
    Idle {
        flag: "--prompt-suggestions",
        why: "nobody suggests prompts",
        is_given: |args| args.output.prompt_suggestions == Some(true),
    },
    Idle {
        flag: "--system-prompt-snapshot",
        why: "the system prompt is made anew for each turn",
        is_given: |args| args.model.system_prompt_snapshot == Some(SystemPromptSnapshot::On),
    },
    Idle {
        flag: "--workload",
        why: "no service here counts by it",
        is_given: |args| args.output.workload.is_some(),
    },
];

/// Why a flag that nobody here knows is refused, if the official CLI has it.
pub(super) fn refusal(flag: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(name, _)| *name == flag).map(|(_, why)| *why)
}

impl RunArgs {
    /// What is said about flags that change nothing.
    pub(crate) fn idle_flags(&self) -> impl Iterator<Item = String> {
        let given = IDLE.iter().filter(|idle| (idle.is_given)(self));
        given.map(|Idle { flag, why, .. }| format!("{flag} has no effect: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a table that stands below a heading.
    fn rows<'a>(document: &'a str, heading: &str) -> Vec<&'a str> {
        let (_, section) = document.split_once(&format!("\n### {heading}\n")).expect("a section");
        let lines = section.lines().take_while(|line| !line.starts_with('#'));
        lines.filter(|line| line.starts_with("| `--")).collect()
    }

    #[test]
    fn the_document_lists_both_tables() {
        let document = include_str!("../../../../docs/compatibility.md");
        let row = |flag: &str, why: &str| format!("| `{flag}` | {why} |");
        let refused: Vec<_> = REFUSED.iter().map(|(flag, why)| row(flag, why)).collect();
        assert_eq!(rows(document, "Flags that are refused"), refused);
        let idle: Vec<_> = IDLE.iter().map(|idle| row(idle.flag, idle.why)).collect();
        assert_eq!(rows(document, "Flags without effect"), idle);
    }

    #[test]
    fn what_is_refused_is_really_unknown() {
        for (flag, why) in REFUSED {
            let refused = crate::args::Args::read(["bowline", flag]).expect_err(flag);
            let expected = format!("error: unknown option '{flag}'\n({why})");
            assert_eq!(refused, crate::args::UsageError::Bad(expected));
        }
    }
}
