//! Lone UTF-16 surrogates in JSON escapes.
//!
//! JavaScript and Python programs may cut a text in the middle of an emoji. The rest is written as an
//! escape of a surrogate without its pair (`"\ud83d"`): JSON allows it, Rust's strings do not.

use std::{borrow::Cow, sync::LazyLock};

use memchr::memmem::Finder;

/// Finds numeric escapes.
static ESCAPES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br"\u"));

/// The escape of the replacement character.
const REPLACEMENT: &str = r"\ufffd";

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// The text with a replacement character for each lone surrogate.
///
/// A line of a [`LineDecoder`](crate::LineDecoder) contains none. This is for JSON from elsewhere.
///
/// ```
/// use bowline_protocol::replace_lone_surrogates;
///
/// let cut = r#"{"text":"so far \ud83d"}"#;
/// assert!(serde_json::from_str::<serde_json::Value>(cut).is_err());
/// assert_eq!(replace_lone_surrogates(cut.into()), r#"{"text":"so far \ufffd"}"#);
/// ```
pub fn replace_lone_surrogates(json: Cow<'_, str>) -> Cow<'_, str> {
    match next_lone(&json, 0) {
        None => json,
        Some(first) => Cow::Owned(replace_from(&json, first)),
    }
}

fn replace_from(json: &str, first: usize) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut from, mut next) = (0, Some(first));
    while let Some(at) = next {
        text.push_str(&json[from..at]);
        text.push_str(REPLACEMENT);
        from = at + ESCAPE;
        next = next_lone(json, from);
    }
    text.push_str(&json[from..]);
    text
}

/// The index of the next escape of a lone surrogate.
fn next_lone(json: &str, mut from: usize) -> Option<usize> {
    let bytes = json.as_bytes();
    loop {
        let found = from + ESCAPES.find(&bytes[from..])?;
        // An even number of backslashes before it: this one is not itself escaped.
        let before = bytes[..found].iter().rev().take_while(|byte| **byte == b'\\').count();
        from = match (before % 2, unit(bytes, found)) {
            (0, Some(0xd800..=0xdbff)) => match unit(bytes, found + ESCAPE) {
                Some(0xdc00..=0xdfff) => found + 2 * ESCAPE,
                _ => return Some(found),
            },
            (0, Some(0xdc00..=0xdfff)) => return Some(found),
            _ => found + 2,
        };
    }
}

/// The UTF-16 unit of the escape at this index, if there is one.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        let cases = [
            (r#"{"a":"plain"}"#, r#"{"a":"plain"}"#),
            (r#""\ud83d\ude00 \u00e9 \u001b""#, r#""\ud83d\ude00 \u00e9 \u001b""#),
            (r#""cut \ud83d""#, r#""cut \ufffd""#),
            (r#""\ude00 rest""#, r#""\ufffd rest""#),
            (r#""\uD83D\uD83D\uDE00""#, r#""\ufffd\uD83D\uDE00""#),
            (r#""a \\ud83d is text""#, r#""a \\ud83d is text""#),
            (r#""a \\\ud83d is half""#, r#""a \\\ufffd is half""#),
            (r#""\ud8"#, r#""\ud8"#),
        ];
        for (line, expected) in cases {
            assert_eq!(replace_lone_surrogates(Cow::Borrowed(line)), expected);
        }
    }

    #[test]
    fn text_without_lone_surrogates_is_not_copied() {
        assert!(matches!(replace_lone_surrogates(Cow::Borrowed(r#""\u00e9""#)), Cow::Borrowed(_)));
    }
}
