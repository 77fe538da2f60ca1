//! Properties of the parser for every text.

use bowline_shell::{is_read_only, parse};
use proptest::prelude::*;

/// Pieces that mean something to a shell, so that random texts get somewhere.
const PIECES: &[&str] = &[
    "a",
    "ls",
    "rm",
    " ",
    " ",
    "\n",
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "${x",
    "$x",
    "&&",
    "||",
    ";",
    "|",
    "&",
    ">",
    "<",
    "<<E\n",
    "\nE\n",
    "if ",
    "then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "[[ ",
    " ]]",
    "#",
    "=",
    "x=",
    "é",
    "~",
    "*",
    "-rf",
    "/",
    "$((",
    "))",
    "$'",
    "<(",
];

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PIECES)
}

/// Pieces that cannot make what follows them a mere text.
fn piece_without_quotes() -> impl Strategy<Value = &'static str> {
    let quotes = |piece: &&str| {
        piece.contains(['\'', '"', '`', '#', '\\']) || matches!(*piece, "<" | "<<E\n")
    };
    prop::sample::select(PIECES.iter().copied().filter(|piece| !quotes(piece)).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}", pieces in prop::collection::vec(piece(), 0..40)) {
        for text in [text, pieces.concat()] {
            let script = parse(&text);
            script.danger();
            for command in &script.commands {
                command.file_access();
                command.layers();
                command.path_like_words();
            }
            is_read_only(&text);
        }
    }

    #[test]
    fn joined_commands_are_split_again(
        commands in prop::collection::vec("[a-z]{1,5}( (-[a-z]|'[a-z;&| ]*'|\"[a-z;&|( ]*\"|[a-z./]{1,6})){0,3}", 1..6),
        operators in prop::collection::vec(
            prop::sample::select(vec!["&&", "||", ";", "|", "&", "\n", " && ", " || ", " ; ", " | ", " & "]),
            5,
        ),
    ) {
        // A reserved word in the place of a name would be another grammar.
        prop_assume!(commands.iter().all(|it| {
            let name = it.split(' ').next().unwrap_or_default();
            !["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case",
              "esac", "in"].contains(&name)
        }));
        let mut line = commands[0].clone();
        for (operator, command) in operators.iter().zip(&commands[1..]) {
            line.push_str(operator);
            line.push_str(command);
        }
        let script = parse(&line);
        prop_assert_eq!(script.opaque, None);
        let found: Vec<String> = script.commands.iter().map(|it| it.text()).collect();
        prop_assert_eq!(found, commands);
    }

    #[test]
    fn a_line_with_a_writing_command_is_never_read_only(
        before in prop::collection::vec(piece_without_quotes(), 0..12),
        after in prop::collection::vec(piece_without_quotes(), 0..12),
    ) {
        // The command stands on a line of its own, so that nothing before it can quote it unless
        // the text is left open, which makes it opaque.
        let line = format!("{}\nrm x\n{}", before.concat(), after.concat());
        prop_assert!(!is_read_only(&line));
    }
}
