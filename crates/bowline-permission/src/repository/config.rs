//! Parser of git's configuration files.

use std::{fs, io, iter::Peekable, path::Path, str::Chars};

use super::Doubt;

/// More than any file of settings has.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// Section and name in small letters, what is between them as it is written.
    pub(super) key: String,
    /// `None` is `true`.
    pub(super) value: Option<String>,
}

impl Setting {
    /// Section, what is between, and name.
    pub(super) fn parts(&self) -> (&str, Option<&str>, &str) {
        let (section, rest) = self.key.split_once('.').unwrap_or((&self.key, ""));
        match rest.rsplit_once('.') {
            Some((between, name)) => (section, Some(between), name),
            None => (section, None, rest),
        }
    }
}

/// The settings of a file; none if there is no file. One that is not understood is a doubt.
pub(super) fn read(path: &Path) -> Result<Vec<Setting>, Doubt> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        // A link may lead to another file by the time that `git` reads it.
        Ok(it) if it.is_file() && it.len() <= MAX_BYTES => {}
        _ => return Err(Doubt::about(path, "is not an ordinary file")),
    }
    let text = fs::read_to_string(path).map_err(|_| Doubt::about(path, "cannot be read"))?;
    parse(&text).ok_or_else(|| Doubt::about(path, "is not understood"))
}

fn parse(text: &str) -> Option<Vec<Setting>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    if text.contains(['\0', '\r']) {
        return None;
    }
    let mut letters = text.chars().peekable();
    let mut settings = Vec::new();
    let mut section: Option<String> = None;
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_ascii_whitespace() => {}
            '#' | ';' => while letters.next_if(|it| *it != '\n').is_some() {},
            '[' => section = Some(header(&mut letters)?),
            letter if letter.is_ascii_alphabetic() => {
                let mut name = letter.to_ascii_lowercase().to_string();
                while let Some(next) =
                    letters.next_if(|it| it.is_ascii_alphanumeric() || *it == '-')
                {
                    name.push(next.to_ascii_lowercase());
                }
                while letters.next_if(|it| matches!(it, ' ' | '\t')).is_some() {}
                let value = match letters.next() {
                    None | Some('\n') => None,
                    Some('=') => Some(value(&mut letters)?),
                    Some(_) => return None,
                };
                settings.push(Setting { key: format!("{}.{name}", section.as_ref()?), value });
            }
            _ => return None,
        }
    }
    Some(settings)
}

/// `section]` or `section "between"]`.
fn header(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut name = String::new();
    loop {
        match letters.next()? {
            ']' => break,
            letter @ (' ' | '\t') => {
                let _ = letter;
                while letters.next_if(|it| matches!(it, ' ' | '\t')).is_some() {}
                (letters.next()? == '"').then_some(())?;
                name.push('.');
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\n' => return None,
                        '\\' => name.push(letters.next().filter(|it| *it != '\n')?),
                        letter => name.push(letter),
                    }
                }
                (letters.next()? == ']').then_some(())?;
                break;
            }
            // The older form puts what is between in small letters, too.
            letter if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.') => {
                name.push(letter.to_ascii_lowercase());
            }
            _ => return None,
        }
    }
    (!name.is_empty() && !name.starts_with('.')).then_some(name)
}

/// What follows `=`, to the end of its line.
fn value(letters: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut value = String::new();
    // How much of it stays if only space follows.
    let mut kept = 0;
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\n' if quoted => return None,
            '\n' => break,
            '"' => {
                quoted = !quoted;
                kept = value.len();
            }
            '#' | ';' if !quoted => while letters.next_if(|it| *it != '\n').is_some() {},
            '\\' => {
                match letters.next()? {
                    '\n' => continue,
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    plain @ ('\\' | '"') => value.push(plain),
                    _ => return None,
                }
                kept = value.len();
            }
            space if space.is_ascii_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(space);
                }
            }
            letter => {
                value.push(letter);
                kept = value.len();
            }
        }
    }
    value.truncate(kept);
    (!quoted).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Option<Vec<(String, Option<String>)>> {
        Some(parse(text)?.into_iter().map(|it| (it.key, it.value)).collect())
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "\u{feff}# words\n[Core]\n\tFileMode = true ; words\n bare\n[remote \"a.B \\\"c\"] URL = \"x # y\" z  \n\
                    [old.Form]x=1\\\n2\n[a]b=\n[c] d = e\\tf\\\\ \r\n";
        let expected = [
            ("core.filemode", Some("true")),
            ("core.bare", None),
            ("remote.a.B \"c.url", Some("x # y z")),
            ("old.form.x", Some("12")),
            ("a.b", Some("")),
            ("c.d", Some("e\tf\\")),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.map(str::to_owned)));
        assert_eq!(keys(text), Some(expected.to_vec()));
    }

    #[test]
    fn config_that_git_rejects_is_rejected() {
        for text in [
            "a = b",
            "[a",
            "[a \"b]",
            "[a] 1 = 2",
            "[a] b c",
            "[a] b = \"c",
            "[a] b = \\c",
            "[]\na=b",
            "[a \"b\" ]",
            "[a] b = \"c\nd\"",
            "[a]\0",
            "= x",
            "[a_b]\nc=d",
            "[a]\nb = c\rd",
        ] {
            assert_eq!(keys(text), None, "{text:?}");
        }
    }
}
