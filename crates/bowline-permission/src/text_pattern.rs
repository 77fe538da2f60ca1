//! Patterns over a line of text: commands in `Bash(…)`, values in `Tool(param:value)`.

/// A pattern over a line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextPattern {
    /// Exactly this text.
    Exact(String),
    /// This text, alone or followed by a space and more.
    Prefix(String),
    /// These pieces in this order, with anything between them.
    Pieces(Vec<String>),
}

impl TextPattern {
    /// Reads a pattern: `*` stands for anything, `\*` for a star. A space and a star at the end
    /// also match nothing, and so does the old spelling `:*`.
    pub(super) fn new(text: &str) -> Self {
        if let Some(prefix) = text.strip_suffix(":*") {
            return Self::Prefix(prefix.trim_end().to_owned());
        }
        let mut pieces = vec![String::new()];
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let last = pieces.len() - 1;
            match letter {
                '*' => pieces.push(String::new()),
                '\\' if letters.next_if_eq(&'*').is_some() => pieces[last].push('*'),
                _ => pieces[last].push(letter),
            }
        }
        match pieces.as_mut_slice() {
            [exact] => Self::Exact(std::mem::take(exact)),
            [prefix, rest] if rest.is_empty() && prefix.ends_with(' ') => {
                Self::Prefix(prefix.trim_end().to_owned())
            }
            _ => Self::Pieces(pieces),
        }
    }

    /// A text in which every star is taken literally.
    pub(super) fn escape(text: &str) -> String {
        text.replace('*', "\\*")
    }

    pub(super) fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(_))
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => text == exact,
            Self::Prefix(prefix) => text
                .strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            Self::Pieces(pieces) => {
                let [first, between @ .., last] = pieces.as_slice() else { return false };
                let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
                for piece in between {
                    let Some(at) = rest.find(piece.as_str()) else { return false };
                    rest = &rest[at + piece.len()..];
                }
                rest.ends_with(last.as_str())
            }
        }
    }
}
