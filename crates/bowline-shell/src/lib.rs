//! Parser and analysis of Bash command lines.
//!
//! [`parse`] takes a command line apart into its simple commands, wherever they
//! hide: after `&&`, in a pipe, a loop, a substitution, a here-document. Syntax that it
//! does not support makes the whole script [opaque](Script::opaque), and an opaque
//! script must never be taken for harmless.
//!
//! On top of that: which commands [only read](Command::is_read_only), which files
//! a command [reads and writes](Command::file_access), which commands a wrapper such as
//! `timeout` or `bash -c` [runs](Command::nested), and which commands are
//! [dangerous](Script::danger) however they were allowed.
//!
//! It runs nothing, opens nothing and knows no permission rules.

mod danger;
mod file_access;
mod file_commands;
mod known;
mod nested;
mod options;
mod parser;
mod pattern;
mod read_only;
mod script;
mod synopsis;
mod variables;
mod word;

pub use danger::Danger;
pub use file_access::FileAccess;
pub use file_commands::Transfer;
pub use nested::Nested;
pub use parser::{MAX_COMMANDS, MAX_DEPTH, MAX_LENGTH, parse};
pub use pattern::{Component, Pattern, Wildcard};
pub use script::{Assignment, Command, Opaque, Redirection, RedirectionKind, Script};
pub use word::Word;

/// Whether a command line only reads: it is understood completely, each of its commands is
/// known to change nothing, and none of its output goes to a file.
///
/// For the files that it reads see [`Command::file_access`].
pub fn is_read_only(command_line: &str) -> bool {
    parse(command_line).is_read_only()
}
