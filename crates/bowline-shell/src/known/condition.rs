//! Conditions: `[[ … ]]`, `[ … ]` and `test`.
//!
//! Both can run commands: `[[` evaluates the operands of its numeric comparisons, names and
//! subscripts included, and `-v` evaluates subscripts in either. So operators must be literal and
//! known, and what would be evaluated must be a number or a plain name.

use super::Reads;
use crate::{parser::is_name, word::Word};

const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
const STRING: &[&str] = &["=", "==", "!=", "=~", "<", ">"];
const FILE_PAIR: &[&str] = &["-nt", "-ot", "-ef"];
/// Unary operators over a file.
const FILE: &[&str] = &[
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G",
    "-L", "-N", "-O", "-S",
];

/// What distinguishes `[[` from `test`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Words stay whole, numeric operands are evaluated.
    DoubleBracket,
    /// Words may split, numbers are only read.
    Test,
}

/// `[[ … ]]`, without its opening word.
pub(super) fn double_bracket(words: &[Word]) -> Option<Reads> {
    let words = words.strip_suffix(&[Word::plain("]]")])?;
    let mut paths = Vec::new();
    for condition in words.split(|word| word.is("&&")) {
        paths.extend(expression(condition, Kind::DoubleBracket)?);
    }
    Some(Reads::of(paths))
}

/// `test …` or `[ … ]`, without its name and its closing bracket.
pub(super) fn test(words: &[Word]) -> Option<Reads> {
    // A word that is none or several would turn operands into operators.
    if words.iter().any(Word::may_split) {
        return None;
    }
    let joined = |word: &Word| word.is("-a") || word.is("-o");
    if words.len() <= 4 && !words.iter().skip(1).any(joined) {
        return expression(words, Kind::Test).map(Reads::of);
    }
    // With more words it depends on all of them which ones are operators.
    if words.iter().any(|word| word.fixed().is_none()) {
        return None;
    }
    let mut paths = Vec::new();
    for condition in words.split(joined) {
        paths.extend(expression(condition, Kind::Test)?);
    }
    Some(Reads::of(paths))
}

/// One comparison; the files it looks at.
fn expression(words: &[Word], kind: Kind) -> Option<Vec<Word>> {
    match words {
        [] if kind == Kind::Test => Some(Vec::new()),
        [negation, rest @ ..] if negation.is("!") && !rest.is_empty() => expression(rest, kind),
        [_] => Some(Vec::new()),
        [operator, operand] => unary(operator.fixed()?, operand),
        [left, operator, right] => binary(left, operator.fixed()?, right, kind),
        _ => None,
    }
}

fn unary(operator: &str, operand: &Word) -> Option<Vec<Word>> {
    match operator {
        "-n" | "-z" => Some(Vec::new()),
        "-t" => is_integer(operand).then(Vec::new),
        "-v" | "-R" => operand.fixed().is_some_and(is_name).then(Vec::new),
        operator if FILE.contains(&operator) => Some(vec![operand.clone()]),
        _ => None,
    }
}

fn binary(left: &Word, operator: &str, right: &Word, kind: Kind) -> Option<Vec<Word>> {
    if NUMERIC.contains(&operator) {
        let literal = is_integer(left) && is_integer(right);
        return (literal || kind == Kind::Test).then(Vec::new);
    }
    if FILE_PAIR.contains(&operator) {
        return Some(vec![left.clone(), right.clone()]);
    }
    // `( x )` and `-v x y` have no such operator in the middle.
    STRING.contains(&operator).then(Vec::new)
}

fn is_integer(word: &Word) -> bool {
    word.fixed().is_some_and(|text| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
