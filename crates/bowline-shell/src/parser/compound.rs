//! Lists of commands, and the commands made of lists: groups, conditions, loops.

use super::{Closer, Parser, Stop, ends_word, is_name};
use crate::{script::Command, word::Word};

impl Parser<'_> {
    /// Commands up to what closes them, which is read as well. Returns the closing word.
    pub(super) fn list(&mut self, closer: Closer) -> Result<&'static str, Stop> {
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
            let is_first =
                self.depth == 0 && self.commands.is_empty() && self.reserved_word().is_none();
            self.command()?;
            self.blanks();
            // What follows runs in the same shell, and only if the command succeeds.
            self.begins_alone |= is_first && self.looking_at("&&") && self.commands.len() == 1;
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

    pub(super) fn command(&mut self) -> Result<(), Stop> {
        const BODY: Closer = Closer::Words(&["do"]);
        const LOOP: Closer = Closer::Words(&["done"]);
        while self.looking_at_word("!") {
            self.skip(1);
            self.blanks();
        }
        let Some(word) = self.reserved_word() else { return self.simple_or_function() };
        self.skip(word.len());
        match word {
            "(" => self.subshell()?,
            "{" => self.deeper(|parser| parser.list(Closer::Words(&["}"])).map(drop))?,
            "if" => self.deeper(Self::conditional)?,
            "while" | "until" | "for" => self.deeper(|parser| {
                parser.repeats = true;
                if word == "for" {
                    parser.for_head()?;
                }
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
    pub(super) fn looking_at_word(&self, word: &str) -> bool {
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
    ///
    /// The head is a command as well: it sets a variable, and what it iterates over may be
    /// patterns, expansions and substitutions.
    fn for_head(&mut self) -> Result<(), Stop> {
        let index = self.commands.len();
        let head = self.attributed(|parser| {
            parser.blanks();
            let name = parser.word()?;
            if !name.literal().is_some_and(is_name) {
                return parser.stop("a loop without a variable");
            }
            let mut words = vec![Word::plain("for"), name];
            parser.blanks_and_newlines()?;
            if parser.looking_at_word("in") {
                parser.skip(2);
                parser.blanks();
                while parser.peek().is_some_and(|letter| !ends_word(letter)) {
                    words.push(parser.word()?);
                    parser.blanks();
                }
            }
            Ok(Command::of(words))
        })?;
        self.keep(index, head)?;
        match self.peek() {
            Some(';') => {
                self.next();
                self.blanks_and_newlines()
            }
            // Not skipped by itself: here-documents begin after it.
            Some('\n') => self.blanks_and_newlines(),
            _ if self.looking_at_word("do") => Ok(()),
            _ => self.stop("a loop that is not understood"),
        }?;
        if self.looking_at_word("do") { Ok(()) } else { self.stop("a loop without `do`") }
    }

    /// `[[ … ]]`, the opening already read.
    fn double_bracket(&mut self) -> Result<(), Stop> {
        let index = self.commands.len();
        let condition = self.attributed(|parser| {
            let mut words = vec![Word::plain("[[")];
            loop {
                parser.blanks();
                if parser.looking_at_word("]]") {
                    parser.skip(2);
                    words.push(Word::plain("]]"));
                    return Ok(Command::of(words));
                }
                match parser.peek() {
                    Some('&' | '|') if parser.looking_at("&&") || parser.looking_at("||") => {
                        parser.skip(2);
                        words.push(Word::plain("&&"));
                    }
                    Some(letter) if !ends_word(letter) => words.push(parser.word()?),
                    _ => return parser.stop("a condition that is not understood"),
                }
            }
        })?;
        self.keep(index, condition)?;
        self.trailing_redirections()
    }

    /// Redirections after a compound command belong to a command without words.
    fn trailing_redirections(&mut self) -> Result<(), Stop> {
        let index = self.commands.len();
        let command = self.attributed(|parser| {
            let mut command = Command::default();
            parser.blanks();
            while let Some(redirection) = parser.redirection()? {
                command.redirections.push(redirection);
                parser.blanks();
            }
            Ok(command)
        })?;
        if command.redirections.is_empty() { Ok(()) } else { self.keep(index, command) }
    }
}
