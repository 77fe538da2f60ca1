//! Takes a command line apart, one character after the other.
//!
//! A recursive descent that keeps no tree: commands are collected in a list as they
//! are met. At the first thing it does not know it stops, and the script is opaque.

use crate::{
    script::{Assignment, Command, Opaque, Redirection, RedirectionKind, Script},
    word::{Word, WordBuilder},
};

/// The longest command line that is read. Nobody who is asked reads a longer one either.
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
    Script { commands: parser.commands, opaque: parser.opaque }
}

fn is_unprintable(letter: char) -> bool {
    letter.is_control() && letter != '\n' && letter != '\t'
}

/// Reading cannot go on; [`Parser::opaque`] says why.
#[derive(Debug)]
pub(crate) struct Stop;

pub(crate) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    commands: Vec<Command>,
    here_documents: Vec<HereDocument>,
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
        let (commands, here_documents) = (Vec::new(), Vec::new());
        Self { text, at: 0, depth, commands, here_documents, opaque: None }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    pub(crate) fn looking_at(&self, text: &str) -> bool {
        self.text[self.at..].starts_with(text)
    }

    /// Goes over this many bytes, which the caller has looked at.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(crate) fn stop<T>(&mut self, reason: &'static str) -> Result<T, Stop> {
        self.opaque.get_or_insert(Opaque { reason, at: self.at });
        Err(Stop)
    }

    pub(crate) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        if self.depth == MAX_DEPTH {
            return self.stop("nested too deep");
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Reads a text that stands for itself inside this one: backticks, a here-document.
    pub(crate) fn nested_text(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Parser<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.deeper(|outer| {
            let mut inner = Parser::new(text, outer.depth);
            let found = read(&mut inner);
            let Parser { commands, opaque, .. } = inner;
            outer.commands.extend(commands);
            match (found, opaque) {
                (Ok(()), None) if outer.commands.len() <= MAX_COMMANDS => Ok(()),
                (_, opaque) => outer.stop(opaque.map_or("too many commands", |it| it.reason)),
            }
        })
    }

    /// `$(…)`, `<(…)` and `(…)`, the parenthesis already read.
    pub(crate) fn nested_until_parenthesis(&mut self) -> Result<(), Stop> {
        self.deeper(|parser| parser.list(Closer::Parenthesis).map(drop))
    }

    pub(crate) fn whole_script(&mut self) -> Result<(), Stop> {
        self.list(Closer::End).map(drop)
    }

    /// Commands up to what closes them, which is read as well. Returns the closing word.
    fn list(&mut self, closer: Closer) -> Result<&'static str, Stop> {
        let mut expects_command = false;
        loop {
            self.blanks_and_newlines()?;
            match self.peek() {
                None if closer == Closer::End && !expects_command => {
                    return if self.here_documents.is_empty() {
                        Ok("")
                    } else {
                        self.stop("a here-document has no end")
                    };
                }
                None => return self.stop("something is not closed"),
                Some(')') if closer == Closer::Parenthesis && !expects_command => {
                    self.next();
                    return Ok(")");
                }
                Some(_) => {}
            }
            if let Closer::Words(words) = closer
                && !expects_command
                && let Some(word) = words.iter().find(|word| self.looking_at_word(word))
            {
                self.skip(word.len());
                return Ok(word);
            }
            self.command()?;
            self.blanks();
            expects_command = self.operator()?;
        }
    }

    /// What stands between two commands. Says whether another one has to follow.
    fn operator(&mut self) -> Result<bool, Stop> {
        for operator in ["&&", "||", "|&", "|"] {
            if self.looking_at(operator) {
                self.skip(operator.len());
                return Ok(true);
            }
        }
        match self.peek() {
            Some(';') if self.looking_at(";;") || self.looking_at(";&") => {
                self.stop("`;;` outside `case`")
            }
            Some(';' | '&') => {
                self.next();
                Ok(false)
            }
            Some('\n' | ')') | None => Ok(false),
            _ => self.stop("something unexpected after a command"),
        }
    }

    fn command(&mut self) -> Result<(), Stop> {
        const BODY: Closer = Closer::Words(&["do"]);
        const LOOP: Closer = Closer::Words(&["done"]);
        while self.looking_at_word("!") {
            self.skip(1);
            self.blanks();
        }
        let Some(word) = self.reserved_word() else { return self.simple_or_function() };
        self.skip(word.len());
        match word {
            "(" => self.nested_until_parenthesis()?,
            "{" => self.deeper(|parser| parser.list(Closer::Words(&["}"])).map(drop))?,
            "if" => self.deeper(Self::conditional)?,
            "while" | "until" => self.deeper(|parser| {
                parser.list(BODY)?;
                parser.list(LOOP).map(drop)
            })?,
            "for" => self.deeper(|parser| {
                parser.for_head()?;
                parser.list(BODY)?;
                parser.list(LOOP).map(drop)
            })?,
            "[[" => return self.double_bracket(),
            _ => return self.stop("a kind of command that is not understood"),
        }
        self.trailing_redirections()
    }

    /// The reserved word here, if there is one.
    fn reserved_word(&self) -> Option<&'static str> {
        // `time` is left to the wrappers, which know its options.
        const WORDS: [&str; 20] = [
            "{", "if", "while", "until", "for", "[[", "case", "select", "coproc", "function",
            "then", "elif", "else", "fi", "do", "done", "esac", "in", "}", "]]",
        ];
        let parentheses = ["((", "("].into_iter().find(|opening| self.looking_at(opening));
        parentheses.or_else(|| WORDS.into_iter().find(|word| self.looking_at_word(word)))
    }

    /// Whether this word is here and ends here.
    fn looking_at_word(&self, word: &str) -> bool {
        self.looking_at(word)
            && self.text[self.at + word.len()..].chars().next().is_none_or(ends_word)
    }

    /// `if`, already read.
    fn conditional(&mut self) -> Result<(), Stop> {
        self.list(Closer::Words(&["then"]))?;
        loop {
            match self.list(Closer::Words(&["elif", "else", "fi"]))? {
                "elif" => self.list(Closer::Words(&["then"])).map(drop)?,
                "else" => return self.list(Closer::Words(&["fi"])).map(drop),
                _ => return Ok(()),
            }
        }
    }

    /// `for NAME in WORDS;`, the `for` already read. Stops before `do`.
    fn for_head(&mut self) -> Result<(), Stop> {
        self.blanks();
        let name = self.word()?;
        if !name.literal().is_some_and(is_name) {
            return self.stop("a loop without a variable");
        }
        self.blanks_and_newlines()?;
        if self.looking_at_word("in") {
            self.skip(2);
            self.blanks();
            while self.peek().is_some_and(|letter| !ends_word(letter)) {
                self.word()?;
                self.blanks();
            }
        }
        match self.peek() {
            Some(';' | '\n') => {
                self.next();
                self.blanks_and_newlines()
            }
            _ if self.looking_at_word("do") => Ok(()),
            _ => self.stop("a loop that is not understood"),
        }?;
        if self.looking_at_word("do") { Ok(()) } else { self.stop("a loop without `do`") }
    }

    /// `[[ … ]]`, the opening already read.
    fn double_bracket(&mut self) -> Result<(), Stop> {
        let mut words = vec![Word::plain("[[")];
        let place = self.commands.len();
        loop {
            self.blanks();
            if self.looking_at_word("]]") {
                self.skip(2);
                break;
            }
            match self.peek() {
                Some('&' | '|') if self.looking_at("&&") || self.looking_at("||") => {
                    self.skip(2);
                    words.push(Word::plain("&&"));
                }
                Some(letter) if !ends_word(letter) => words.push(self.word()?),
                _ => return self.stop("a condition that is not understood"),
            }
        }
        words.push(Word::plain("]]"));
        self.keep(place, Command::of(words))?;
        self.trailing_redirections()
    }

    /// Redirections after a compound command belong to a command without words.
    fn trailing_redirections(&mut self) -> Result<(), Stop> {
        let place = self.commands.len();
        let mut command = Command::default();
        self.blanks();
        while let Some(redirection) = self.redirection()? {
            command.redirections.push(redirection);
            self.blanks();
        }
        if command.redirections.is_empty() { Ok(()) } else { self.keep(place, command) }
    }

    fn keep(&mut self, place: usize, command: Command) -> Result<(), Stop> {
        if self.commands.len() >= MAX_COMMANDS {
            return self.stop("too many commands");
        }
        // Before the commands of its own substitutions, so that the list reads like the text.
        self.commands.insert(place, command);
        Ok(())
    }

    fn simple_or_function(&mut self) -> Result<(), Stop> {
        let place = self.commands.len();
        let mut command = Command::default();
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                command.redirections.push(redirection);
                continue;
            }
            match self.peek() {
                Some('(') if command.words.len() == 1 && command.assignments.is_empty() => {
                    return self.function(&command);
                }
                Some('(') => return self.stop("an unexpected parenthesis"),
                Some(letter) if !ends_word(letter) || self.at_process_substitution() => {}
                _ => break,
            }
            let from = self.at;
            let (word, assigned) = self.word_or_assignment(command.words.is_empty())?;
            match assigned {
                Some(name) => {
                    let raw = self.text[from..self.at].to_owned();
                    command.assignments.push(Assignment { name, raw });
                }
                None => command.words.push(word),
            }
        }
        if command == Command::default() {
            return self.stop("a command is missing");
        }
        self.keep(place, command)
    }

    /// `name() { … }`: its commands count as commands of the script.
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
        self.command()
    }

    fn word(&mut self) -> Result<Word, Stop> {
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
                self.nested_until_parenthesis()?;
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
                '`' => self.backticks(&mut word)?,
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
    fn redirection(&mut self) -> Result<Option<Redirection>, Stop> {
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

    fn here_document(&mut self, document: &HereDocument) -> Result<(), Stop> {
        let text = self.text;
        let from = self.at;
        for line in text[from..].split_inclusive('\n') {
            let plain = line.strip_suffix('\n').unwrap_or(line);
            let plain = if document.indented { plain.trim_start_matches('\t') } else { plain };
            let until = self.at;
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

/// Whether a word ends before this character.
fn ends_word(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
