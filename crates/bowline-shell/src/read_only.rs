//! Which commands are known to change nothing.
//!
//! A command is in the table because all it can do is read and print, save for the
//! options refused beside it. What is not in the table is not read-only.

use crate::{
    carried::{Carried, MAX_LAYERS},
    files::Reader,
    git,
    options::Arguments,
    script::{Command, Script},
    sed,
    word::Word,
};

/// Programs whose version is a harmless question.
const VERSIONED: &[&str] = &[
    "node", "npm", "yarn", "pnpm", "bun", "deno", "tsc", "python", "python3", "pip", "pip3", "uv",
    "cargo", "rustc", "rustup", "go", "java", "javac", "ruby", "gem", "perl", "php", "docker",
    "kubectl", "make", "cmake", "gcc", "g++", "clang", "bash", "zsh", "curl", "wget",
];

impl Script {
    /// Whether the script only reads: see [`is_read_only`](crate::is_read_only).
    pub fn is_read_only(&self) -> bool {
        self.opaque.is_none() && self.commands.iter().all(Command::is_read_only)
    }
}

impl Command {
    /// Whether this command is known to change nothing, and its output goes to no file.
    ///
    /// Commands in its substitutions are commands of their own: ask each of them.
    pub fn is_read_only(&self) -> bool {
        self.touches().writes.is_empty() && self.runs_read_only()
    }

    /// The same, wherever its output goes.
    pub fn runs_read_only(&self) -> bool {
        self.only_reads(0)
    }

    fn only_reads(&self, depth: usize) -> bool {
        if self.words.is_empty() {
            return self.assignments.iter().all(|it| is_harmless_variable(&it.name));
        }
        if !self.assignments.iter().all(|it| is_harmless_setting(&it.name)) {
            return false;
        }
        let Some(name) = self.name() else { return false };
        let words = &self.words[1..];
        match name {
            "git" => git::looks_at(words).is_some(),
            "find" => find_only_looks(words),
            "sed" => sed_files(words, Edits::Never).is_some(),
            "[[" | "[" | "test" => condition_only_looks(words),
            "date" => {
                // A file of dates is shown in complaints about those that are none.
                const REFUSED: &[&str] = &["-s", "--set", "-f", "--file"];
                let arguments =
                    Arguments::sort(words, &["d", "date", "f", "file", "r", "reference"]);
                let formats = |word: &Word| word.literal().is_some_and(|it| it.starts_with('+'));
                !arguments.has_any(REFUSED) && arguments.positionals.iter().all(formats)
            }
            "jq" => jq_only_looks(words),
            // `ps e` shows the environment of everything that runs.
            "ps" => words.iter().all(|word| {
                word.literal().is_some_and(|it| it.starts_with('-') || !it.contains(['e', 'E']))
            }),
            "uniq" => Arguments::sort(words, &["f", "s", "w"]).positionals.len() < 2,
            "hostname" => words.iter().all(|word| word.is("-f") || word.is("-s") || word.is("-i")),
            "command" if words.first().is_some_and(|it| it.is("-v") || it.is("-V")) => true,
            name if VERSIONED.contains(&name) => asks_version(name, words),
            name => match Reader::named(name) {
                Some(reader) => {
                    let arguments = Arguments::sort(words, reader.with_value);
                    let harmless = reader.refused.is_empty()
                        || !(arguments.uncertain || arguments.has_any(reader.refused));
                    harmless && !arguments.has_any(reader.follows)
                }
                None => self.carries_read_only(name, depth),
            },
        }
    }

    /// Whether it is a wrapper that adds nothing to a command that only reads.
    fn carries_read_only(&self, name: &str, depth: usize) -> bool {
        // `nohup` may write a file and is not here.
        let plain = matches!(name, "timeout" | "nice" | "stdbuf" | "command" | "time");
        match self.carried() {
            Carried::Same(inner) if plain && depth < MAX_LAYERS => inner.only_reads(depth + 1),
            _ => false,
        }
    }
}

fn asks_version(name: &str, words: &[Word]) -> bool {
    let [word] = words else { return false };
    word.is("--version")
        || word.is("-v") && matches!(name, "node" | "npm" | "yarn" | "pnpm" | "bun")
        || word.is("version") && name == "go"
}

/// A variable of the script's own. Those that shells and programs act upon are in capitals.
pub(crate) fn is_harmless_variable(name: &str) -> bool {
    !name.contains(|letter: char| letter.is_ascii_uppercase())
}

