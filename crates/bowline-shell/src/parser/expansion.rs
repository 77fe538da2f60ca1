//! Expansions inside a word: quotes, variables, substitutions.
//!
//! Commands inside substitutions are handed to the parser; everything else only has
//! to be skipped exactly, and to mark the word as uncertain.

use super::{Parser, Stop};
use crate::word::WordBuilder;

impl Parser<'_> {
    /// `'…'`, the quote already read.
    pub(super) fn single_quotes(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        word.quotes();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(letter) => word.quoted(letter),
                None => return self.stop("a quote is not closed"),
            }
        }
    }

    /// `"…"`, the quote already read.
    pub(super) fn double_quotes(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        word.quotes();
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(letter @ ('$' | '`' | '"' | '\\')) => word.quoted(letter),
                    Some(letter) => {
                        word.quoted('\\');
                        word.quoted(letter);
                    }
                    None => return self.stop("a quote is not closed"),
                },
                Some('$') => self.dollar_in_quotes(word)?,
                Some('`') => self.backticks(word)?,
                Some(letter) => word.quoted(letter),
                None => return self.stop("a quote is not closed"),
            }
        }
    }

    /// `$…` outside quotes, the dollar already read.
    pub(super) fn dollar(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        match self.peek() {
            Some('\'') => {
                self.next();
                word.dynamic();
                loop {
                    match self.next() {
                        Some('\'') => return Ok(()),
                        Some('\\') => {
                            self.next();
                        }
                        Some(_) => {}
                        None => return self.stop("a quote is not closed"),
                    }
                }
            }
            Some('"') => {
                self.next();
                word.dynamic();
                self.double_quotes(word)
            }
            _ => {
                let before = word.so_far().len();
                self.dollar_in_quotes(word)?;
                // Without quotes a value is split at blanks, and patterns in it are applied. A
                // dollar that means itself has become part of the text.
                if word.so_far().len() == before {
                    word.dynamic_words();
                }
                Ok(())
            }
        }
    }

    /// `` `…` ``, the first backtick already read.
    pub(super) fn backticks(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        word.dynamic();
        self.substitutes = true;
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(letter @ ('`' | '\\' | '$')) => inner.push(letter),
                    // Whether it stays a quote depends on the quotes around the backticks.
                    Some('"') => return self.stop("an escaped quote inside backticks"),
                    Some(letter) => {
                        inner.push('\\');
                        inner.push(letter);
                    }
                    None => return self.stop("a backtick is not closed"),
                },
                Some(letter) => inner.push(letter),
                None => return self.stop("a backtick is not closed"),
            }
        }
        self.nested_text(&inner, |parser| parser.whole_script())
    }

    /// The body of a here-document whose end mark is not quoted.
    pub(super) fn here_document_body(&mut self) -> Result<(), Stop> {
        let mut body = WordBuilder::default();
        while let Some(letter) = self.next() {
            match letter {
                '\\' => {
                    self.next();
                }
                '$' => self.dollar_in_quotes(&mut body)?,
                '`' => self.backticks(&mut body)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn dollar_in_quotes(&mut self, word: &mut WordBuilder) -> Result<(), Stop> {
        match self.peek() {
            Some('(') if self.looking_at("((") => {
                word.dynamic();
                self.skip(2);
                self.arithmetic()
            }
            Some('(') => {
                word.dynamic();
                self.next();
                self.substitution()
            }
            Some('{') => {
                let from = self.at;
                self.next();
                self.braced_parameter()?;
                // `"${@}"` becomes several words even inside quotes.
                match self.text[from..self.at].contains('@') {
                    true => word.dynamic_words(),
                    false => word.dynamic(),
                }
                Ok(())
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                word.dynamic();
                self.variable();
                Ok(())
            }
            Some('@') => {
                word.dynamic_words();
                self.next();
                Ok(())
            }
            Some('0'..='9' | '*' | '#' | '?' | '-' | '$' | '!') => {
                word.dynamic();
                self.next();
                Ok(())
            }
            Some('[') => self.stop("old arithmetic `$[…]`"),
            Some('\\') if self.looking_at("\\\n") => self.stop("a dollar at the end of a line"),
            _ => {
                word.quoted('$');
                Ok(())
            }
        }
    }

    /// The name of a variable whose value is taken; whether there is one.
    fn variable(&mut self) -> bool {
        let from = self.at;
        while self.peek().is_some_and(|next| next.is_ascii_alphanumeric() || next == '_') {
            self.next();
        }
        let name = &self.text[from..self.at];
        if !name.is_empty() {
            self.variables.push(name.to_owned());
        }
        !name.is_empty()
    }

    /// `${…}`, the brace already read.
    ///
    /// Subscripts, offsets, indirection and transformations evaluate what is *in* a variable,
    /// which may hold a command, so only the forms without them are understood.
    fn braced_parameter(&mut self) -> Result<(), Stop> {
        const BEYOND: &str = "an expansion that evaluates more than a variable";
        if self.peek() == Some('#') {
            self.next();
        }
        let named = self.variable();
        if !named && !self.peek().is_some_and(|next| "@*?$-".contains(next)) {
            return self.stop(BEYOND);
        } else if !named {
            self.next();
        }
        match self.next() {
            Some('}') => Ok(()),
            Some(':') if self.peek().is_some_and(|next| "-+?".contains(next)) => self.until_brace(),
            Some('-' | '+' | '?' | '#' | '%' | '/' | '^' | ',') => self.until_brace(),
            _ => self.stop(BEYOND),
        }
    }

    /// The rest of `${name-word}` up to its brace.
    fn until_brace(&mut self) -> Result<(), Stop> {
        let mut inside = WordBuilder::default();
        self.deeper(|parser| {
            loop {
                match parser.next() {
                    Some('}') => return Ok(()),
                    Some('\\') => {
                        parser.next();
                    }
                    Some('\'') => return parser.stop("quotes inside `${…}`"),
                    Some('<' | '>') if parser.peek() == Some('(') => {
                        return parser.stop("a substitution inside `${…}`");
                    }
                    Some('"') => parser.double_quotes(&mut inside)?,
                    Some('$') => parser.dollar_in_quotes(&mut inside)?,
                    Some('`') => parser.backticks(&mut inside)?,
                    Some(_) => {}
                    None => return parser.stop("`${` is not closed"),
                }
            }
        })
    }

    /// `((…))`, both parentheses already read.
    ///
    /// Arithmetic evaluates what is in its variables, subscripts and commands included, so only
    /// numbers are understood.
    fn arithmetic(&mut self) -> Result<(), Stop> {
        let mut open = 0_usize;
        loop {
            match self.next() {
                Some(')') if open > 0 => open -= 1,
                Some(')') if self.peek() == Some(')') => {
                    self.next();
                    return Ok(());
                }
                Some('(') => open += 1,
                Some(letter)
                    if letter.is_ascii_digit()
                        || matches!(letter, ' ' | '\t')
                        || "+-*/%<>=!&|^~?:,".contains(letter) => {}
                _ => return self.stop("arithmetic with more than numbers"),
            }
        }
    }
}
