//! Programs that run a command for what they find or read: `find -exec` and `xargs`.

use super::Nested;
use crate::{script::Command, synopsis::Synopsis, word::Word};

pub(super) fn nested(name: &str, words: &[Word]) -> Option<Nested> {
    match name {
        "find" => Some(found(words)),
        "xargs" => Some(with_input(words)),
        _ => None,
    }
}

const XARGS: Synopsis = Synopsis {
    flags: "0oprtx",
    values: "ILnPsdEa",
    files: "",
    attached: "ile",
    long: "null no-run-if-empty interactive verbose exit show-limits open-tty max-args= max-procs= \
           delimiter= arg-file= max-chars= max-lines? replace? eof?",
    number: false,
};

/// The command of `xargs`, with arguments that come from its input.
fn with_input(words: &[Word]) -> Nested {
    let Some(rest) = XARGS.after_options(words) else { return Nested::Unknown };
    if rest.is_empty() {
        return Nested::None;
    }
    let mut command = Command::of(rest.to_vec());
    match replaced_text(&words[..words.len() - rest.len()]) {
        Some(text) => obscure(&mut command, &text),
        None => command.words.push(Word::unknown("INPUT")),
    }
    Nested::Others(vec![command])
}

/// The text that `xargs -I TEXT` replaces.
fn replaced_text(options: &[Word]) -> Option<String> {
    let at = options.iter().position(|word| {
        word.literal().is_some_and(|text| {
            text.starts_with("-I") || text.starts_with("--replace") || text.starts_with("-i")
        })
    })?;
    let text = options[at].literal().unwrap_or_default();
    let text = match text.strip_prefix("-I") {
        Some("") => options.get(at + 1).and_then(Word::literal).unwrap_or("{}"),
        Some(attached) => attached,
        None => text.split_once('=').map_or("{}", |(_, text)| text),
    };
    Some(text.to_owned())
}

/// Marks the words in which a program puts something else before it runs the command.
fn obscure(command: &mut Command, text: &str) {
    for word in command.words.iter_mut().filter(|word| word.raw().contains(text)) {
        *word = Word::unknown(word.raw());
    }
}

/// The commands after `-exec` and its kin.
fn found(words: &[Word]) -> Nested {
    let mut commands = Vec::new();
    let mut rest = words;
    while let Some(at) = rest.iter().position(|word| {
        ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|action| word.is(action))
    }) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(rest.len());
        let mut command = Command::of(rest[..end].to_vec());
        // A word that is nothing but the braces is one of the files that `find` itself reads.
        let kept = command.words.clone();
        obscure(&mut command, "{}");
        for (word, kept) in command.words.iter_mut().zip(kept) {
            if kept.is("{}") {
                *word = kept;
            }
        }
        commands.push(command);
        rest = &rest[end..];
    }
    if commands.is_empty() { Nested::None } else { Nested::Others(commands) }
}
