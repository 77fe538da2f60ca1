//! Commands that run other commands: what `timeout`, `sudo` or `bash -c` carry.

use crate::{
    parser::parse,
    script::{Assignment, Command, Script},
    word::Word,
};

/// How far wrappers inside wrappers are followed.
pub(crate) const MAX_LAYERS: usize = 8;

/// What a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// Nothing that is known of.
    Nothing,
    /// Exactly this command, only later, slower or for a limited time: `timeout 5 …`.
    Same(Command),
    /// These commands, with another environment, user or more arguments: `sudo …`, `xargs …`.
    Others(Vec<Command>),
    /// A command line of its own: `bash -c '…'`.
    Script(Script),
    /// Something that cannot be told.
    Unknown,
}

impl Command {
    /// What this command runs besides itself.
    pub fn carried(&self) -> Carried {
        let Some(name) = self.name() else { return Carried::Nothing };
        let words = &self.words[1..];
        match name.rsplit('/').next().unwrap_or(name) {
            "timeout" => self.same(words, &["k", "s", "kill-after", "signal"], 1),
            "nice" => self.same(words, &["n", "adjustment"], 0),
            "stdbuf" => self.same(words, &["i", "o", "e", "input", "output", "error"], 0),
            "ionice" => self.same(words, &["c", "n", "class", "classdata"], 0),
            "nohup" | "setsid" | "builtin" => self.same(words, &[], 0),
            // `time` stands before a whole pipeline, not only before a simple command.
            "time" if words.iter().any(is_reserved) => Carried::Unknown,
            // The program of that name writes where its options say; the shell's own has only `-p`.
            "time" if words.first().is_some_and(|word| !word.is("-p") && may_be_option(word)) => {
                others(words, &["f", "o", "format", "output"], 0)
            }
            "time" => self.same(words, &[], 0),
            "exec" => self.same(words, &["a"], 0),
            "command" if words.first().is_some_and(|it| it.is("-v") || it.is("-V")) => {
                Carried::Nothing
            }
            "command" => self.same(words, &[], 0),
            "env" => environment(words),
            "sudo" => after_assignments(skip_options(
                words,
                &["u", "g", "C", "D", "h", "p", "R", "r", "T", "t", "U"],
            )),
            "doas" => others(words, &["u", "C"], 0),
            "busybox" | "unshare" | "systemd-run" | "unbuffer" | "caffeinate" => {
                others(words, &[], 0)
            }
            "flock" => others(words, &["w", "E", "timeout"], 1),
            "taskset" | "chrt" => others(words, &[], 1),
            "xargs" => with_input(words),
            "watch" => shell_words(skip_options(words, &["n", "interval"])),
            "strace" | "ltrace" => others(words, &["o", "e", "p", "s", "u", "P", "E"], 0),
            "chroot" => others(words, &["userspec", "groups"], 1),
            "find" => found(words),
            "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "fish" => shell(words),
            "." | "source" => sourced(words),
            // They make a name mean another program, or load code.
            "hash" if words.iter().any(|word| word.raw().starts_with("-p")) => Carried::Unknown,
            "enable" if words.iter().any(|word| word.raw().starts_with("-f")) => Carried::Unknown,
            "git" => aliases(words),
            "su" => shell_option(words),
            "eval" => shell_words(Some(words)),
            "trap" => match words.first().map(Word::literal) {
                Some(Some(text)) if words.len() > 1 => Carried::Script(parse(text)),
                Some(None) => Carried::Unknown,
                _ => Carried::Nothing,
            },
            "parallel" => Carried::Unknown,
            // From here on, other words mean other commands.
            "alias" if words.iter().any(|word| word.raw().contains('=')) => Carried::Unknown,
            _ => Carried::Nothing,
        }
    }

    /// This command, and the same command without each of the wrappers that add nothing to it.
    pub fn unwrapped(&self) -> Vec<Self> {
        let mut found = vec![self.clone()];
        while found.len() <= MAX_LAYERS
            && let Some(outer) = found.last()
            // A program of that name in some directory may be anything.
            && outer.name().is_some_and(|name| !name.contains('/'))
            && let Carried::Same(inner) = outer.carried()
        {
            found.push(inner);
        }
        found
    }

