//! Generator of `docs/cli.md` from the definition of the command line, so that it cannot be out of date.
//!
//! `BOWLINE_WRITE_DOCS=1 cargo test -p bowline reference` writes it again.

use std::{collections::BTreeSet, env, fmt::Write, fs, path::Path};

use clap::{Arg, Command, CommandFactory};

use super::Args;

const INTRODUCTION: &str = "# The command line

Every command and flag of `bowline`, as `bowline --help` has them. This page is generated from the program's own
definition, and a test keeps it current (`crates/bowline/src/args/reference.rs`).

Values follow a flag as the next word or after `=`: `--model opus`, `--model=opus`. A flag that takes a list
takes every word up to the next flag, so a prompt after one needs `--` before it:
`bowline -p --allowedTools Read Grep -- \"what is this?\"`. Of a flag that is given twice, the second applies.

Without a command, `bowline` runs one prompt (`-p`), or serves the program that started it over stdin and
stdout (`--input-format stream-json --output-format stream-json`). Flags of the official CLI that are refused here,
or accepted without effect, are in [compatibility.md](compatibility.md#flags).

| exit code | when |
|---|---|
| 0 | the last result is not an error, or there was nothing to do |
| 1 | the last result is an error, or the command line, the settings or a line of input are invalid |
| 75 | the host at `--sdk-url` is lost; the session can be resumed |
| 129, 143 | SIGHUP, SIGTERM |
";

#[test]
#[expect(clippy::disallowed_methods, reason = "rewrites the document on request")]
fn the_reference_is_that_of_this_program() {
    let mut command = Args::command();
    command.build();
    let mut page = INTRODUCTION.to_owned();
    add_command(&mut page, &command, "bowline");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if env::var_os("BOWLINE_WRITE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/cli.md is out of date: BOWLINE_WRITE_DOCS=1 cargo test -p bowline reference"
    );
}

/// A section about a command, and those about its own commands.
fn add_command(page: &mut String, command: &Command, name: &str) {
    writeln!(page, "\n## `{name}`\n").unwrap();
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let about = about.to_string().replace("\n\n", ". ");
        writeln!(page, "{}.\n", one_line(&about).trim_end_matches('.')).unwrap();
    }
    let shown: Vec<_> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &shown {
        let heading = arg.get_help_heading();
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            writeln!(page, "### {heading}\n").unwrap();
        }
        page.push_str("| flag | what it does |\n|---|---|\n");
        for arg in shown.iter().filter(|arg| arg.get_help_heading() == heading) {
            writeln!(page, "| {} | {} |", spelled(arg), meaning(arg)).unwrap();
        }
        page.push('\n');
    }
    let commands = || command.get_subcommands().filter(|command| !command.is_hide_set());
    if commands().next().is_some() {
        page.push_str("| command | what it does |\n|---|---|\n");
        for below in commands() {
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(page, "| `{name} {}` | {} |", below.get_name(), one_line(&about)).unwrap();
        }
    }
    while page.ends_with("\n\n") {
        page.pop();
    }
    for below in commands() {
        add_command(page, below, &format!("{name} {}", below.get_name()));
    }
}

/// A flag as it is typed, with all its names.
fn spelled(arg: &Arg) -> String {
    let values: Vec<_> = arg.get_value_names().unwrap_or_default().iter().collect();
    let takes_values = arg.get_num_args().is_some_and(|range| range.takes_values());
    let values = match takes_values {
        true => values.iter().map(|name| format!(" <{name}>")).collect::<String>(),
        false => String::new(),
    };
    let long = arg.get_long_and_visible_aliases().unwrap_or_default();
    let long = long.into_iter().map(|long| format!("--{long}"));
    let short = arg.get_short_and_visible_aliases().unwrap_or_default();
    let names: Vec<_> = short.into_iter().map(|short| format!("-{short}")).chain(long).collect();
    match names.is_empty() {
        true => format!("`[{}]`", arg.get_id().as_str()),
        false => format!("`{}{values}`", names.join("`, `")),
    }
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
    let mut meaning = one_line(&help.unwrap_or_default());
    // A kind of value may be listed under more than one name.
    let values: BTreeSet<_> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect();
    let takes_values = arg.get_num_args().is_some_and(|range| range.takes_values());
    if takes_values && !values.is_empty() {
        let values: Vec<_> = values.into_iter().map(|value| format!("`{value}`")).collect();
        write!(meaning, " ({})", values.join(", ")).unwrap();
    }
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.display())).collect();
    if takes_values && !defaults.is_empty() {
        write!(meaning, "; {} if not given", defaults.join(", ")).unwrap();
    }
    meaning
}

/// Text as it fits into a cell of a table.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
