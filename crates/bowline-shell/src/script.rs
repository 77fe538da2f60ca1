//! A command line taken apart: its simple commands, their words and redirections.

use std::fmt;

use crate::word::Word;

/// A command line taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// Every simple command that may run, in the order they are written. A command inside a
    /// substitution follows the command that uses it.
    pub commands: Vec<Command>,
    /// Whether the first of them is a simple command that runs before all others, in their shell, and
    /// that has to succeed for them.
    pub begins_alone: bool,
    /// Whether some of them may run more than once: they are in a loop or a function.
    pub repeats: bool,
    /// Whether it defines functions, whose names may be those of programs.
    pub defines_functions: bool,
    /// Whether the output of commands becomes part of it outside of any command, for instance in a
    /// here-document.
    pub substitutes: bool,
    /// The variables whose values it takes outside of any command.
    pub variables: Vec<String>,
    /// Why the commands are incomplete, if they are. The script must then never be taken for
    /// harmless, or for the sum of its commands.
    pub opaque: Option<Opaque>,
}

/// Why a command line was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// What was in the way.
    pub reason: &'static str,
    /// Where, in bytes from the start of the command line or of the text nested in it.
    pub at: usize,
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.reason, self.at)
    }
}

/// One simple command: assignments, words, redirections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Variables set for it, or for the shell if there are no words.
    pub assignments: Vec<Assignment>,
    /// Its name and arguments.
    pub words: Vec<Word>,
    /// Where its input comes from and its output goes.
    pub redirections: Vec<Redirection>,
    /// The variables whose values it takes, by name.
    pub variables: Vec<String>,
    /// Whether the output of other commands becomes part of it: `$(…)`, backticks, `<(…)`.
    pub substitutes: bool,
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, without a subscript.
    pub name: String,
    /// The assignment as written.
    pub raw: String,
}

/// Where input comes from or output goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// Which way.
    pub kind: RedirectionKind,
    /// The file, the number of a descriptor, the text, or the end mark of a here-document.
    pub target: Word,
}

/// Which way a redirection goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`: from a file.
    Read,
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`: to a file.
    Write,
    /// `>&`, `<&`: another descriptor, or a file if the target is not a number.
    Duplicate,
    /// `<<`, `<<<`: from the command line itself.
    Here,
}

impl Command {
    /// A command of these words.
    pub fn of(words: Vec<Word>) -> Self {
        Self { words, ..Self::default() }
    }

    /// Its name, if it is certain.
    pub fn name(&self) -> Option<&str> {
        self.words.first().filter(|word| !word.is_glob()).and_then(Word::literal)
    }

    /// Name and arguments as written, one space between them.
    pub fn text(&self) -> String {
        join(self.words.iter().map(Word::raw))
    }

    /// Assignments, name and arguments as written, one space between them.
    pub fn text_with_assignments(&self) -> String {
        let assignments = self.assignments.iter().map(|assignment| assignment.raw.as_str());
        join(assignments.chain(self.words.iter().map(Word::raw)))
    }

    /// Name and arguments as the command will see them; what is not certain, as written.
    pub fn plain_text(&self) -> String {
        join(self.words.iter().map(|word| word.literal().unwrap_or(word.raw())))
    }
}

fn join<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(part);
    }
    text
}
