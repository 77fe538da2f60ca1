//! Which `sed` scripts only print, delete and substitute: the rest can write files and run commands.

/// Whether a script does nothing but print, delete and substitute.
pub(crate) fn is_plain(script: &str) -> bool {
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
