//! The arguments of a command: options, their values, and the rest.

use crate::word::Word;

/// The arguments of a command, sorted.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// `-x` and `--long`, each with its value if it has one.
    pub(crate) options: Vec<(String, Option<Word>)>,
    /// What is not an option.
    pub(crate) positionals: Vec<Word>,
}

impl Arguments {
    /// Sorts arguments of a command that takes any option. `with_value` names the options that take a
    /// value: letters of short ones (`n`), whole long ones (`lines`).
    pub(crate) fn sort(words: &[Word], with_value: &[&str]) -> Self {
        let mut found = Self::default();
        let mut words = words.iter();
        let mut only_positionals = false;
        while let Some(word) = words.next() {
            let Some(text) = word.literal() else {
                found.positionals.push(word.clone());
                continue;
            };
            if only_positionals || text.len() < 2 || !text.starts_with('-') {
                found.positionals.push(word.clone());
            } else if text == "--" {
                only_positionals = true;
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, _)) => (name, word.tail(2 + name.len() + 1)),
                    None if takes_value(long, with_value) => (long, words.next().cloned()),
                    None => (long, None),
                };
                found.options.push((format!("--{name}"), value));
            } else {
                for (at, letter) in text.char_indices().skip(1) {
                    let option = format!("-{letter}");
                    let rest = at + letter.len_utf8();
                    if with_value.contains(&&text[at..rest]) {
                        let value =
                            if rest < text.len() { word.tail(rest) } else { words.next().cloned() };
                        found.options.push((option, value));
                        break;
                    }
                    found.options.push((option, None));
                }
            }
        }
        found
    }

    /// Whether one of these options is given. Long ones may be abbreviated.
    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(given, _)| names.iter().any(|name| is_option(given, name)))
    }

    /// The values of these options.
    pub(crate) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Word> {
        self.options
            .iter()
            .filter(|(given, _)| names.iter().any(|name| is_option(given, name)))
            .filter_map(|(_, value)| value.as_ref())
    }
}

/// Whether a long option takes the next word. It may be abbreviated.
fn takes_value(long: &str, with_value: &[&str]) -> bool {
    with_value.iter().any(|name| name.len() > 1 && name.starts_with(long))
}

fn is_option(given: &str, name: &str) -> bool {
    given == name || (given.len() > 2 && given.starts_with("--") && name.starts_with(given))
}
