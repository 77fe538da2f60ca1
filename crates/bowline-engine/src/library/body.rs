//! Text of a command or skill, with its arguments filled in.

use std::{io, sync::LazyLock};

use regex::{Captures, Regex};

use super::custom::CustomCommand;
use crate::instructions::frontmatter::Document;

/// `$ARGUMENTS`, `$ARGUMENTS[0]`, `$0`, `$name`; a backslash before it makes the dollar literal.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\\?\$(?:ARGUMENTS\[(\d+)\]|(\d+)\b|([A-Za-z_][\w-]*))")
        .expect("this pattern is valid")
});
pub(crate) static PROGRAM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"!`([^`\n]+)`").expect("this pattern is valid"));

/// The text of a skill for a model, with its arguments.
pub(crate) async fn body(skill: &CustomCommand, args: &str) -> io::Result<String> {
    if !skill.may_be_read() {
        return Err(io::Error::other("its real path is outside of a project that is not trusted"));
    }
    let text = tokio::fs::read_to_string(&skill.path).await?;
    let text = skill.source.expand(Document::parse(&text).body.trim());
    Ok(introduced(skill, fill_in(&text, args, &skill.arguments)))
}

/// The text of a command, after the path of its folder if it has one.
pub(crate) fn introduced(command: &CustomCommand, text: String) -> String {
    match &command.folder {
        Some(folder) => format!("Base directory for this skill: {}\n\n{text}", folder.display()),
        None => text,
    }
}

/// Fills the arguments in where the text has placeholders, or appends them. `names` are the names of
/// the first ones. A placeholder without an argument stays as it is.
pub(crate) fn fill_in(text: &str, args: &str, names: &[String]) -> String {
    let words = words(args);
    let mut is_filled = false;
    let filled = PLACEHOLDER.replace_all(text, |found: &Captures<'_>| {
        let whole = &found[0];
        if let Some(plain) = whole.strip_prefix('\\') {
            return plain.to_owned();
        }
        let place = found.get(1).or(found.get(2)).map(|place| place.as_str().parse::<usize>());
        let filled = match (place, found.get(3).map(|name| name.as_str())) {
            (Some(place), _) => place.ok().and_then(|place| words.get(place)).cloned(),
            (None, Some("ARGUMENTS")) => Some(args.to_owned()),
            (None, name) => {
                let place = names.iter().position(|known| Some(known.as_str()) == name);
                place.map(|place| words.get(place).cloned().unwrap_or_default())
            }
        };
        is_filled |= filled.is_some();
        filled.unwrap_or_else(|| whole.to_owned())
    });
    match is_filled || args.is_empty() {
        true => filled.into_owned(),
        false => format!("{filled}\n\nARGUMENTS: {args}"),
    }
}

/// Splits the arguments at whitespace; quotes keep words together.
///
/// Not `shlex`: that fails on an unmatched quote, and `it's` must not lose the arguments. Backslashes
/// and `#` are literal.
fn words(args: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in args.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Whether a text calls programs.
pub(crate) fn names_program(text: &str) -> bool {
    PROGRAM.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_go_where_the_text_wants_them() {
        for (text, args, filled) in [
            ("fix $ARGUMENTS now", "the bug", "fix the bug now"),
            ("$1 before $0", "a 'b c'", "b c before a"),
            ("$ARGUMENTS[1] before $ARGUMENTS[0]", "a b", "b before a"),
            ("$0 and $2, $ARGUMENTS[9]", "one", "one and $2, $ARGUMENTS[9]"),
            ("only $5", "x", "only $5\n\nARGUMENTS: x"),
            ("costs $10 or ${0}", "x", "costs $10 or ${0}\n\nARGUMENTS: x"),
            (r"\$0 is $0", "x", "$0 is x"),
            ("$0x", "x", "$0x\n\nARGUMENTS: x"),
            ("no place", "for this", "no place\n\nARGUMENTS: for this"),
            ("no $ARGUMENTS or $0", "", "no  or $0"),
            ("plain", "", "plain"),
        ] {
            assert_eq!(fill_in(text, args, &[]), filled, "{text}");
        }
    }

    #[test]
    fn arguments_have_names() {
        let names = ["from", "to-port"].map(str::to_owned);
        assert_eq!(fill_in("$from, $to-port, $far", "Kiel Riga", &names), "Kiel, Riga, $far");
        assert_eq!(fill_in("$from, $to-port", "Kiel", &names), "Kiel, ");
    }

    #[test]
    fn arguments_are_not_expanded_again() {
        assert_eq!(fill_in("say $0", "'$ARGUMENTS'", &[]), "say $ARGUMENTS");
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(words(r#"a "b c" d'e f' "" "#), ["a", "b c", "de f", ""]);
    }
}
