//! Keys, which must never be shown.

use std::fmt;

/// A key or a token. Printing it shows that it is there, never what it is.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key itself, for the one header it belongs in.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Secrets that must not show, wherever they turn up: a command may print one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Veil(Vec<Secret>);

impl Veil {
    /// Shorter keys are made up, and hiding them would hide ordinary words.
    const SHORTEST: usize = 8;

    /// A veil over these.
    pub(crate) fn over(secrets: impl IntoIterator<Item = Secret>) -> Self {
        Self(secrets.into_iter().filter(|secret| secret.0.len() >= Self::SHORTEST).collect())
    }

    /// Whether there is nothing to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text ends in the beginning of one.
    pub(crate) fn may_begin_at_end(&self, text: &str) -> bool {
        self.0.iter().any(|Secret(secret)| {
            let mut beginnings = secret.char_indices().skip(1).map(|(end, _)| &secret[..end]);
            beginnings.any(|beginning| text.ends_with(beginning))
        })
    }

    /// The text without them.
    pub(crate) fn hide(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| match text.contains(&secret.0) {
            true => text.replace(&secret.0, "***"),
            false => text,
        })
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
