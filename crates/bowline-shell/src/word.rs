//! One word of a command: as written, and as the shell will read it where that is certain.

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    raw: String,
    literal: Option<String>,
    glob: bool,
    tilde: bool,
}

impl Word {
    /// A word without quotes, expansions or patterns.
    pub fn plain(text: impl Into<String>) -> Self {
        let raw = text.into();
        Self { literal: Some(raw.clone()), raw, glob: false, tilde: false }
    }

    /// The word as written, quotes and all.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The text that the command will see, if no expansion can change it. A leading tilde and
    /// patterns are still in it: ask [`is_tilde`](Self::is_tilde) and [`is_glob`](Self::is_glob).
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Whether it is exactly this text.
    pub fn is(&self, text: &str) -> bool {
        self.literal() == Some(text) && !self.glob
    }

    /// Whether the shell replaces it by the names of files that match it.
    pub fn is_glob(&self) -> bool {
        self.glob
    }

    /// Whether it begins with an unquoted tilde, so that a home directory takes its place.
    pub fn is_tilde(&self) -> bool {
        self.tilde
    }

    /// A part of the word, beginning at this byte of its literal text.
    pub(crate) fn tail(&self, from: usize) -> Option<Self> {
        let literal = self.literal()?.get(from..)?.to_owned();
        Some(Self {
            raw: literal.clone(),
            tilde: literal.starts_with('~'),
            literal: Some(literal),
            glob: self.glob,
        })
    }
}

/// Collects a word while it is read.
#[derive(Debug, Default)]
pub(crate) struct WordBuilder {
    literal: String,
    dynamic: bool,
    glob: bool,
    tilde: bool,
    quoted: bool,
    brace: bool,
    bracket: bool,
}

impl WordBuilder {
    /// A character that means itself.
    pub(crate) fn quoted(&mut self, letter: char) {
        self.quoted = true;
        self.literal.push(letter);
    }

    /// Quotes with nothing in them also make a word.
    pub(crate) fn quotes(&mut self) {
        self.quoted = true;
    }

    /// A character without quotes, which may be part of a pattern.
    pub(crate) fn bare(&mut self, letter: char) {
        match letter {
            '*' | '?' => self.glob = true,
            '[' => self.bracket = true,
            ']' if self.bracket => self.glob = true,
            '~' if self.literal.is_empty() && !self.quoted => self.tilde = true,
            '{' => self.brace = true,
            // `{a,b}` and `{1..3}` become several words.
            ',' if self.brace => self.dynamic = true,
            '.' if self.brace && self.literal.ends_with('.') => self.dynamic = true,
            _ => {}
        }
        self.literal.push(letter);
    }

    /// Something only the running shell can tell.
    pub(crate) fn dynamic(&mut self) {
        self.dynamic = true;
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
            literal: (!self.dynamic).then_some(self.literal),
            glob: self.glob,
            tilde: self.tilde,
        }
    }
}