/// A variable that everybody has, and in which nobody keeps a secret.
fn is_public_variable(name: &str) -> bool {
    const PUBLIC: &[&str] = &[
        "BASH_VERSION",
        "COLUMNS",
        "EUID",
        "HOME",
        "HOSTNAME",
        "IFS",
        "LINENO",
        "LINES",
        "LOGNAME",
        "OLDPWD",
        "OSTYPE",
        "PATH",
        "PPID",
        "PWD",
        "RANDOM",
        "SECONDS",
        "SHELL",
        "SHLVL",
        "TMPDIR",
        "UID",
        "USER",
    ];
    is_harmless_variable(name) || is_harmless_setting(name) || PUBLIC.contains(&name)
}

impl Script {
    /// A variable of the environment whose value it shows to whoever reads its output, and which may
    /// be a secret.
    pub fn secret_variable(&self) -> Option<&str> {
        self.variables.iter().map(String::as_str).find(|name| !is_public_variable(name))
    }
}

/// A variable that changes how a program prints, not what it runs.
pub(crate) fn is_harmless_setting(name: &str) -> bool {
    const SETTINGS: &[&str] = &[
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "CI",
        "DEBUG",
        "NODE_ENV",
        "RUST_LOG",
        "RUST_BACKTRACE",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "CARGO_TERM_COLOR",
        "GOOS",
        "GOARCH",
        "CGO_ENABLED",
    ];
    SETTINGS.contains(&name) || name.starts_with("LC_")
}

impl Command {
    /// Whether its assignments cannot change what it runs, so that it may be judged without them.
    pub fn has_harmless_assignments(&self) -> bool {
        self.assignments.iter().all(|assignment| is_harmless_setting(&assignment.name))
    }
}

fn find_only_looks(words: &[Word]) -> bool {
    const ACTIONS: &[&str] = &[
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-fprint",
        "-fprint0",
        "-fprintf",
        "-fls",
        "-files0-from",
        // What follows it is no path, so that nobody could tell where paths begin.
        "-D",
        // Links lead anywhere.
        "-L",
        "-follow",
    ];
    // A pattern that begins a word may match a file named like an action.
    words.iter().all(|word| {
        word.literal().is_some_and(|text| {
            let may_match_action = word.is_glob() && text.starts_with(['*', '?', '[']);
            !ACTIONS.contains(&text) && !may_match_action
        })
    })
}

/// Programs of `jq` can read the environment, and files that its options name.
fn jq_only_looks(words: &[Word]) -> bool {
    const REFUSED: &[&str] =
        &["-f", "--from-file", "--rawfile", "--slurpfile", "-L", "--library-path", "--run-tests"];
    let reads_environment = |word: &Word| {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        word.literal().is_none_or(|text| {
            text.split(|letter| !is_name(letter)).any(|name| matches!(name, "env" | "ENV"))
        })
    };
    let arguments = Arguments::sort(words, &[]);
    !arguments.has_any(REFUSED) && !words.iter().any(reads_environment)
}

fn condition_only_looks(words: &[Word]) -> bool {
    const ARITHMETIC: &[&str] = &["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    // Subscripts inside the operands of these are evaluated, commands included.
    let evaluates = words.iter().any(|word| ARITHMETIC.iter().any(|operator| word.is(operator)));
    !evaluates
        || words.iter().all(|word| {
            word.literal().is_some_and(|text| !text.contains(['[', '$', '`']) || text.len() < 3)
        })
}

/// Whether `sed` may change its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edits {
    /// It must not.
    Never,
    /// It must: `-i`.
    InPlace,
}

/// The files of a `sed` that only prints and substitutes.
pub(crate) fn sed_files(words: &[Word], edits: Edits) -> Option<Vec<Word>> {
    const PLAIN: &[&str] = &[
        "-n",
        "-E",
        "-r",
        "-e",
        "-s",
        "-u",
        "-z",
        "--quiet",
        "--silent",
        "--regexp-extended",
        "--expression",
    ];
    // `-i` may have a suffix attached, which is no list of options.
    let in_place = |word: &Word| {
        word.literal().is_some_and(|it| it.starts_with("-i") || it.starts_with("--in-place"))
    };
    let edited = words.iter().any(in_place);
    if edited != (edits == Edits::InPlace) {
        return None;
    }
    let rest: Vec<Word> = words.iter().filter(|word| !in_place(word)).cloned().collect();
    let mut arguments = Arguments::sort(&rest, &["e", "expression"]);
    if arguments.uncertain || !arguments.has_only(PLAIN) {
        return None;
    }
    let mut scripts: Vec<Word> = arguments.values(&["-e", "--expression"]).cloned().collect();
    if scripts.is_empty() {
        if arguments.positionals.is_empty() {
            return None;
        }
        scripts.push(arguments.positionals.remove(0));
    }
    let plain = |script: &Word| script.literal().is_some_and(sed::is_plain) && !script.is_tilde();
    scripts.iter().all(plain).then_some(arguments.positionals)
}
