//! Properties of the shell parser: no panic, bounded, and every command is a part of the line.

use bowline_shell::{MAX_COMMANDS, parse};

/// Parses one command line and evaluates everything that is derived from it.
pub(crate) fn check(line: &str) {
    let script = parse(line);
    assert!(script.commands.len() <= MAX_COMMANDS, "{line:?}");
    for command in &script.commands {
        let _ = (command.file_access(), command.path_like_words(), command.nested());
        let _ = (command.text(), command.text_with_assignments(), command.plain_text());
        let _ =
            (command.is_read_only(), command.runs_read_only(), command.has_harmless_assignments());
    }
    let _ = script.danger();
    let is_read_only = script.is_read_only();
    assert!(!(is_read_only && script.opaque.is_some()), "opaque and read-only: {line:?}");
    // Surrounding spaces do not change what runs.
    assert_eq!(parse(&format!(" {line}")).is_read_only(), is_read_only, "{line:?}");
}
