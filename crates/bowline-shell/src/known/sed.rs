//! `sed` whose script only prints, deletes and substitutes: the rest can write files and run commands.

use super::Reads;
use crate::{synopsis::Synopsis, word::Word};

const SYNOPSIS: Synopsis = Synopsis {
    flags: "nErsuz",
    values: "e",
    files: "",
    attached: "",
    long: "quiet silent regexp-extended expression= separate unbuffered null-data posix",
    number: false,
};

/// What `sed` reads, if it changes nothing.
pub(super) fn reads(words: &[Word]) -> Option<Reads> {
    files(words).map(Reads::of)
}

/// The files that `sed -i` changes and the copies it keeps of them, if that is all it does.
pub(crate) fn sed_in_place(words: &[Word]) -> Option<Vec<Word>> {
    let suffix = |word: &Word| {
        let text = word.literal()?;
        let suffix = match text.strip_prefix("--in-place") {
            Some(long) => long.strip_prefix('=').unwrap_or(long),
            None => text.strip_prefix("-i")?,
        };
        Some((suffix.to_owned(), word.is_glob()))
    };
    let given: Vec<_> = words.iter().filter_map(suffix).collect();
    let [(suffix, is_glob)] = given.as_slice() else { return None };
    // In a suffix, a star is the name of the file and a slash leads to another directory.
    let plain = |it: char| it.is_ascii_alphanumeric() || "._~-".contains(it);
    if *is_glob || !suffix.chars().all(plain) {
        return None;
    }
    let rest: Vec<Word> = words.iter().filter(|word| is_not_in_place(word)).cloned().collect();
    let mut writes = files(&rest)?;
    if !suffix.is_empty() {
        let copies: Vec<Word> = writes.iter().map(|file| file.joined(suffix)).collect();
        writes.extend(copies);
    }
    Some(writes)
}

fn is_not_in_place(word: &Word) -> bool {
    word.literal().is_none_or(|text| !text.starts_with("-i") && !text.starts_with("--in-place"))
}

/// The files of a `sed` whose script is understood.
fn files(words: &[Word]) -> Option<Vec<Word>> {
    let matched = SYNOPSIS.matched(words)?;
    let mut scripts: Vec<&Word> = matched.arguments.values(&["-e", "--expression"]).collect();
    let mut files = matched.positionals();
    if scripts.is_empty() {
        let (script, rest) = files.split_first()?;
        scripts.push(script);
        files = rest;
    }
    let plain = |script: &&Word| script.fixed().is_some_and(is_plain);
    (matched.is_certain() && scripts.iter().all(plain)).then(|| files.to_vec())
}

/// Whether a script does nothing but print, delete and substitute.
fn is_plain(script: &str) -> bool {
    let mut rest = script.trim();
    loop {
        rest = skip_address(rest.trim_start_matches([' ', ';', '\n']));
        if rest.is_empty() {
            return true;
        }
        let Some(after) = skip_command(rest) else { return false };
        rest = after.trim_start_matches([' ', '}']);
        if !rest.is_empty() && !rest.starts_with([';', '\n']) {
            return false;
        }
    }
}

/// `12`, `$`, `/pattern/`, `1,5`, each possibly negated.
fn skip_address(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..2 {
        if let Some(pattern) = rest.strip_prefix('/') {
            let Some(after) = skip_until(pattern, '/') else { return text };
            rest = after.trim_start_matches('I');
        } else {
            rest =
                rest.trim_start_matches(|it: char| it.is_ascii_digit() || it == '$' || it == '~');
        }
        match rest.strip_prefix(',') {
            Some(second) => rest = second.trim_start_matches('+'),
            None => break,
        }
    }
    rest.trim_start_matches([' ', '!'])
}

fn skip_command(text: &str) -> Option<&str> {
    let mut text = text;
    while let Some(group) = text.strip_prefix('{') {
        text = skip_address(group.trim_start());
    }
    if let Some(after) = text.strip_prefix(['p', 'd', 'q', '=']) {
        return Some(after);
    }
    let mut letters = text.strip_prefix(['s', 'y'])?.chars();
    let delimiter = letters.next().filter(|it| it.is_ascii_punctuation() && *it != '\\')?;
    let after = skip_until(skip_until(letters.as_str(), delimiter)?, delimiter)?;
    // `e` runs the result, `w` writes it: neither is among the flags that are known here.
    Some(after.trim_start_matches(|it: char| "gpiI".contains(it) || it.is_ascii_digit()))
}

/// What follows the next delimiter that is not escaped.
fn skip_until(text: &str, delimiter: char) -> Option<&str> {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '\n' => return None,
            // Inside brackets a delimiter is an ordinary character, but not for every `sed`.
            '[' if letters.as_str().split(']').next()?.contains(delimiter) => return None,
            _ if letter == delimiter => return Some(letters.as_str()),
            _ => {}
        }
    }
    None
}
