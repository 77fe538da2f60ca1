//! Known options of a program, and command lines matched against them.
//!
//! An option that is not listed makes the command line unknown: programs grow options that name
//! files, run programs or write, and no list of those to refuse is ever complete. Abbreviations
//! of long options are not known either.

use crate::{options::Arguments, word::Word};

/// The options of a program that are known to do no harm.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Synopsis {
    /// Short options without a value.
    pub(crate) flags: &'static str,
    /// Short options with a value that names no file.
    pub(crate) values: &'static str,
    /// Short options whose value is a file that is read.
    pub(crate) files: &'static str,
    /// Short options whose value, if any, is attached.
    pub(crate) attached: &'static str,
    /// Long options: `name`, `name=` with a value, `name?` with a value only after `=`, and `name<`
    /// with a file that is read.
    pub(crate) long: &'static str,
    /// Whether `-20` is an option.
    pub(crate) number: bool,
}

/// A command line with nothing but known options.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    pub(crate) arguments: Arguments,
    /// Files that options name.
    pub(crate) files: Vec<Word>,
    /// How many of the positionals stand before a `--`, where an expansion may become an option.
    before_dashes: usize,
}

/// What a long option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Required,
    Attached,
    File,
}

impl Synopsis {
    /// Sorts arguments, or gives up if an option is not known, or not certain.
    pub(crate) fn matched(&self, words: &[Word]) -> Option<Matched> {
        let mut found = Matched::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let option = word.literal().filter(|text| text.len() > 1 && text.starts_with('-'));
            let Some(text) = option else {
                found.arguments.positionals.push(word.clone());
                found.before_dashes += 1;
                continue;
            };
            if text == "--" {
                found.arguments.positionals.extend(words.cloned());
                break;
            }
            let (name, value, is_file) = match text.strip_prefix("--") {
                Some(long) => self.long_option(long, word, &mut words)?,
                None => {
                    self.short_options(text, word, &mut words, &mut found)?;
                    continue;
                }
            };
            found.add(name, value, is_file);
        }
        Some(found)
    }

    /// The words after the options that stand before all operands, or `None` if an option is not
    /// known: it might take the next word.
    pub(crate) fn after_options<'a>(&self, words: &'a [Word]) -> Option<&'a [Word]> {
        let mut rest = words.iter();
        loop {
            let remaining = rest.as_slice();
            let Some(word) = rest.next() else { return Some(remaining) };
            let text = word.literal()?;
            if text == "--" {
                return Some(rest.as_slice());
            }
            if text.len() < 2 || !text.starts_with('-') {
                return Some(remaining);
            }
            match text.strip_prefix("--") {
                Some(long) => drop(self.long_option(long, word, &mut rest)?),
                None => self.short_options(text, word, &mut rest, &mut Matched::default())?,
            }
        }
    }

    fn long_option(
        &self,
        long: &str,
        word: &Word,
        words: &mut std::slice::Iter<'_, Word>,
    ) -> Option<(String, Option<Word>, bool)> {
        let (name, attached) = match long.split_once('=') {
            // A pattern after `=` can only match a file of that name: it stays this option.
            Some((name, _)) => (name, word.tail(2 + name.len() + 1)),
            None if word.is_glob() => return None,
            None => (long, None),
        };
        if word.is_glob() && name.contains(['*', '?', '[']) {
            return None;
        }
        let takes = self.takes(name)?;
        let value = match (takes, attached) {
            (Value::None | Value::Attached, None) => None,
            (Value::None, Some(_)) => return None,
            (_, Some(value)) => Some(value),
            (Value::Required | Value::File, None) => Some(next_value(words)?),
        };
        Some((format!("--{name}"), value, takes == Value::File))
    }

    fn takes(&self, name: &str) -> Option<Value> {
        self.long.split_ascii_whitespace().find_map(|known| {
            let (known, takes) = match known.as_bytes().last()? {
                b'=' => (&known[..known.len() - 1], Value::Required),
                b'?' => (&known[..known.len() - 1], Value::Attached),
                b'<' => (&known[..known.len() - 1], Value::File),
                _ => (known, Value::None),
            };
            (known == name).then_some(takes)
        })
    }

    /// A word of short options, the last of which may take a value.
    fn short_options(
        &self,
        text: &str,
        word: &Word,
        words: &mut std::slice::Iter<'_, Word>,
        found: &mut Matched,
    ) -> Option<()> {
        if word.is_glob() {
            return None;
        }
        if self.number && text[1..].chars().all(|letter| letter.is_ascii_digit()) {
            found.add("-NUMBER".to_owned(), None, false);
            return Some(());
        }
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let rest = at + letter.len_utf8();
            if self.flags.contains(letter) {
                found.add(name, None, false);
            } else if self.attached.contains(letter) {
                found.add(name, word.tail(rest).filter(|_| rest < text.len()), false);
                return Some(());
            } else if self.values.contains(letter) || self.files.contains(letter) {
                let value = if rest < text.len() { word.tail(rest)? } else { next_value(words)? };
                found.add(name, Some(value), self.files.contains(letter));
                return Some(());
            } else {
                return None;
            }
        }
        Some(())
    }
}

/// The next word as the value of an option. One that may split would be a value and more.
fn next_value(words: &mut std::slice::Iter<'_, Word>) -> Option<Word> {
    words.next().filter(|word| !word.may_split()).cloned()
}

impl Matched {
    fn add(&mut self, name: String, value: Option<Word>, is_file: bool) {
        self.files.extend(value.clone().filter(|_| is_file));
        self.arguments.options.push((name, value));
    }

    /// Whether one of these options is given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.arguments.options.iter().any(|(given, _)| names.contains(&given.as_str()))
    }

    /// Whether no positional can turn out to be an option: none is an expansion, unless after `--`.
    /// Patterns are left to those who can see which files they match.
    pub(crate) fn is_certain(&self) -> bool {
        let positionals = &self.arguments.positionals;
        // A process substitution is the name of a descriptor.
        let certain = |word: &Word| word.literal().is_some() || word.raw().starts_with("<(");
        positionals.iter().take(self.before_dashes).all(certain)
    }

    /// The positionals.
    pub(crate) fn positionals(&self) -> &[Word] {
        &self.arguments.positionals
    }
}
