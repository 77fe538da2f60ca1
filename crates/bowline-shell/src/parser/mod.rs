//! Parser of command lines, one character at a time.
//!
//! A recursive descent that keeps no tree: commands are collected in a list as they
//! are met. At the first thing it does not know it stops, and the script is opaque.

mod compound;
mod expansion;
mod simple;

use crate::script::{Command, Opaque, Script};

/// The longest command line that is parsed. No user who approves commands reads a longer one.
pub const MAX_LENGTH: usize = 64 * 1024;

/// How deep subshells, substitutions and compound commands may nest.
pub const MAX_DEPTH: usize = 32;

/// How many simple commands a command line may have.
pub const MAX_COMMANDS: usize = 256;

/// Takes a command line apart.
pub fn parse(command_line: &str) -> Script {
    let mut parser = Parser::new(command_line, 0);
    if command_line.len() > MAX_LENGTH {
        parser.opaque = Some(Opaque { reason: "the command is too long", at: MAX_LENGTH });
    } else if let Some(at) = command_line.find(is_unprintable) {
        parser.opaque = Some(Opaque { reason: "a control character", at });
    } else {
        // The reason is kept in `opaque`.
        let _ = parser.whole_script();
    }
    let Parser {
        commands,
        begins_alone,
        repeats,
        defines_functions,
        substitutes,
        variables,
        opaque,
        ..
    } = parser;
    Script { commands, begins_alone, repeats, defines_functions, substitutes, variables, opaque }
}

fn is_unprintable(letter: char) -> bool {
    letter.is_control() && letter != '\n' && letter != '\t'
}

/// Parsing cannot continue; [`Parser::opaque`] holds the reason.
#[derive(Debug)]
struct Stop;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    commands: Vec<Command>,
    here_documents: Vec<HereDocument>,
    begins_alone: bool,
    repeats: bool,
    defines_functions: bool,
    /// Whether the command that is being read has a substitution.
    substitutes: bool,
    /// What the command that is being read takes from variables.
    variables: Vec<String>,
    opaque: Option<Opaque>,
}

struct HereDocument {
    end: String,
    indented: bool,
    expands: bool,
}

/// What closes a list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closer {
    End,
    Parenthesis,
    Words(&'static [&'static str]),
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            at: 0,
            depth,
            commands: Vec::new(),
            here_documents: Vec::new(),
            begins_alone: false,
            repeats: false,
            defines_functions: false,
            substitutes: false,
            variables: Vec::new(),
            opaque: None,
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn looking_at(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    /// Goes over this many bytes, which the caller has looked at.
    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn stop<T>(&mut self, reason: &'static str) -> Result<T, Stop> {
        self.opaque.get_or_insert(Opaque { reason, at: self.at });
        Err(Stop)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        if self.depth == MAX_DEPTH {
            return self.stop("nested too deep");
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Reads a text that stands for itself inside this one: backticks, a here-document.
    fn nested_text(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Parser<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.deeper(|outer| {
            let mut inner = Parser::new(text, outer.depth);
            let found = read(&mut inner);
            let Parser {
                commands, repeats, defines_functions, substitutes, variables, opaque, ..
            } = inner;
            outer.variables.extend(variables);
            outer.commands.extend(commands);
            outer.repeats |= repeats;
            outer.defines_functions |= defines_functions;
            outer.substitutes |= substitutes;
            match (found, opaque) {
                (Ok(()), None) if outer.commands.len() <= MAX_COMMANDS => Ok(()),
                (_, opaque) => outer.stop(opaque.map_or("too many commands", |it| it.reason)),
            }
        })
    }

    /// `$(…)` and `<(…)`, the parenthesis already read.
    fn substitution(&mut self) -> Result<(), Stop> {
        // Here-documents that wait for the end of the line are read after the substitution, and
        // its own must end within it.
        let waiting = std::mem::take(&mut self.here_documents);
        self.substitutes = true;
        self.subshell()?;
        if !self.here_documents.is_empty() {
            return self.stop("a here-document has no end");
        }
        self.here_documents = waiting;
        Ok(())
    }

    /// `(…)`, the parenthesis already read.
    fn subshell(&mut self) -> Result<(), Stop> {
        self.deeper(|parser| parser.list(Closer::Parenthesis).map(drop))
    }

    fn whole_script(&mut self) -> Result<(), Stop> {
        self.list(Closer::End).map(drop)
    }

    /// Reads a command and gives it the variables and substitutions met on the way.
    fn attributed(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Command, Stop>,
    ) -> Result<Command, Stop> {
        let before = self.variables.len();
        let substitutes = std::mem::replace(&mut self.substitutes, false);
        let found = read(self);
        let variables = self.variables.split_off(before.min(self.variables.len()));
        let substitutes = std::mem::replace(&mut self.substitutes, substitutes);
        found.map(|command| Command { variables, substitutes, ..command })
    }

    fn keep(&mut self, index: usize, command: Command) -> Result<(), Stop> {
        if self.commands.len() >= MAX_COMMANDS {
            return self.stop("too many commands");
        }
        // Before the commands of its own substitutions, so that the list reads like the text.
        self.commands.insert(index, command);
        Ok(())
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.skip(1),
                Some('\\') if self.looking_at("\\\n") => self.skip(2),
                Some('#') => {
                    // A comment: blanks are only skipped where a word would begin.
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn blanks_and_newlines(&mut self) -> Result<(), Stop> {
        loop {
            self.blanks();
            if self.peek() != Some('\n') {
                return Ok(());
            }
            self.skip(1);
            for document in std::mem::take(&mut self.here_documents) {
                self.here_document(&document)?;
            }
        }
    }
}

/// Whether a word ends before this character.
fn ends_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

pub(crate) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
