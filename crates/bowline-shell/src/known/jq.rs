//! `jq` whose program reads neither the environment nor modules.

use super::Reads;
use crate::{synopsis::Synopsis, word::Word};

/// Not `-f`, `-L`, `--rawfile` and `--slurpfile`.
const SYNOPSIS: Synopsis = Synopsis {
    flags: "ncrRsSjaeCM",
    values: "",
    files: "",
    attached: "",
    long: "null-input compact-output raw-output raw-output0 join-output raw-input slurp sort-keys \
           ascii-output exit-status color-output monochrome-output tab indent= stream seq unbuffered \
           stream-errors",
    number: false,
};

/// Names by which a program reaches beyond its input.
const BEYOND: &[&str] =
    &["env", "ENV", "import", "include", "modulemeta", "get_search_list", "__prog_args"];

pub(super) fn reads(words: &[Word]) -> Option<Reads> {
    let (words, named) = without_named_arguments(words)?;
    let matched = SYNOPSIS.matched(&words)?;
    let (program, files) = matched.positionals().split_first()?;
    let text = program.fixed()?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let reaches_beyond = text.split(|letter| !is_name(letter)).any(|name| BEYOND.contains(&name));
    let dynamic = !matched.is_certain() || named.iter().any(Word::may_split);
    (!reaches_beyond && !dynamic).then(|| Reads::of(files.to_vec()))
}

/// Takes `--arg NAME VALUE` and `--argjson NAME VALUE` out: they have two values.
fn without_named_arguments(words: &[Word]) -> Option<(Vec<Word>, Vec<Word>)> {
    let (mut kept, mut named) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.is("--") {
            // From here on, everything is a file.
            kept.push(word.clone());
            kept.extend(words.by_ref().cloned());
        } else if word.is("--arg") || word.is("--argjson") {
            named.push(words.next()?.clone());
            named.push(words.next()?.clone());
        } else {
            kept.push(word.clone());
        }
    }
    Some((kept, named))
}