    /// This command and all that it carries, from the outside in; and whether that is all.
    pub fn layers(&self) -> (Vec<Self>, bool) {
        let mut found = Vec::new();
        let complete = collect(self, &mut found, 0);
        (found, complete)
    }

    fn same(&self, words: &[Word], with_value: &[&str], skip: usize) -> Carried {
        match skip_options(words, with_value).and_then(|rest| rest.get(skip..)) {
            Some([]) => Carried::Nothing,
            Some(rest) => Carried::Same(Self { words: rest.to_vec(), ..self.clone() }),
            None => Carried::Unknown,
        }
    }
}

fn collect(command: &Command, found: &mut Vec<Command>, depth: usize) -> bool {
    found.push(command.clone());
    let (inner, complete) = match command.carried() {
        Carried::Nothing => return true,
        Carried::Unknown => return false,
        Carried::Same(inner) => (vec![inner], true),
        Carried::Others(inner) => (inner, true),
        Carried::Script(script) => (script.commands, script.opaque.is_none()),
    };
    if depth == MAX_LAYERS {
        return false;
    }
    inner.iter().fold(complete, |complete, inner| collect(inner, found, depth + 1) && complete)
}

/// Whether a word is an option, or may turn out to be one.
pub(crate) fn may_be_option(word: &Word) -> bool {
    word.literal().is_none_or(|text| text.starts_with('-'))
}

fn is_reserved(word: &Word) -> bool {
    ["!", "{", "if", "while", "until", "for", "[["].iter().any(|reserved| word.raw() == *reserved)
}

/// The words after the options of a wrapper, or `None` if an option is not certain.
fn skip_options<'a>(words: &'a [Word], with_value: &[&str]) -> Option<&'a [Word]> {
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let text = word.literal()?;
        if text == "--" {
            return Some(after);
        }
        if text.len() < 2 || !text.starts_with('-') {
            return Some(rest);
        }
        let takes_next = match text.strip_prefix("--") {
            Some(long) => with_value.contains(&long),
            // A value may be attached (`-k5`); only a letter at the end takes the next word.
            None => {
                let first = text[1..].find(|it: char| with_value.contains(&&*it.to_string()));
                first.is_some_and(|at| text[1 + at..].chars().count() == 1)
            }
        };
        rest = if takes_next { after.get(1..)? } else { after };
    }
    Some(rest)
}

fn others(words: &[Word], with_value: &[&str], skip: usize) -> Carried {
    match skip_options(words, with_value).and_then(|rest| rest.get(skip..)) {
        Some([]) => Carried::Nothing,
        Some(rest) => Carried::Others(vec![Command::of(rest.to_vec())]),
        None => Carried::Unknown,
    }
}

/// `env [-i] [NAME=value…] command`.
fn environment(words: &[Word]) -> Carried {
    let splits = words.iter().filter_map(Word::literal).any(|text| {
        text.starts_with("-S") || text.starts_with("--split") || text.starts_with("-vS")
    });
    after_assignments(skip_options(words, &["u", "C", "unset", "chdir"]).filter(|_| !splits))
}

/// `[NAME=value…] command`, or `None` if it is not certain where that begins.
fn after_assignments(words: Option<&[Word]>) -> Carried {
    let Some(mut rest) = words else { return Carried::Unknown };
    let mut assignments = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        let Some((name, _)) = word.literal().and_then(|text| text.split_once('=')) else { break };
        assignments.push(Assignment { name: name.to_owned(), raw: word.raw().to_owned() });
        rest = after;
    }
    match rest {
        [] => Carried::Nothing,
        [first, ..] if first.literal().is_none() => Carried::Unknown,
        rest => Carried::Others(vec![Command { assignments, ..Command::of(rest.to_vec()) }]),
    }
}

