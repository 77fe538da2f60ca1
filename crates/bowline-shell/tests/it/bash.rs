//! Differential test: the real Bash runs no program that the parser did not find.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use bowline_shell::parse;
use proptest::prelude::*;

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "mark",
        "mark",
        "mark ",
        "a",
        ":",
        "echo ",
        " ",
        " ",
        "\n",
        "\n",
        "'",
        "\"",
        "\\",
        "\\\n",
        "`",
        "$(",
        ")",
        "(",
        "{ ",
        "; }",
        "${x:-",
        "${x",
        "}",
        "$x",
        "$",
        "&&",
        "||",
        ";",
        "|",
        "&",
        "<",
        ">",
        "<<E\n",
        "<<'E'\n",
        "<<-E\n",
        "\nE\n",
        "E",
        "E)",
        "if ",
        "; then ",
        "; fi",
        "for i in ",
        "; do ",
        "; done",
        "[[ ",
        " ]]",
        "#",
        " #",
        "=",
        "x=",
        "!",
        "! ",
        "time ",
        "$((",
        "((",
        "))",
        "$'",
        "<(",
        ">(",
        "*",
        "~",
        "f()",
        "function ",
        "case x in *) ",
        ";; esac",
        "1",
        "é",
        "\t",
        "eval ",
        "command ",
        "mark() ",
    ])
}

/// Whether Bash runs the command `mark` somewhere in a text.
fn runs_mark(text: &str, directory: &Path) -> bool {
    let ran = directory.join("ran");
    let _ = fs::remove_file(&ran);
    let script = r#"ran=$2; mark() { : > "$ran"; }; eval "$1""#;
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", script, "bash", text])
        .arg(&ran)
        .current_dir(directory)
        .env_clear()
        .env("PATH", directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok(), "these tests need a Bash");
    ran.exists()
}

#[test]
fn executed_command_leaves_its_mark() {
    let directory = tempfile::tempdir().unwrap();
    assert!(runs_mark("mark", directory.path()));
    // Bash joins these lines into a here-document's end, and these into a substitution.
    assert!(runs_mark("echo <<EE\nE\\\nE\nmark\nEE", directory.path()));
    assert!(runs_mark("echo \"$\\\n(mark)\"", directory.path()));
    assert!(!runs_mark("echo 'mark'", directory.path()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_program_bash_runs_was_parsed(pieces in prop::collection::vec(piece(), 1..14)) {
        let text = pieces.concat();
        let script = parse(&text);
        let seen = script.opaque.is_some() || script.commands.iter().any(|command| {
            let (layers, complete) = command.layers();
            let nameless = |it: &bowline_shell::Command| !it.words.is_empty() && it.name().is_none();
            !complete || layers.iter().any(|it| it.name() == Some("mark") || nameless(it))
        });
        if !seen {
            let directory = tempfile::tempdir().unwrap();
            prop_assert!(!runs_mark(&text, directory.path()), "{:?} ran unseen", text);
        }
    }
}
