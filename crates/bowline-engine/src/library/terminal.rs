//! Commands that belong to the official CLI's terminal.
//!
//! The user who types one expects the program to act on it, so it is not sent to the model.

/// The names of these commands.
const NAMES: &str = "
    add-dir advisor allowed-tools android app autocompact autofix-pr background bashes bg branch
    brief btw bug cd checkpoint chrome color continue copy desktop diff exit export extra-usage
    fast feedback focus fork heapdump hooks ide install-github-app install-slack-app ios
    keybindings list-agents login logout loops marketplace memory mobile passes peers plan
    plugin plugins powerup privacy-settings quit radio rate-limit-options rc release-notes
    remote-control remote-env resume rewind sandbox schedule scroll-speed session share skills
    status statusline stickers stop tasks teleport terminal-setup theme tp tui ultraplan
    ultrareview undo upgrade vim voice web-setup workflows
";

/// Whether a name is in the list.
pub(crate) fn is_named(name: &str) -> bool {
    NAMES.split_ascii_whitespace().any(|known| known == name)
}
