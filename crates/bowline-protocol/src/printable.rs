//! Text from elsewhere, made safe to show on a terminal.
//!
//! Text of a model, a tool, a server or a project file may contain control sequences: they set
//! the clipboard or the title, query the terminal, which types its reply into a shell, or hide what
//! stands before them. They are shown instead.

use std::{borrow::Cow, fmt::Write};

/// The text as a terminal may show it.
///
/// Line breaks and tabs stay. Every other control character (C0, DEL, C1), and every character that
/// changes the direction of the text after it, is replaced by its number.
///
/// ```
/// use bowline_protocol::printable;
///
/// assert_eq!(printable("plain\ttext\r\n"), "plain\ttext\r\n");
/// assert_eq!(printable("\x1b]52;c;eA==\x07"), r"\u{1b}]52;c;eA==\u{7}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe, |shown, char| write!(shown, "{}", char.escape_unicode()))
}

/// The text as a terminal may show it within one line, for names and paths that a project chose.
///
/// Beyond [`printable`], line breaks, tabs and characters without a width are replaced by their number:
/// they let one name look like another, or like a second line.
///
/// ```
/// use bowline_protocol::printable_line;
///
/// assert_eq!(printable_line("guard\n\x1b[2J.sh"), r"guard\u{a}\u{1b}[2J.sh");
/// ```
pub fn printable_line(text: &str) -> Cow<'_, str> {
    let is_unsafe = |_: &str, char: char| {
        let is_invisible = matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        char.is_control() || is_invisible
    };
    replace(text, is_unsafe, |shown, char| write!(shown, "{}", char.escape_unicode()))
}

/// JSON as a terminal may show it: the same JSON, in which the characters that JSON allows in strings
/// and a terminal obeys are escapes.
///
/// ```
/// use bowline_protocol::printable_json;
///
/// assert_eq!(printable_json("\"\u{9b}2J\""), r#""\u009b2J""#);
/// ```
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // Below the space JSON has only white space, and that outside of strings.
    let is_unsafe = |rest: &str, char| char > ' ' && is_unsafe(rest, char);
    replace(json, is_unsafe, |shown, char| write!(shown, "\\u{:04x}", u32::from(char)))
}

/// Whether a character, with what follows it, must not reach a terminal.
fn is_unsafe(rest: &str, char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // By itself it goes back to the beginning of the line, over what stands there.
        '\r' => !rest.starts_with('\n'),
        // Embeddings, overrides and isolates of bidirectional text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        char => char.is_control(),
    }
}

fn replace(
    text: &str,
    is_unsafe: impl Fn(&str, char) -> bool,
    write: impl Fn(&mut String, char) -> std::fmt::Result,
) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut kept = 0;
    for (at, char) in text.char_indices() {
        let next = at + char.len_utf8();
        if is_unsafe(&text[next..], char) {
            shown.push_str(&text[kept..at]);
            // Writing into a string does not fail.
            write(&mut shown, char).ok();
            kept = next;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(&text[kept..]);
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        let cases = [
            ("Grüße, 世界 👩‍🚀\n\tindented\r\n", "Grüße, 世界 👩‍🚀\n\tindented\r\n"),
            ("title \x1b]0;x\x07", r"title \u{1b}]0;x\u{7}"),
            ("link \x1b]8;;http://x\x1b\\here", r"link \u{1b}]8;;http://x\u{1b}\here"),
            ("one byte \u{9b}6n \u{9d}52;c;\u{9c}", r"one byte \u{9b}6n \u{9d}52;c;\u{9c}"),
            ("over\rwritten", r"over\u{d}written"),
            ("rub\x08\x08out \x7f \0", r"rub\u{8}\u{8}out \u{7f} \u{0}"),
            ("\u{202e}sdrawkcab\u{202c} \u{2066}x\u{2069}", {
                r"\u{202e}sdrawkcab\u{202c} \u{2066}x\u{2069}"
            }),
        ];
        for (text, expected) in cases {
            assert_eq!(printable(text), expected, "{text:?}");
        }
    }

    #[test]
    fn line_breaks_tabs_and_direction_marks_are_made_visible_in_a_line() {
        let cases = [
            ("Grüße, 世界", "Grüße, 世界"),
            ("a\tb\r\nc", r"a\u{9}b\u{d}\u{a}c"),
            (
                "\u{200b}\u{200f}\u{2028}\u{202e}\u{2066}",
                r"\u{200b}\u{200f}\u{2028}\u{202e}\u{2066}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(printable_line(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn printable_text_has_no_control_characters(text in "(?s).{0,40}") {
            let shown = printable(&text);
            let whole = shown.replace("\r\n", "\n");
            prop_assert!(!whole.chars().any(|it| it.is_control() && it != '\n' && it != '\t'));
        }

        #[test]
        fn printable_line_has_no_control_characters(text in "(?s).{0,40}") {
            prop_assert!(!printable_line(&text).chars().any(char::is_control));
        }

        #[test]
        fn printable_json_is_the_same_value(text in "(?s).{0,40}") {
            let json = serde_json::to_string(&[&text]).unwrap();
            let shown = printable_json(&json);
            prop_assert!(!shown.chars().any(char::is_control));
            prop_assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [text]);
        }
    }
}
