//! Texts of commands.

use bowline_protocol::ContextUsage;

/// The output of a command, as the conversation has it.
pub(super) fn stdout(text: &str) -> String {
    format!("<local-command-stdout>{text}</local-command-stdout>")
}

/// The error of a command, as the conversation has it.
pub(super) fn stderr(text: &str) -> String {
    format!("<local-command-stderr>{text}</local-command-stderr>")
}

/// The mark of a built-in command in messages and transcripts. Hosts match it, blanks included.
pub(super) fn builtin_mark(name: &str, args: &str) -> String {
    let blanks = "            ";
    format!(
        "<command-name>/{name}</command-name>\n{blanks}<command-message>{name}</command-message>\n\
         {blanks}<command-args>{args}</command-args>"
    )
}

/// The mark of a custom command in conversations and transcripts.
pub(super) fn command_mark(name: &str, args: &str) -> String {
    let mark =
        format!("<command-message>{name}</command-message>\n<command-name>/{name}</command-name>");
    match args.is_empty() {
        true => mark,
        false => format!("{mark}\n<command-args>{args}</command-args>"),
    }
}

/// The text for a user who types a command that only the model may call.
pub(super) fn only_for_model(name: &str) -> String {
    format!("/{name} is for the model to call up. Ask it to use the skill \"{name}\".")
}

/// A file that a command includes.
pub(super) fn file_contents(name: &str, text: &str) -> String {
    crate::context::reminder(&format!("Contents of {name}:\n\n{text}"))
}

/// The text for a command that a hook has blocked.
pub(super) fn expansion_blocked(reason: &str, typed: &str) -> String {
    format!("UserPromptExpansion operation blocked by hook:\n{reason}\n\nOriginal prompt: {typed}")
}

/// The text for a command that needs a terminal.
pub(super) fn unavailable(name: &str) -> String {
    format!("/{name} isn't available in this environment.")
}

/// Lines below a heading.
pub(super) fn list(head: &str, lines: impl Iterator<Item = String>) -> String {
    [head.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

/// Context usage as a Markdown table.
pub(super) fn context_table(usage: &ContextUsage) -> String {
    let mut lines = vec![
        "## Context Usage".to_owned(),
        String::new(),
        format!("**Model:** {}  ", usage.model),
        format!(
            "**Tokens:** {} / {} ({}%)",
            short(usage.total_tokens),
            short(usage.max_tokens),
            usage.percentage
        ),
        String::new(),
        "| Category | Tokens | Percentage |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for category in &usage.categories {
        let part = category.tokens as f64 * 100.0 / usage.max_tokens.max(1) as f64;
        lines.push(format!("| {} | {} | {part:.1}% |", category.name, short(category.tokens)));
    }
    let files = usage.memory_files.iter();
    let files: Vec<_> = files
        .map(|file| format!("- {} ({}, {})", file.path, file.r#type, short(file.tokens)))
        .collect();
    if !files.is_empty() {
        lines.extend([String::new(), "### Memory files".to_owned()]);
        lines.extend(files);
    }
    lines.join("\n")
}

/// A short number of tokens: `8.9k`, `1m`.
fn short(tokens: u64) -> String {
    let scaled = |unit: f64, name: &str| {
        let text = format!("{:.1}", tokens as f64 / unit);
        format!("{}{name}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => scaled(1_000.0, "k"),
        _ => scaled(1_000_000.0, "m"),
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn tokens_are_short_for_people() {
        let shown: Vec<_> = [7, 999, 1_000, 8_944, 1_000_000].map(short).into();
        assert_eq!(shown, ["7", "999", "1k", "8.9k", "1m"]);
    }
}
