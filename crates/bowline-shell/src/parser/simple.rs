//! Simple commands: words, assignments, redirections, here-documents.

use super::{HereDocument, Parser, Stop, ends_word, is_name};
use crate::{
    script::{Assignment, Command, Redirection, RedirectionKind},
    word::{Word, WordBuilder},
};

impl Parser<'_> {
    pub(super) fn simple_or_function(&mut self) -> Result<(), Stop> {
        let index = self.commands.len();
        let command = self.attributed(Self::simple)?;
        if self.peek() == Some('(') {
            return self.function(&command);
        }
        if command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirections.is_empty()
        {
            return self.stop("a command is missing");
        }
        // A broken line may hide a reserved word.
        if command.words.first().is_some_and(|word| word.raw().contains('\n')) {
            return self.stop("a name on two lines");
        }
        self.keep(index, command)
    }

    /// A simple command, up to what ends it or to the parenthesis of a function.
    fn simple(&mut self) -> Result<Command, Stop> {
        let mut command = Command::default();
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                command.redirections.push(redirection);
                continue;
            }
            match self.peek() {
                Some('(') if command.words.len() == 1 && command.assignments.is_empty() => {
                    return Ok(command);
                }
                Some('(') => return self.stop("an unexpected parenthesis"),
                Some(letter) if !ends_word(letter) || self.at_process_substitution() => {}
                _ => return Ok(command),
            }
            let from = self.at;
            let (word, assigned) = self.word_or_assignment(command.words.is_empty())?;
            match assigned {
                Some(name) => {
                    let raw = self.text[from..self.at].to_owned();
                    command.assignments.push(Assignment { name, raw });
                }
                // `{NAME}>file` assigns the number of a descriptor to a variable.
                None if word.raw().starts_with('{') && matches!(self.peek(), Some('<' | '>')) => {
                    return self.stop("a descriptor in a variable");
                }
                None => command.words.push(word),
            }
        }
    }

    /// `name() { … }`: its commands are commands of the script.
    fn function(&mut self, name: &Command) -> Result<(), Stop> {
        self.next();
        self.blanks();
        let plain = name.name().is_some_and(is_name) && name.redirections.is_empty();
        if !plain || self.peek() != Some(')') {
            return self.stop("an unexpected parenthesis");
        }
        self.next();
        self.blanks_and_newlines()?;
        if !self.looking_at_word("{") {
            return self.stop("a function whose body is not a group");
        }
        self.repeats = true;
        self.defines_functions = true;
        self.command()
    }

    pub(super) fn word(&mut self) -> Result<Word, Stop> {
        self.word_or_assignment(false).map(|(word, _)| word)
    }

    /// Reads a word, and the name of the variable if it assigns one.
    fn word_or_assignment(&mut self, may_assign: bool) -> Result<(Word, Option<String>), Stop> {
        let from = self.at;
        let mut word = WordBuilder::default();
        let mut assigned = None;
        while let Some(letter) = self.peek() {
            if self.at_process_substitution() {
                word.dynamic();
                self.skip(2);
                self.substitution()?;
                continue;
            }
            if ends_word(letter) {
                break;
            }
            self.next();
            match letter {
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(escaped) => word.quoted(escaped),
                    None => return self.stop("a backslash at the end"),
                },
                '\'' => self.single_quotes(&mut word)?,
                '"' => self.double_quotes(&mut word)?,
                '$' => self.dollar(&mut word)?,
                '`' => {
                    self.backticks(&mut word)?;
                    word.dynamic_words();
                }
                '=' if may_assign && assigned.is_none() && !word.has_quotes() => {
                    let name = word.so_far().strip_suffix('+').unwrap_or(word.so_far());
                    if !word.is_dynamic() && is_name(name) {
                        assigned = Some(name.to_owned());
                        if self.peek() == Some('(') {
                            return self.stop("an array");
                        }
                    } else if name.contains('[') {
                        return self.stop("an assignment to part of an array");
                    }
                    word.bare('=');
                }
                bare => word.bare(bare),
            }
        }
        if self.at == from {
            return self.stop("a word is missing");
        }
        Ok((word.finish(&self.text[from..self.at]), assigned))
    }

    fn at_process_substitution(&self) -> bool {
        self.looking_at("<(") || self.looking_at(">(")
    }

    /// The redirection here, if there is one.
    pub(super) fn redirection(&mut self) -> Result<Option<Redirection>, Stop> {
        use RedirectionKind::{Duplicate, Here, Read, Write};
        const OPERATORS: [(&str, RedirectionKind); 12] = [
            ("&>>", Write),
            ("&>", Write),
            ("<<<", Here),
            ("<<-", Here),
            ("<<", Here),
            ("<>", Write),
            ("<&", Duplicate),
            (">&", Duplicate),
            (">>", Write),
            (">|", Write),
            ("<", Read),
            (">", Write),
        ];
        let rest = &self.text[self.at..];
        let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let after = &rest[digits..];
        if after.starts_with("<(") || after.starts_with(">(") {
            return Ok(None);
        }
        let Some((operator, kind)) =
            OPERATORS.into_iter().find(|(operator, _)| after.starts_with(operator))
        else {
            return Ok(None);
        };
        if digits > 0 && operator.starts_with('&') {
            return Ok(None);
        }
        self.skip(digits + operator.len());
        self.blanks();
        let target = self.word()?;
        if matches!(operator, "<<" | "<<-") {
            let Some(end) = target.literal() else {
                return self.stop("a here-document with an uncertain end");
            };
            self.here_documents.push(HereDocument {
                end: end.to_owned(),
                indented: operator == "<<-",
                expands: target.raw() == end,
            });
        }
        Ok(Some(Redirection { kind, target }))
    }

    pub(super) fn here_document(&mut self, document: &HereDocument) -> Result<(), Stop> {
        let text = self.text;
        let from = self.at;
        for line in text[from..].split_inclusive('\n') {
            let plain = line.strip_suffix('\n').unwrap_or(line);
            let plain = if document.indented { plain.trim_start_matches('\t') } else { plain };
            let until = self.at;
            // Shells differ about where these end a here-document.
            let continued = document.expands && plain.ends_with('\\');
            let closed_early =
                plain.strip_prefix(document.end.as_str()).is_some_and(|it| it.starts_with(')'));
            if continued || closed_early {
                return self.stop("a here-document whose end is not certain");
            }
            self.at += line.len();
            if plain == document.end {
                if !document.expands {
                    return Ok(());
                }
                return self.nested_text(&text[from..until], |body| body.here_document_body());
            }
        }
        self.stop("a here-document has no end")
    }
}