/// The command of `xargs`, with arguments that come from its input.
fn with_input(words: &[Word]) -> Carried {
    const WITH_VALUE: &[&str] = &[
        "I",
        "L",
        "n",
        "P",
        "s",
        "d",
        "E",
        "a",
        "max-args",
        "max-procs",
        "delimiter",
        "arg-file",
        "max-chars",
        "max-lines",
    ];
    match others(words, WITH_VALUE, 0) {
        Carried::Others(mut commands) => {
            let own = words.len() - commands.first().map_or(0, |inner| inner.words.len());
            let replaced = replaced_text(&words[..own]);
            for command in &mut commands {
                match &replaced {
                    Some(text) => obscure(command, text),
                    None => command.words.push(Word::unknown("INPUT")),
                }
            }
            Carried::Others(commands)
        }
        carried => carried,
    }
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
fn found(words: &[Word]) -> Carried {
    let mut commands = Vec::new();
    let mut rest = words;
    while let Some(at) = rest.iter().position(|word| {
        ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|action| word.is(action))
    }) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|word| word.is(";") || word.is("+")).unwrap_or(rest.len());
        let mut command = Command::of(rest[..end].to_vec());
        obscure(&mut command, "{}");
        commands.push(command);
        rest = &rest[end..];
    }
    if commands.is_empty() { Carried::Nothing } else { Carried::Others(commands) }
}

/// `bash [options] -c 'commands'`; a script file is just an argument. Without either, commands come
/// from the input.
fn shell(words: &[Word]) -> Carried {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.literal().filter(|_| !word.is_glob()) else {
            return Carried::Unknown;
        };
        if !text.starts_with(['-', '+']) {
            return script_file(word);
        }
        match text {
            "-" | "--" => {
                return rest.next().map_or(Carried::Unknown, script_file);
            }
            // They take the next word.
            "-O" | "+O" | "-o" | "+o" | "--rcfile" | "--init-file" => {
                rest.next();
            }
            text if !text.starts_with("--") && text.contains('c') => {
                // Options may stand between `-c` and the commands.
                return match command_word(rest.as_slice()) {
                    Some(commands) => script_text(commands),
                    None => Carried::Unknown,
                };
            }
            // Letters that take the next word may stand among others.
            text if !text.starts_with("--") && text[1..].contains(['o', 'O']) => {
                rest.next();
            }
            "--version" | "--help" => return Carried::Nothing,
            _ => {}
        }
    }
    Carried::Unknown
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

fn script_text(word: &Word) -> Carried {
    word.literal().map_or(Carried::Unknown, |text| Carried::Script(parse(text)))
}

/// A script in a file is not read; one that comes through a descriptor is not there yet.
fn script_file(word: &Word) -> Carried {
    match word.literal() {
        Some(text)
            if !word.is_glob() && !text.starts_with("/dev/") && !text.starts_with("/proc/") =>
        {
            Carried::Nothing
        }
        _ => Carried::Unknown,
    }
}

/// `. FILE` and `source FILE`.
fn sourced(words: &[Word]) -> Carried {
    words.iter().find(|word| !word.is("--")).map_or(Carried::Nothing, script_file)
}

/// Configuration on the command line can make a subcommand mean anything.
fn aliases(words: &[Word]) -> Carried {
    const HARMLESS: &[&str] = &["user.", "commit.gpgsign=", "color.", "advice.", "core.pager=cat"];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            None => return Carried::Unknown,
            Some("-C" | "--git-dir" | "--work-tree" | "--namespace") => drop(words.next()),
            Some("-c") => {
                let setting = words.next().and_then(Word::literal).unwrap_or_default();
                if !HARMLESS.iter().any(|known| setting.starts_with(known)) {
                    return Carried::Unknown;
                }
            }
            Some(text) if text.starts_with("--config-env") || text.starts_with("--exec-path=") => {
                return Carried::Unknown;
            }
            Some(text) if text.starts_with('-') => {}
            Some(_) => break,
        }
    }
    Carried::Nothing
}

/// `su user -c 'commands'`.
fn shell_option(words: &[Word]) -> Carried {
    let at = words.iter().position(|word| word.is("-c") || word.is("--command"));
    match at.and_then(|at| words.get(at + 1)).map(Word::literal) {
        Some(Some(text)) => Carried::Script(parse(text)),
        Some(None) => Carried::Unknown,
        None => Carried::Nothing,
    }
}

/// Words that are joined and read by a shell again.
fn shell_words(words: Option<&[Word]>) -> Carried {
    let texts: Option<Vec<&str>> =
        words.and_then(|words| words.iter().map(Word::literal).collect());
    match texts {
        Some(texts) if texts.is_empty() => Carried::Nothing,
        Some(texts) => Carried::Script(parse(&texts.join(" "))),
        None => Carried::Unknown,
    }
}
