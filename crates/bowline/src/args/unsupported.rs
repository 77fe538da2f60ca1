//! Flags of the official CLI that are refused or have no effect here. None is ignored silently.
//!
//! `docs/compatibility.md` lists both tables; a test compares them.

use super::{RunArgs, SystemPromptSnapshot};

/// Flags that are refused, with the reason.
pub(super) const REFUSED: [(&str, &str); 18] = [
    ("--ax-screen-reader", "there is no screen to draw on"),
    ("--background", "sessions run in the foreground; start them from a program with bowline-host"),
    ("--bg", "sessions run in the foreground; start them from a program with bowline-host"),
    ("--brief", "responses are messages; there is no tool to send them with"),
    ("--chrome", "no browser is controlled; an MCP server can do that"),
    ("--cloud", "a product of the vendor"),
    ("--desktop", "a product of the vendor"),
    ("--dump-system-prompt", "the official CLI no longer has it either"),
    ("--environment", "a product of the vendor"),
    ("--file", "files of the vendor's API are not fetched"),
    ("--from-pr", "pull requests are not looked up; name the session with --resume"),
    ("--ide", "bowline does not connect to editors; they start it"),
    ("--no-chrome", "no browser is controlled"),
    ("--plugin-url", "plugins are not fetched; name a folder with --plugin-dir"),
    ("--remote-control", "a product of the vendor; --sdk-url serves any host"),
    ("--remote-control-session-name-prefix", "a product of the vendor"),
    ("--tmux", "no terminal multiplexer is controlled"),
    ("--worktree", "the session is not moved into one; start bowline there"),
];

/// A flag that is accepted without effect.
pub(super) struct Idle {
    pub(super) flag: &'static str,
    pub(super) why: &'static str,
    is_given: fn(&RunArgs) -> bool,
}

/// Flags that are accepted without effect, because hosts pass them by default.
pub(super) const IDLE: [Idle; 5] = [
    Idle {
        flag: "--channels",
        why: "there are no channels",
        is_given: |args| !args.output.channels.is_empty(),
    },
    Idle {
        flag: "--enable-auth-status",
        why: "there is no sign-in",
        is_given: |args| args.output.enable_auth_status,
    },
    Idle {
        flag: "--prompt-suggestions",
        why: "prompts are not suggested",
        is_given: |args| args.output.prompt_suggestions == Some(true),
    },
    Idle {
        flag: "--system-prompt-snapshot",
        why: "the system prompt is built again for each turn",
        is_given: |args| args.model.system_prompt_snapshot == Some(SystemPromptSnapshot::On),
    },
    Idle {
        flag: "--workload",
        why: "no service here is billed by it",
        is_given: |args| args.output.workload.is_some(),
    },
];

/// Returns the reason why a flag of the official CLI is refused; `None` for other flags.
pub(super) fn refusal(flag: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(name, _)| *name == flag).map(|(_, why)| *why)
}

impl RunArgs {
    /// Notices about flags without effect.
    pub(crate) fn idle_flags(&self) -> impl Iterator<Item = String> {
        let given = IDLE.iter().filter(|idle| (idle.is_given)(self));
        given.map(|Idle { flag, why, .. }| format!("{flag} has no effect: {why}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the table below a heading.
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
    fn refused_flags_are_unknown_options() {
        for (flag, why) in REFUSED {
            let refused = crate::args::Args::read(["bowline", flag]).expect_err(flag);
            let expected = format!("error: unknown option '{flag}'\n({why})");
            assert_eq!(refused, crate::args::UsageError::Bad(expected));
        }
    }
}
