//! Halves of characters in JSON strings.
//!
//! JavaScript and Python count in UTF-16 and may cut a text in the middle of an emoji. What is left is
//! written as an escape that names no character (`"\ud83d"`): JSON allows it, Rust's strings do not.

use std::{borrow::Cow, sync::LazyLock};

use memchr::memmem::Finder;

/// Looks for escapes by number. It is made once.
static ESCAPES: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br"\u"));

/// What stands for a character that cannot be known.
const UNKNOWN: &str = r"\ufffd";
/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// The text with an unknown character for each half of one.
///
/// Whatever reads a message or a [`RawJson`](crate::RawJson) does so by itself where it has to. This is
/// for JSON that is read otherwise.
///
/// ```
/// use bowline_protocol::whole_characters;
///
/// let cut = r#"{"text":"so far \ud83d"}"#;
/// assert!(serde_json::from_str::<serde_json::Value>(cut).is_err());
/// assert_eq!(whole_characters(cut.into()), r#"{"text":"so far \ufffd"}"#);
/// ```
pub fn whole_characters(json: Cow<'_, str>) -> Cow<'_, str> {
    match first_half(&json, 0) {
        None => json,
        Some(first) => Cow::Owned(replaced(&json, first)),
    }
}

fn replaced(json: &str, first: usize) -> String {
    let mut whole = String::with_capacity(json.len());
    let (mut from, mut next) = (0, Some(first));
    while let Some(at) = next {
        whole.push_str(&json[from..at]);
        whole.push_str(UNKNOWN);
        from = at + ESCAPE;
        next = first_half(json, from);
    }
    whole.push_str(&json[from..]);
    whole
}

/// Where the next escape is that has lost its other half.
fn first_half(json: &str, mut from: usize) -> Option<usize> {
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

/// The UTF-16 unit that the escape at this place names, if there is one.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_are_replaced() {
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
            assert_eq!(whole_characters(Cow::Borrowed(line)), expected);
        }
    }

    #[test]
    fn a_line_without_halves_is_not_copied() {
        assert!(matches!(whole_characters(Cow::Borrowed(r#""\u00e9""#)), Cow::Borrowed(_)));
    }
}
