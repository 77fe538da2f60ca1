//! Shells and builtins that read commands from a text: `bash -c`, `su -c`, `eval`, `source`, `trap`.

use super::Nested;
use crate::{parser::parse, word::Word};

/// The nested commands of a shell, or of a builtin that reads commands; `None` if it is neither.
pub(super) fn nested(name: &str, words: &[Word]) -> Option<Nested> {
    let has = |option: &str| {
        words.iter().any(|word| word.literal().is_none_or(|text| text.starts_with(option)))
    };
    Some(match name {
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "fish" => shell(words),
        "su" | "runuser" => substitute_user(words),
        "." | "source" => sourced(words),
        "eval" => joined(Some(words)),
        "trap" => match words.first().map(Word::literal) {
            Some(Some(text)) if words.len() > 1 => Nested::Script(parse(text)),
            Some(None) => Nested::Unknown,
            _ => Nested::None,
        },
        // They make a name mean another program, load code, or run the value of an option.
        "hash" if has("-p") => Nested::Unknown,
        "enable" if has("-f") => Nested::Unknown,
        "mapfile" | "readarray" | "compgen" | "complete" if has("-") => Nested::Unknown,
        "bind" if has("-x") => Nested::Unknown,
        // From here on, other words mean other commands.
        "alias" if words.iter().any(|word| word.raw().contains('=')) => Nested::Unknown,
        "git" => aliases(words),
        _ => return None,
    })
}

/// `bash [options] -c 'commands'`; a script file is just an argument. Without either, commands come
/// from the input.
fn shell(words: &[Word]) -> Nested {
    let mut rest = words.iter();
    let mut reads_file = false;
    while let Some(word) = rest.next() {
        let Some(text) = word.literal().filter(|_| !word.is_glob()) else {
            return Nested::Unknown;
        };
        if !text.starts_with(['-', '+']) {
            return script_file(word);
        }
        match text {
            "-" | "--" => return rest.next().map_or(Nested::Unknown, script_file),
            "--version" | "--help" => return Nested::None,
            "--rcfile" | "--init-file" => {
                reads_file = true;
                rest.next();
            }
            text if text.starts_with("--") => {}
            text => {
                // An interactive shell reads its file first, and `-s` reads the input.
                if text.contains('s') || text.contains('i') && reads_file {
                    return Nested::Unknown;
                }
                for _ in text.matches(['o', 'O']) {
                    rest.next();
                }
                if text.contains('c') {
                    return command_word(rest.as_slice()).map_or(Nested::Unknown, script_text);
                }
            }
        }
    }
    Nested::Unknown
}

/// The word with the commands, after the options that follow `-c`.
fn command_word(words: &[Word]) -> Option<&Word> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            Some("-O" | "+O" | "-o" | "+o" | "--rcfile" | "--init-file") => drop(words.next()),
            Some(text) if text.starts_with(['-', '+']) => {}
            _ => return Some(word),
        }
    }
    None
}

pub(super) fn script_text(word: &Word) -> Nested {
    word.literal().map_or(Nested::Unknown, |text| Nested::Script(parse(text)))
}

/// A script in a file is not read; one that comes through a descriptor is not there yet.
fn script_file(word: &Word) -> Nested {
    match word.literal() {
        Some(text)
            if !word.is_glob() && !text.starts_with("/dev/") && !text.starts_with("/proc/") =>
        {
            Nested::None
        }
        _ => Nested::Unknown,
    }
}

/// `. FILE` and `source FILE`.
fn sourced(words: &[Word]) -> Nested {
    words.iter().find(|word| !word.is("--")).map_or(Nested::None, script_file)
}

/// `su USER -c 'commands'`. Without commands they come from the input.
fn substitute_user(words: &[Word]) -> Nested {
    let is_option = |word: &&Word| word.is("-c") || word.is("--command");
    match words.iter().position(|word| is_option(&word)) {
        Some(at) => words.get(at + 1).map_or(Nested::Unknown, script_text),
        None => Nested::Unknown,
    }
}

/// Configuration on the command line can make a subcommand mean anything.
fn aliases(words: &[Word]) -> Nested {
    const HARMLESS: &[&str] = &["user.", "commit.gpgsign=", "color.", "advice.", "core.pager=cat"];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            None => return Nested::Unknown,
            Some("-C" | "--git-dir" | "--work-tree" | "--namespace") => drop(words.next()),
            Some("-c") => {
                let setting = words.next().and_then(Word::literal).unwrap_or_default();
                if !HARMLESS.iter().any(|known| setting.starts_with(known)) {
                    return Nested::Unknown;
                }
            }
            Some(text) if text.starts_with("--config-env") || text.starts_with("--exec-path=") => {
                return Nested::Unknown;
            }
            Some(text) if text.starts_with('-') => {}
            Some(_) => break,
        }
    }
    Nested::None
}

/// Words that are joined and read by a shell again.
pub(super) fn joined(words: Option<&[Word]>) -> Nested {
    let texts: Option<Vec<&str>> =
        words.and_then(|words| words.iter().map(Word::literal).collect());
    match texts {
        Some(texts) if texts.is_empty() => Nested::None,
        Some(texts) => Nested::Script(parse(&texts.join(" "))),
        None => Nested::Unknown,
    }
}
