//! Knowledge of the shell that will run a line: its possible directories, and what words name there.

use std::path::{Path, PathBuf};

use bowline_shell::{Command, Script, Word};

use super::{glob_expansion::expand, location::Location, word_path::WordPath};

/// In how many directories a command may possibly run before the directory is unknown.
const MAX_DIRECTORIES: usize = 16;

/// What is known of the shell that will run a line.
#[derive(Clone)]
pub(super) struct ShellState<'a> {
    home: Option<&'a Path>,
    /// Where a command may run. `cd` may fail, and loops and functions run out of order, so all
    /// of them are possible for every command. `None` if that is unknown.
    directories: Option<Vec<PathBuf>>,
    /// Whether some of the line may run more than once.
    repeats: bool,
    /// Whether patterns mean what they mean by default.
    keeps_options: bool,
}

impl<'a> ShellState<'a> {
    /// The shell as it begins.
    fn initial(script: &Script, current: &Path, home: Option<&'a Path>) -> Self {
        let all = || script.commands.iter().flat_map(|command| command.layers().0);
        Self {
            home,
            directories: Some(vec![current.to_owned()]),
            repeats: script.repeats,
            keeps_options: !all().any(|command| changes_options(&command)),
        }
    }

    /// The shell in which each command of a script runs, in their order.
    pub(super) fn of_each(script: &Script, current: &Path, home: Option<&'a Path>) -> Vec<Self> {
        let initial = Self::initial(script, current, home);
        let mut later = initial.clone();
        let mut commands = script.commands.as_slice();
        // A `cd` that comes first and succeeds decides where all others run.
        if let [first, rest @ ..] = commands
            && script.begins_alone
            && !script.repeats
            && first.name() == Some("cd")
            && let Some(targets) = later.changed_by(first)
            && targets.iter().all(|target| target.is_dir())
        {
            later.directories = Some(targets);
            commands = rest;
        }
        for command in commands.iter().flat_map(|command| command.layers().0) {
            match command.name() {
                Some("cd") => later.change_directory(&command),
                Some("pushd" | "popd") => later.directories = None,
                _ => {}
            }
        }
        let first = if commands.len() < script.commands.len() { initial } else { later.clone() };
        std::iter::once(first)
            .chain(std::iter::repeat_n(later, script.commands.len().saturating_sub(1)))
            .collect()
    }

    /// Where a command may run, if that is known.
    pub(super) fn directories(&self) -> Option<&[PathBuf]> {
        self.directories.as_deref()
    }

    /// The directories that a `cd` leads to, if they are known.
    fn changed_by(&self, command: &Command) -> Option<Vec<PathBuf>> {
        let access = command.file_access();
        match access.reads.as_slice() {
            // How often a loop goes down, or up, is unknown.
            [word] if access.complete && (is_absolute(word) || !self.repeats) => self.targets(word),
            _ => None,
        }
    }

    fn change_directory(&mut self, command: &Command) {
        self.directories = match (self.changed_by(command), self.directories.take()) {
            (Some(changed), Some(mut known)) => {
                known.extend(changed);
                known.sort();
                known.dedup();
                (known.len() <= MAX_DIRECTORIES).then_some(known)
            }
            _ => None,
        };
    }

    /// The directories that `cd` may go to. It takes `..` back by name, the kernel by where links
    /// lead, and which of the two happens depends on the shell's options.
    fn targets(&self, word: &Word) -> Option<Vec<PathBuf>> {
        if word.is_glob() || word.is("-") {
            return None;
        }
        let locations = self.paths(word)?.into_iter().map(|path| Location::of(&path));
        Some(locations.flat_map(|it| it.paths().map(Path::to_owned)).collect())
    }

    /// The paths that a word without patterns may name.
    fn paths(&self, word: &Word) -> Option<Vec<PathBuf>> {
        let text = word.literal()?;
        if word.is_tilde() {
            let rest = text.strip_prefix('~')?;
            let home = self.home?;
            return match rest.strip_prefix('/') {
                Some(rest) => Some(vec![home.join(rest.trim_start_matches('/'))]),
                None => rest.is_empty().then(|| vec![home.to_owned()]),
            };
        }
        // These depend on the process that opens them.
        if text.starts_with("/proc/") || text.starts_with("/dev/fd") {
            let fixed = text.strip_prefix("/proc/").is_some_and(is_plain_proc_file);
            return fixed.then(|| vec![PathBuf::from(text)]);
        }
        if text.starts_with('/') {
            return Some(vec![PathBuf::from(text)]);
        }
        Some(self.directories.as_ref()?.iter().map(|it| it.join(text)).collect())
    }

    /// What words name. Patterns name what they match, and themselves if that is nothing.
    pub(super) fn word_paths(&self, words: &[Word]) -> Vec<WordPath> {
        words.iter().flat_map(|word| self.word_paths_of(word)).collect()
    }

    fn word_paths_of(&self, word: &Word) -> Vec<WordPath> {
        let unknown = || vec![WordPath::Unknown(word.raw().to_owned())];
        let Some(mut paths) = self.paths(word) else { return unknown() };
        if word.is_glob() {
            match self.matching(word) {
                Some(matching) => paths.extend(matching),
                None => return unknown(),
            }
        }
        paths.iter().map(|path| WordPath::Known(Location::of(path))).collect()
    }

    /// The files that a pattern matches, unless one of them would be taken for an option.
    fn matching(&self, word: &Word) -> Option<Vec<PathBuf>> {
        let mut pattern = word.pattern().filter(|_| self.keeps_options)?;
        let bases = if word.is_tilde() {
            // `~/…`: what stands before the first slash is the home directory.
            pattern.components.remove(0);
            vec![self.home?.to_owned()]
        } else {
            self.directories.clone()?
        };
        let mut found = Vec::new();
        for base in &bases {
            let matching = expand(base, &pattern)?;
            let like_option = |path: &PathBuf| {
                path.strip_prefix(base).is_ok_and(|it| it.to_string_lossy().starts_with('-'))
            };
            if pattern.may_match_option() && matching.iter().any(like_option) {
                return None;
            }
            found.extend(matching);
        }
        Some(found)
    }
}

/// Whether a command may change what patterns match: hidden files, folders below, extended forms.
fn changes_options(command: &Command) -> bool {
    let sets = |word: &Word| {
        word.literal().is_none_or(|text| text.starts_with(['-', '+']) && text.contains('O'))
    };
    match command.name() {
        Some("shopt") => true,
        Some("bash" | "sh") => command.words.iter().skip(1).any(sets),
        Some("zsh" | "fish" | "ksh") => true,
        _ => command
            .assignments
            .iter()
            .any(|it| matches!(it.name.as_str(), "GLOBIGNORE" | "BASHOPTS")),
    }
}

/// Whether a word names the same path wherever the shell is.
fn is_absolute(word: &Word) -> bool {
    word.is_tilde() || word.literal().is_some_and(|text| text.starts_with('/'))
}

/// Whether a path below `/proc` is about the machine, not about a process.
fn is_plain_proc_file(below: &str) -> bool {
    const FILES: &[&str] =
        &["cpuinfo", "meminfo", "version", "uptime", "loadavg", "stat", "filesystems"];
    FILES.contains(&below)
}
