//! Interpretation of exit codes and empty output by command.

use std::time::Duration;

use bowline_shell::Script;

/// Programs that say nothing when all went well.
const SILENT: &[&str] =
    &["cd", "chmod", "chown", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "touch"];

/// Whether no output is expected from this command.
pub(super) fn is_silent(command: &str) -> bool {
    let Script { commands, opaque, .. } = bowline_shell::parse(command);
    let silent = |command: &bowline_shell::Command| {
        command.name().is_some_and(|name| SILENT.contains(&name))
    };
    opaque.is_none() && !commands.is_empty() && commands.iter().all(silent)
}

/// Meaning of a nonzero exit code for programs that use it as a result. The last
/// program of the line decides.
pub(super) fn harmless(command: &str, code: i32) -> Option<&'static str> {
    let script = bowline_shell::parse(command);
    if script.opaque.is_some() {
        return None;
    }
    match (script.commands.last()?.name()?, code) {
        ("grep" | "egrep" | "fgrep" | "rg", 1) => Some("No matches found"),
        ("diff", 1) => Some("Files differ"),
        ("test" | "[", 1) => Some("Condition is false"),
        ("find", 1) => Some("Some directories were inaccessible"),
        _ => None,
    }
}

/// How long a command sleeps before it does anything, if that is how it starts.
pub(super) fn leading_sleep(command: &str) -> Option<Duration> {
    let rest = command.trim_start().strip_prefix("sleep")?;
    let end = rest.find([';', '&', '\n']).unwrap_or(rest.len());
    let time = rest[..end].strip_prefix([' ', '\t'])?.trim();
    let (number, factor) = match time.chars().last()? {
        's' => (&time[..time.len() - 1], 1.0),
        'm' => (&time[..time.len() - 1], 60.0),
        'h' => (&time[..time.len() - 1], 3600.0),
        _ => (time, 1.0),
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * factor).ok()
}
