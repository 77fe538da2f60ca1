//! Pathname patterns of the shell (`src/*.rs`), matched so that nothing the shell would find is missed.
//!
//! Shells, their versions and locales disagree about details: whether `?` is a byte or a character,
//! whether `[a-c]` contains `B`, whether `.*` matches `..`. A judge needs a superset of what any of them
//! finds, so a set in brackets matches every character, and a bracket that is not a plain set makes
//! the pattern unreadable.

/// A pattern, component by component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// Its components, from left to right; the first is empty if the pattern is absolute.
    pub components: Vec<Component>,
}

/// One component of a path with patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Component {
    /// A name.
    Plain(String),
    /// A pattern over names.
    Wild(Wildcard),
}

/// A pattern over the names in one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?` or a set: one character, which in some locales is one byte.
    One,
    Many,
}

impl Pattern {
    /// Parses a pattern. `quoted` marks the bytes of the text that are literal.
    pub(crate) fn read(text: &str, quoted: &[bool]) -> Option<Self> {
        let is_quoted = |at: usize| quoted.get(at).copied().unwrap_or(false);
        let mut components = Vec::new();
        let mut from = 0;
        for part in text.split('/') {
            components.push(Component::read(part, |at| is_quoted(from + at))?);
            from += part.len() + 1;
        }
        Some(Self { components })
    }

    /// Whether the word it matches may begin with a dash although the pattern does not.
    pub fn may_match_option(&self) -> bool {
        match self.components.first() {
            Some(Component::Wild(first)) => !matches!(first.tokens.first(), Some(Token::Byte(_))),
            _ => false,
        }
    }
}

impl Component {
    fn read(text: &str, is_quoted: impl Fn(usize) -> bool) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut tokens = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let token = match byte {
                b'*' if !is_quoted(at) => Token::Many,
                b'?' if !is_quoted(at) => Token::One,
                b'[' if !is_quoted(at) => {
                    at = end_of_set(bytes, at, &is_quoted)?;
                    Token::One
                }
                // Whether it still escapes something is another thing shells disagree about.
                b'\\' => return None,
                byte => Token::Byte(byte),
            };
            tokens.push(token);
            at += 1;
        }
        let is_plain = tokens.iter().all(|token| matches!(token, Token::Byte(_)));
        Some(if is_plain { Self::Plain(text.to_owned()) } else { Self::Wild(Wildcard { tokens }) })
    }
}

/// The position of the bracket that closes a plain set: letters, digits and a few marks, without
/// classes, quotes or further brackets.
fn end_of_set(bytes: &[u8], from: usize, is_quoted: &impl Fn(usize) -> bool) -> Option<usize> {
    let mut at = from + 1;
    if matches!(bytes.get(at), Some(b'!' | b'^')) && !is_quoted(at) {
        at += 1;
    }
    let first = at;
    loop {
        match bytes.get(at)? {
            _ if is_quoted(at) => return None,
            b']' => return (at > first).then_some(at),
            byte if byte.is_ascii_alphanumeric() || b"-_.,+=@%".contains(byte) => at += 1,
            _ => return None,
        }
    }
}

impl Wildcard {
    /// Whether any shell might find a file of this name by the pattern. A leading dot is only ever
    /// found by a dot, unless an option of the shell changes that.
    pub fn may_match(&self, name: &[u8]) -> bool {
        if name.first() == Some(&b'.') && self.tokens.first() != Some(&Token::Byte(b'.')) {
            return false;
        }
        // The positions that the tokens so far may have reached. No backtracking: a hostile pattern
        // and a hostile name must not take longer than their product.
        let mut reached = vec![false; name.len() + 1];
        reached[0] = true;
        for token in &self.tokens {
            let mut next = vec![false; name.len() + 1];
            for at in (0..=name.len()).filter(|at| reached[*at]) {
                match token {
                    Token::Many => next[at..].fill(true),
                    Token::Byte(byte) if name.get(at) == Some(byte) => next[at + 1] = true,
                    Token::One if at < name.len() => {
                        next[at + 1] = true;
                        let rest = &name[at + 1..];
                        let wide = rest.iter().take(3).take_while(|it| **it & 0xC0 == 0x80).count();
                        next[at + 1 + wide] = true;
                    }
                    _ => {}
                }
            }
            reached = next;
        }
        reached[name.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wildcard(text: &str) -> Option<Wildcard> {
        match Pattern::read(text, &[])?.components.pop()? {
            Component::Wild(wildcard) => Some(wildcard),
            Component::Plain(_) => None,
        }
    }

    #[test]
    fn pattern_matches_names_that_any_shell_would_match() {
        for (pattern, name, expected) in [
            ("*.rs", "a.rs", true),
            ("*.rs", ".rs", false),
            ("*", "..", false),
            ("[.]x", ".x", false),
            (".[a-z]*", ".env", true),
            ("*.rs", "a.rc", false),
            ("?ink", "link", true),
            ("?ink", "éink", true),
            ("??ink", "éink", true),
            ("?ink", "ink", false),
            ("[a-c]x", "Bx", true),
            ("[!a]x", "ax", true),
            ("l*k", "lk", true),
            ("l*n*k", "link", true),
            ("l*n*k", "lik", false),
            (".*", "..", true),
            (".?", "..", true),
            ("a*b*c*d", "abcabcabcd", true),
        ] {
            let matched = wildcard(pattern).is_some_and(|it| it.may_match(name.as_bytes()));
            assert_eq!(matched, expected, "{pattern} {name}");
        }
    }

    #[test]
    fn complex_bracket_sets_are_opaque() {
        for pattern in
            ["lin[[:lower:]]", "[]a]", "[!]a]", "a[b", "[a\\]b]", "x\\*", "[[.k.]]", "[é]"]
        {
            assert_eq!(Pattern::read(pattern, &[]), None, "{pattern}");
        }
        // A quoted bracket means itself: `'[x]'*`.
        let quoted = [true, true, true, false];
        let pattern = Pattern::read("[x]*", &quoted).expect("readable");
        let Some(Component::Wild(wildcard)) = pattern.components.first() else { panic!("wild") };
        assert!(wildcard.may_match(b"[x]y"));
        assert!(!wildcard.may_match(b"xy"));
    }
}
