//! `find` with tests and actions that only print.

use super::Reads;
use crate::word::Word;

/// Tests and actions without an argument.
const PLAIN: &[&str] = &[
    "-empty",
    "-not",
    "!",
    "(",
    ")",
    "-a",
    "-o",
    "-and",
    "-or",
    ",",
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-quit",
    "-true",
    "-false",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-daystart",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
];

/// Tests and actions with an argument that names no file.
const WITH_TEXT: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-user",
    "-group",
    "-perm",
    "-printf",
    "-inum",
    "-links",
    "-uid",
    "-gid",
    "-lname",
    "-ilname",
    "-fstype",
    "-used",
    "-newermt",
    "-newerat",
    "-newerct",
];

/// Tests with an argument that is a file.
const WITH_FILE: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];

pub(super) fn reads(words: &[Word]) -> Option<Reads> {
    // Links on the way are not followed; with `-L` and `-H` they would be.
    let options = words.iter().take_while(|word| word.is("-P") || word.is("-O2") || word.is("-O3"));
    let words = &words[options.count()..];
    let is_path = |word: &&Word| {
        word.literal().is_none_or(|text| !text.starts_with(['-', '(', '!', ')', ',']))
    };
    let count = words.iter().take_while(is_path).count();
    let (paths, mut expression) = words.split_at(count);
    // What an expansion or a pattern yields may be a test, or an action.
    if !paths.iter().all(|word| word.literal().is_some() && !may_become_action(word)) {
        return None;
    }
    let mut found = Reads::of(paths.to_vec()).or_here();
    while let Some((word, rest)) = expression.split_first() {
        let text = word.fixed()?;
        expression = rest;
        if PLAIN.contains(&text) {
            continue;
        }
        let (argument, rest) = rest.split_first()?;
        expression = rest;
        // A pattern without quotes may become several words; its beginning decides whether one of them
        // can be an action.
        let is_word = argument.literal().is_some() && !may_become_action(argument)
            || argument.literal().is_none() && !argument.may_split();
        if !is_word {
            return None;
        } else if WITH_FILE.contains(&text) {
            found.paths.push(argument.clone());
        } else if !WITH_TEXT.contains(&text) {
            return None;
        }
    }
    Some(found)
}

fn may_become_action(word: &Word) -> bool {
    word.is_glob()
        && word
            .literal()
            .is_none_or(|text| text.starts_with(['*', '?', '[', '-', '(', '!', ',', ')']))
}
