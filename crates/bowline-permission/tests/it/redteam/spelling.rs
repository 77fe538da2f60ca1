//! One word in many spellings: quotes, patterns, braces, variables, links.

use super::random::Random;

/// A word as it stands in a line, and what has to be said before it.
#[derive(Debug)]
pub(super) struct Spelled {
    pub(super) before: String,
    pub(super) word: String,
}

impl Spelled {
    fn plain(word: String) -> Self {
        Self { before: String::new(), word }
    }
}

/// The same path, or one that leads to the same file.
pub(super) fn respell(random: &mut Random, path: &str) -> Spelled {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let join = |name: String| match folder {
        "" => name,
        folder => format!("{folder}/{name}"),
    };
    match random.below(20) {
        0 => Spelled::plain(format!("'{path}'")),
        1 => Spelled::plain(format!("\"{path}\"")),
        2 => Spelled::plain(join(split_quotes(random, name))),
        3 => Spelled::plain(join(pattern(random, name))),
        4 => Spelled::plain(join(pattern(random, name))),
        5 => Spelled::plain(format!("{{{path},}}")),
        6 => Spelled::plain(format!("{{{path},a.txt}}")),
        7 => Spelled { before: format!("x={path}; "), word: "$x".to_owned() },
        8 => Spelled { before: format!("x={path}; "), word: "\"$x\"".to_owned() },
        9 => Spelled::plain(format!("$'{path}'")),
        10 => Spelled::plain(format!("$\"{path}\"")),
        11 => Spelled::plain(format!("${{x:-{path}}}")),
        12 => Spelled { before: format!("x={path}x; "), word: "${x%x}".to_owned() },
        13 => Spelled::plain(format!("$(echo {path})")),
        14 if !path.starts_with(['/', '~']) => Spelled::plain(format!("./{path}")),
        14 => Spelled::plain(path.replacen('/', "//", 1)),
        15 if !path.starts_with(['/', '~']) => Spelled::plain(format!("src/../{path}")),
        15 => Spelled::plain(join(format!("./{name}"))),
        16 if !path.starts_with(['/', '~']) => Spelled::plain(format!("\"$PWD\"/{path}")),
        16 => Spelled { before: format!("for x in {path}; do :; done; "), word: "$x".to_owned() },
        _ => Spelled::plain(path.to_owned()),
    }
}

/// Quotes around a part, or a backslash before a letter.
fn split_quotes(random: &mut Random, name: &str) -> String {
    let at = letter(random, name);
    let (before, rest) = name.split_at(at);
    let mut letters = rest.chars();
    let Some(first) = letters.next() else { return name.to_owned() };
    let after = letters.as_str();
    match random.below(4) {
        0 => format!("{before}'{first}'{after}"),
        1 => format!("{before}\"{first}\"{after}"),
        2 => format!("{before}\\{first}{after}"),
        _ => format!("{before}''{first}{after}"),
    }
}

/// A pattern that the name fits.
pub(super) fn pattern(random: &mut Random, name: &str) -> String {
    let at = letter(random, name);
    let (before, rest) = name.split_at(at);
    let mut letters = rest.chars();
    let Some(first) = letters.next() else { return name.to_owned() };
    let after = letters.as_str();
    let class = if first.is_ascii_lowercase() { "[:lower:]" } else { "[:print:]" };
    match random.below(10) {
        0 => format!("{before}?{after}"),
        1 => format!("{before}*"),
        2 => format!("{before}[{first}]{after}"),
        3 => format!("{before}[{class}]{after}"),
        4 => format!("{before}[!_]{after}"),
        5 => format!("{before}[^_]{after}"),
        6 => format!("{before}[[.{first}.]]{after}"),
        7 => format!("{before}[{first}\"]\"]{after}"),
        8 => format!("{before}[\\{first}]{after}"),
        _ => format!("{before}*{first}{after}"),
    }
}

/// Where a letter of a name is, not the first if there is another.
fn letter(random: &mut Random, name: &str) -> usize {
    let places: Vec<usize> = name.char_indices().map(|(at, _)| at).skip(1).collect();
    if places.is_empty() { 0 } else { places[random.below(places.len())] }
}
