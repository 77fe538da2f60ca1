//! Slash commands of the official CLI's terminal interface.
//!
//! They are reported as unavailable instead of being sent to the model as prompts.

/// Names, separated by whitespace.
const TERMINAL_COMMANDS: &str = "
    add-dir advisor allowed-tools android app autocompact autofix-pr background bashes bg branch
    brief btw bug cd checkpoint chrome color continue copy desktop diff exit export extra-usage
    fast feedback focus fork heapdump hooks ide install-github-app install-slack-app ios
    keybindings list-agents login logout loops marketplace memory mobile passes peers plan
    plugin plugins powerup privacy-settings quit radio rate-limit-options rc release-notes
    remote-control remote-env resume rewind sandbox schedule scroll-speed session share skills
    status statusline stickers stop tasks teleport terminal-setup theme tp tui ultraplan
    ultrareview undo upgrade vim voice web-setup workflows
";

/// Whether a slash command exists only in the terminal.
pub(crate) fn is_terminal_command(name: &str) -> bool {
    TERMINAL_COMMANDS.split_ascii_whitespace().any(|known| known == name)
}
