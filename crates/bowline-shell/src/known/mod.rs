//! Read-only programs, with the options that keep them harmless.
//!
//! A command is here because all it can do is read and print. Its program, each of its options and
//! each of its operands must be known; anything else makes it unknown, and unknown is not
//! harmless.

mod condition;
mod date;
mod find;
mod git;
mod jq;
mod ps;
mod readers;
mod sed;

pub(crate) use sed::sed_in_place;

use crate::{variables::is_script_variable, word::Word};

/// Files and directories that a read-only command reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reads {
    /// Files it reads, and directories it lists.
    pub(crate) paths: Vec<Word>,
    /// Whether it recurses into directories among them.
    pub(crate) recursive: bool,
    /// Whether a directory among them stands for an unknown file in it, as in `diff DIR FILE`.
    pub(crate) files_only: bool,
}

impl Reads {
    fn nothing() -> Self {
        Self::default()
    }

    fn of(paths: Vec<Word>) -> Self {
        Self { paths, ..Self::default() }
    }

    /// The same, but the current directory if no path is given.
    fn or_here(mut self) -> Self {
        if self.paths.is_empty() {
            self.paths.push(Word::plain("."));
        }
        self
    }
}

/// The files that a command reads, if it is known to do nothing else. Patterns may still match
/// names that look like options: only the disk decides.
pub(crate) fn reads(name: &str, words: &[Word]) -> Option<Reads> {
    match name {
        "git" => git::reads(words),
        "find" => find::reads(words),
        "sed" => sed::reads(words),
        "[[" => condition::double_bracket(words),
        "[" => condition::test(words.strip_suffix(&[Word::plain("]")])?),
        "test" => condition::test(words),
        "date" => date::reads(words),
        "jq" => jq::reads(words),
        "ps" => ps::reads(words),
        "for" => loops_over(words),
        "command" => asks_where(words),
        "hostname" => {
            let known = ["-f", "-s", "-i", "-I", "-d", "-A"];
            let flag = |word: &Word| known.iter().any(|flag| word.is(flag));
            words.iter().all(flag).then(Reads::nothing)
        }
        name if VERSIONED.contains(&name) => asks_version(name, words).then(Reads::nothing),
        name => readers::reads(name, words),
    }
}

/// Whether a program by this name may be among those that only read, whatever its options.
pub(crate) fn is_reader(name: &str) -> bool {
    readers::is_known(name) || matches!(name, "jq" | "date" | "find" | "sed")
}

/// The head of a loop, which is no command but sets a variable.
fn loops_over(words: &[Word]) -> Option<Reads> {
    let (variable, list) = words.split_first()?;
    let own = variable.fixed().is_some_and(is_script_variable);
    own.then(|| Reads::of(list.iter().filter(|word| word.is_glob()).cloned().collect()))
}

/// `command -v NAME`: where a program is.
fn asks_where(words: &[Word]) -> Option<Reads> {
    let (option, names) = words.split_first()?;
    let asks = option.is("-v") || option.is("-V");
    (asks && names.iter().all(|name| name.fixed().is_some())).then(Reads::nothing)
}

/// Programs that only print their version when called with the option for it.
const VERSIONED: &[&str] = &[
    "node", "npm", "yarn", "pnpm", "bun", "deno", "tsc", "python", "python3", "pip", "pip3", "uv",
    "cargo", "rustc", "rustup", "go", "java", "javac", "ruby", "gem", "perl", "php", "docker",
    "kubectl", "make", "cmake", "gcc", "g++", "clang", "bash", "zsh", "curl", "wget",
];

/// Whether a command does nothing but print the version of a program.
pub(crate) fn asks_version(name: &str, words: &[Word]) -> bool {
    let [word] = words else { return false };
    VERSIONED.contains(&name)
        && (word.is("--version")
            || word.is("-v") && matches!(name, "node" | "npm" | "yarn" | "pnpm" | "bun")
            || word.is("version") && name == "go")
}
