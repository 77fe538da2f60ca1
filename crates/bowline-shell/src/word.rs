//! One word of a command: as written, and as the shell will read it where that is certain.

use crate::pattern::Pattern;

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    raw: String,
    literal: Option<String>,
    /// Which bytes of the literal text were quoted. Only patterns need to know.
    quoted: Vec<bool>,
    glob: bool,
    tilde: bool,
    splits: bool,
}

impl Word {
    /// A word without quotes, expansions or patterns.
    pub fn plain(text: impl Into<String>) -> Self {
        let raw = text.into();
        Self { literal: Some(raw.clone()), raw, ..Self::default() }
    }

    /// A word whose text and splitting only the running shell knows.
    pub(crate) fn unknown(raw: impl Into<String>) -> Self {
        Self { raw: raw.into(), splits: true, ..Self::default() }
    }

    /// The word as written, quotes and all.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The text that the command will see, if no expansion can change it. A leading tilde and
    /// patterns are still in it: see [`is_tilde`](Self::is_tilde) and [`is_glob`](Self::is_glob).
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// The text that the command will see, if neither an expansion nor a pattern can change it.
    pub(crate) fn fixed(&self) -> Option<&str> {
        self.literal().filter(|_| !self.glob && !self.tilde)
    }

    /// Whether it is exactly this text.
    pub fn is(&self, text: &str) -> bool {
        self.literal() == Some(text) && !self.glob
    }

    /// Whether the shell replaces it by the names of files that match it.
    pub fn is_glob(&self) -> bool {
        self.glob
    }

    /// Whether it begins with an unquoted tilde, which expands to a home directory.
    pub fn is_tilde(&self) -> bool {
        self.tilde
    }

    /// Whether it may become no word at all, or several: an expansion without quotes, a pattern.
    pub fn may_split(&self) -> bool {
        self.splits || self.glob
    }

    /// Its pattern. `None` if it has none, or one that shells may read differently: see
    /// [`is_glob`](Self::is_glob).
    pub fn pattern(&self) -> Option<Pattern> {
        let text = self.literal().filter(|_| self.glob)?;
        Pattern::read(text, &self.quoted)
    }

    /// A part of the word, beginning at this byte of its literal text.
    pub(crate) fn tail(&self, from: usize) -> Option<Self> {
        let literal = self.literal()?.get(from..)?.to_owned();
        Some(Self {
            raw: literal.clone(),
            // The shell expands a tilde at the beginning of a word only.
            tilde: from == 0 && self.tilde,
            quoted: self.quoted.get(from..).unwrap_or_default().to_vec(),
            literal: Some(literal),
            glob: self.glob,
            splits: self.splits,
        })
    }

    /// The word with another one or a text appended to what the command sees.
    pub(crate) fn joined(&self, suffix: &str) -> Self {
        match self.literal() {
            Some(text) if !self.glob => {
                let text = format!("{text}{suffix}");
                Self { raw: text.clone(), tilde: self.tilde, ..Self::plain(text) }
            }
            _ => Self::unknown(format!("{}{suffix}", self.raw)),
        }
    }
}

/// Collects a word while it is read.
#[derive(Debug, Default)]
pub(crate) struct WordBuilder {
    literal: String,
    quoted_bytes: Vec<bool>,
    dynamic: bool,
    splits: bool,
    glob: bool,
    tilde: bool,
    quoted: bool,
    brace: bool,
    bracket: bool,
}

impl WordBuilder {
    fn push(&mut self, letter: char, quoted: bool) {
        self.literal.push(letter);
        self.quoted_bytes.resize(self.literal.len(), quoted);
    }

    /// A character that means itself.
    pub(crate) fn quoted(&mut self, letter: char) {
        self.quotes();
        self.push(letter, true);
    }

    /// Quotes with nothing in them also make a word.
    pub(crate) fn quotes(&mut self) {
        self.quoted = true;
        // A tilde is expanded only if nothing up to the first slash is quoted.
        self.dynamic |= self.tilde && !self.literal.contains('/');
    }

    /// A character without quotes, which may be part of a pattern.
    pub(crate) fn bare(&mut self, letter: char) {
        match letter {
            '*' | '?' => self.glob = true,
            '[' => self.bracket = true,
            ']' if self.bracket => self.glob = true,
            '~' if self.literal.is_empty() && !self.quoted => self.tilde = true,
            // `name=~/x` is expanded as well, in some words and some modes.
            '~' if self.literal.ends_with(['=', ':']) && self.literal.find('=') > Some(0) => {
                self.dynamic = true;
            }
            '{' => self.brace = true,
            // `{a,b}` and `{1..3}` become several words.
            ',' if self.brace => self.dynamic_words(),
            '.' if self.brace && self.literal.ends_with('.') => self.dynamic_words(),
            _ => {}
        }
        self.push(letter, false);
    }

    /// An expansion that only the running shell knows, which stays part of this word.
    pub(crate) fn dynamic(&mut self) {
        self.dynamic = true;
    }

    /// An expansion that only the running shell knows, which may become several words.
    pub(crate) fn dynamic_words(&mut self) {
        self.dynamic = true;
        self.splits = true;
    }

    /// Whether a quote was seen: reserved words and assignments must not have any.
    pub(crate) fn has_quotes(&self) -> bool {
        self.quoted
    }

    /// What has been read so far.
    pub(crate) fn so_far(&self) -> &str {
        &self.literal
    }

    /// Whether something dynamic has been read so far.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    pub(crate) fn finish(self, raw: &str) -> Word {
        Word {
            raw: raw.to_owned(),
            quoted: if self.glob && !self.dynamic { self.quoted_bytes } else { Vec::new() },
            literal: (!self.dynamic).then_some(self.literal),
            glob: self.glob,
            tilde: self.tilde,
            splits: self.splits,
        }
    }
}
