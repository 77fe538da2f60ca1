//! API keys, and their redaction from recorded text.

use std::fmt;

/// A key or a token. Its `Debug` output is `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key itself, for the one header it belongs in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Replaces secrets in text, because a command may print one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor(Vec<Secret>);

impl Redactor {
    /// Shorter values are placeholders, not real keys; replacing them would replace ordinary words.
    const MIN_LENGTH: usize = 8;

    /// A redactor of these secrets.
    pub(crate) fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self(secrets.into_iter().filter(|secret| secret.0.len() >= Self::MIN_LENGTH).collect())
    }

    /// Whether there are no secrets to replace.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the text ends with a prefix of a secret, whose rest may follow in the next chunk.
    pub(crate) fn ends_with_prefix(&self, text: &str) -> bool {
        self.0.iter().any(|Secret(secret)| {
            let mut prefixes = secret.char_indices().skip(1).map(|(end, _)| &secret[..end]);
            prefixes.any(|prefix| text.ends_with(prefix))
        })
    }

    /// The text with each secret replaced by `***`.
    pub(crate) fn redact(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| match text.contains(&secret.0) {
            true => text.replace(&secret.0, "***"),
            false => text,
        })
    }
}
