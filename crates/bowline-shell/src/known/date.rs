//! `date` that shows a time and sets none.

use super::Reads;
use crate::{synopsis::Synopsis, word::Word};

/// Not `-f`: a file of dates is shown in the complaints about its lines.
const SYNOPSIS: Synopsis = Synopsis {
    flags: "uRjn",
    values: "d",
    files: "r",
    attached: "I",
    long: "utc universal rfc-email rfc-3339= iso-8601? date= reference< debug",
    number: false,
};

pub(super) fn reads(words: &[Word]) -> Option<Reads> {
    let matched = SYNOPSIS.matched(words)?;
    let is_format =
        |word: &Word| word.literal().is_some_and(|text| text.starts_with('+')) && !word.is_glob();
    // An operand without a plus would set the clock.
    matched.positionals().iter().all(is_format).then(|| Reads::of(matched.files))
}
