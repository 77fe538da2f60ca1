//! Reads a Bash command line well enough to judge it.
//!
//! [`parse`] takes a command line apart into its simple commands, wherever they
//! hide: behind `&&`, in a pipe, a loop, a substitution, a here-document. What it
//! does not understand makes the whole script [opaque](Script::opaque), and nobody
//! may take an opaque script for harmless.
//!
//! On top of that: which commands [only read](Command::is_read_only), which files
//! a command [touches](Command::touches), what a wrapper such as `timeout` or
//! `bash -c` [carries](Command::carried), and which commands are
//! [dangerous](Script::danger) however they were allowed.
//!
//! It runs nothing, opens nothing and knows no permission rules.

mod carried;
mod danger;
mod file_commands;
mod known;
mod options;
mod parser;
mod pattern;
mod read_only;
mod script;
mod synopsis;
mod touches;
mod variables;
mod word;

pub use carried::Carried;
pub use danger::Danger;
pub use file_commands::Transfer;
pub use parser::{MAX_COMMANDS, MAX_DEPTH, MAX_LENGTH, parse};
pub use pattern::{Component, Pattern, Wildcard};
pub use script::{Assignment, Command, Opaque, Redirection, RedirectionKind, Script};
pub use touches::Touches;
pub use word::Word;

/// Whether a command line only reads: it is understood completely, each of its commands is
/// known to change nothing, and none of its output goes to a file.
///
/// Which files it reads is another question: see [`Command::touches`].
pub fn is_read_only(command_line: &str) -> bool {
    parse(command_line).is_read_only()
}
