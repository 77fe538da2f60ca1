//! A shallow look at a shell command: which programs it runs, as far as that is plain to see.
//!
//! It is not a shell parser and never pretends to be: whatever it does not understand makes it
//! answer "unknown", and callers then assume the worst.

/// The simple commands of a line (`a | b && c; d`), each as its words without quotes. `None` if
/// the line has anything whose effect is not plain: substitutions, redirections, jobs, blocks.
pub(crate) fn simple_commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.trim().chars().peekable();
    while let Some(next) = chars.next() {
        match next {
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        quoted => word.push(quoted),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '`' => return None,
                        '$' if chars.peek() == Some(&'(') => return None,
                        '\\' => word.push(chars.next()?),
                        quoted => word.push(quoted),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '`' | '>' | '<' | '(' | ')' | '{' | '}' => return None,
            '$' if matches!(chars.peek(), Some('(' | '{' | '\'')) => return None,
            '#' if word.is_none() => return None,
            '&' => {
                if chars.next() != Some('&') {
                    return None;
                }
                words.extend(word.take());
                end_command(&mut commands, &mut words)?;
            }
            '|' => {
                match chars.peek() {
                    Some('|') => drop(chars.next()),
                    Some('&') => return None,
                    _ => {}
                }
                words.extend(word.take());
                end_command(&mut commands, &mut words)?;
            }
            ';' | '\n' => {
                words.extend(word.take());
                end_command(&mut commands, &mut words)?;
            }
            blank if blank.is_whitespace() => words.extend(word.take()),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    if !words.is_empty() {
        end_command(&mut commands, &mut words)?;
    }
    Some(commands)
}

/// Whether a command only looks: every program in it is known to change nothing with these
/// arguments. Which files it looks at is another question.
pub fn is_read_only_command(line: &str) -> bool {
    simple_commands(line).is_some_and(|commands| commands.iter().all(|words| only_looks(words)))
}

/// Programs that change nothing whatever their arguments are.
const LOOKING: &[&str] = &[
    "[",
    "basename",
    "cat",
    "cd",
    "cmp",
    "cut",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "false",
    "fgrep",
    "file",
    "grep",
    "head",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "sha1sum",
    "sha256sum",
    "sleep",
    "stat",
    "tail",
    "test",
    "tr",
    "true",
    "type",
    "uname",
    "wc",
    "which",
    "whoami",
];

fn only_looks(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return true };
    let has = |options: &[&str]| {
        arguments.iter().any(|argument| options.iter().any(|option| argument.starts_with(option)))
    };
    match program.as_str() {
        "find" => !has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "rg" => !has(&["--pre", "--hostname-bin"]),
        "date" => !has(&["-s", "--set"]),
        "sort" => !has(&["-o", "--output", "--compress-program", "-T", "-S"]),
        "sed" => {
            matches!(arguments, [silent, script, ..] if silent == "-n" && prints_lines(script))
        }
        "git" => match arguments {
            [verb, rest @ ..] => match verb.as_str() {
                "status" => true,
                "log" | "diff" | "show" => {
                    !rest.iter().any(|word| word.starts_with("--output") || word == "--ext-diff")
                }
                "branch" => rest
                    .iter()
                    .all(|word| matches!(word.as_str(), "-a" | "-r" | "-v" | "-vv" | "--list")),
                _ => false,
            },
            [] => true,
        },
        "node" | "python" | "python3" | "cargo" | "rustc" | "npm" => {
            matches!(arguments, [only] if matches!(only.as_str(), "-v" | "-V" | "--version"))
        }
        program => LOOKING.contains(&program),
    }
}

/// A sed script such as `3p` or `10,20p`.
fn prints_lines(script: &str) -> bool {
    script.strip_suffix('p').is_some_and(|range| {
        range.chars().all(|part| part.is_ascii_digit() || matches!(part, ',' | '$'))
    })
}

fn end_command(commands: &mut Vec<Vec<String>>, words: &mut Vec<String>) -> Option<()> {
    // `X=1 cmd` runs cmd in a changed world, and keywords open blocks.
    let first = words.first()?;
    let keyword = matches!(
        first.as_str(),
        "if" | "for" | "while" | "until" | "case" | "function" | "select" | "time" | "!" | "[["
    );
    if keyword || first.contains(['=', '$']) {
        return None;
    }
    commands.push(std::mem::take(words));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::is_read_only_command;

    #[test]
    fn what_only_looks_is_told_from_what_may_change_something() {
        for looking in [
            "ls -la",
            "cat a.txt | grep -n 'x > y' | head -3",
            "git status && git log --oneline",
            "find . -name '*.rs'",
            "sed -n '1,5p' a.txt",
            "echo $HOME",
            "cd src; pwd",
            "node -v",
        ] {
            assert!(is_read_only_command(looking), "{looking}");
        }
        for changing in [
            "touch a",
            "echo x > a",
            "echo $(rm a)",
            "echo \"`rm a`\"",
            "ls & rm a",
            "ls; rm a",
            "ls || rm a",
            "find . -delete",
            "sed -n 'w out' a",
            "git branch -D main",
            "git log --output=x",
            "PATH=. ls",
            "$COMMAND x",
            "date -s now",
            "for f in *; do rm $f; done",
            "'r'm a",
            "ls 'unclosed",
            "diff <(ls) <(rm a)",
        ] {
            assert!(!is_read_only_command(changing), "{changing}");
        }
    }
}
