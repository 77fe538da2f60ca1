//! The fuzz target `shell` as a bounded property test.

#[path = "../../../../fuzz/properties/shell.rs"]
mod property;

use proptest::prelude::*;

/// Fragments of the shell's grammar, at whose borders parsers fail.
const FRAGMENTS: &[&str] = &[
    "cat",
    "rm -rf /",
    "git log",
    "a",
    "-x",
    "$",
    "$(",
    "${",
    "$((",
    "$[",
    "`",
    ")",
    "}",
    "]]",
    "[[",
    "((",
    "))",
    "(",
    "{ ",
    "'",
    "\"",
    "\\",
    "|",
    "||",
    "&",
    "&&",
    ";",
    ";;",
    "\n",
    " ",
    "\t",
    "#",
    "<",
    "<<",
    "<<<",
    "<<EOF\n",
    "EOF\n",
    "<(",
    ">",
    ">>",
    ">&2",
    "2>&1",
    "&>",
    "=",
    "A=1",
    "A+=(",
    "*",
    "?",
    "[a-z]",
    "~",
    "!",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "case",
    "esac",
    "while",
    "function",
    "time",
    "coproc",
    "bash -c",
    "xargs",
    "env",
    "timeout 1",
    "é",
    "\u{0}",
    "\r",
];

proptest! {
    #[test]
    fn fragments_of_the_grammar_are_parsed(
        parts in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..24),
    ) {
        property::check(&parts.concat());
        property::check(&parts.join(" "));
    }

    #[test]
    fn any_text_is_parsed(line in any::<String>()) {
        property::check(&line);
    }
}
