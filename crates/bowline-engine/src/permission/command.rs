//! What a command line touches, part by part.

use std::path::{Path, PathBuf};

use bowline_shell::{Command, Script, Touches, Word, parse};

use super::{
    call::ProposedCall, location::Location, policy::Policy, repository, text_pattern::TextPattern,
};

/// In how many directories a command may possibly run before nobody can tell any more.
const MAX_DIRECTORIES: usize = 16;

/// A command line and what it touches.
#[derive(Debug)]
pub(super) struct CommandLine {
    /// The whole line, without space around it.
    pub(super) text: String,
    pub(super) script: Script,
    pub(super) parts: Vec<Part>,
    /// Whether some command may hide from rules: the line is not understood, a name is not
    /// certain, a wrapper carries something unknown.
    pub(super) hides: bool,
}

/// One simple command and what it touches.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) command: Command,
    /// The command and all that it carries.
    layers: Vec<Command>,
    /// What its arguments make it read.
    pub(super) reads: Vec<Place>,
    /// What its arguments make it write.
    pub(super) writes: Vec<Place>,
    /// Where its output is sent.
    pub(super) redirected: Vec<Place>,
    pub(super) is_file_command: bool,
    /// Every file it may possibly read or write, for rules that forbid.
    named: Vec<Location>,
    written: Vec<Location>,
    /// Whether a pattern names more files than anybody looks at.
    names_too_much: bool,
    /// Whether it is `git` where anybody who can write files may have put a repository.
    pub(super) in_bare_repository: bool,
}

/// A file that a word of a command names.
#[derive(Debug)]
pub(super) enum Place {
    /// It is here.
    Known(Location),
    /// Only the running shell can tell.
    Unknown(String),
}

impl CommandLine {
    pub(super) fn read(text: &str, call: &ProposedCall<'_>, policy: &Policy) -> Self {
        let script = parse(text);
        let shell = Shell::new(&script, call.current_directory, policy.roots.home.as_deref());
        let restricted = policy.rules.restricts_files();
        let mut hides = script.opaque.is_some();
        let parts = script
            .commands
            .iter()
            .map(|command| {
                let (layers, complete) = command.layers();
                let nameless = |it: &Command| !it.words.is_empty() && it.name().is_none();
                hides |= !complete || layers.iter().any(nameless);
                let part = shell.part(command, layers, restricted);
                hides |= part.names_too_much;
                part
            })
            .collect();
        Self { text: text.trim().to_owned(), parts, hides, script }
    }

    /// Whether some command in the line, however wrapped, fits a pattern that restricts.
    pub(super) fn mentions(&self, pattern: &TextPattern) -> bool {
        pattern.is_exact() && pattern.matches(&self.text)
            || self.parts.iter().flat_map(|part| &part.layers).any(|it| is_named(it, pattern))
            || self.script.opaque.is_some() && self.pieces().any(|piece| pattern.matches(piece))
    }

    /// Every file the line may possibly read.
    pub(super) fn named_files(&self) -> impl Iterator<Item = &Location> {
        self.parts.iter().flat_map(|part| &part.named)
    }

    /// Every file the line is known to write.
    pub(super) fn written_files(&self) -> impl Iterator<Item = &Location> {
        self.parts.iter().flat_map(|part| &part.written)
    }

    /// What stands between operators in a line that is not understood.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let operator = |it: char| ";|&(){}`\n".contains(it);
        self.text.split(operator).map(|piece| {
            let piece = piece.trim();
            let words = ["then ", "do ", "else ", "if ", "while ", "until ", "! "];
            words.iter().find_map(|word| piece.strip_prefix(word)).unwrap_or(piece).trim()
        })
    }
}

impl Part {
    /// Whether the command, or what a harmless wrapper carries, fits a pattern that allows.
    pub(super) fn fits(&self, pattern: &TextPattern) -> bool {
        self.command.unwrapped().iter().any(|command| fits(command, pattern))
    }
}

fn fits(command: &Command, pattern: &TextPattern) -> bool {
    if command.name().is_none() && !command.words.is_empty() && !pattern.is_exact() {
        return false;
    }
    pattern.matches(&command.text_with_assignments())
        || command.has_harmless_assignments()
            && !command.words.is_empty()
            && pattern.matches(&command.text())
}

/// Whether a command goes by a name that a pattern forbids: as written, without quotes, without
/// the directory of its program, with or without its assignments.
fn is_named(command: &Command, pattern: &TextPattern) -> bool {
    let plain = command.plain_text();
    let program =
        command.name().and_then(|name| name.rsplit_once('/')).map_or(0, |(it, _)| it.len() + 1);
    [&command.text(), &command.text_with_assignments(), &plain[program.min(plain.len())..]]
        .into_iter()
        .any(|text: &str| pattern.matches(text))
        || pattern.matches(&plain)
}

/// Whether a word names the same place wherever the shell is.
fn is_absolute(word: &Word) -> bool {
    word.is_tilde() || word.literal().is_some_and(|text| text.starts_with('/'))
}

/// What is known of the shell that will run a line.
struct Shell<'a> {
    home: Option<&'a Path>,
    /// Where a command may run. `cd` may fail, and loops and functions run out of order, so all
    /// of them are possible for every command. `None` if that cannot be told.
    directories: Option<Vec<PathBuf>>,
    /// Whether some of the line may run more than once.
    repeats: bool,
}

impl<'a> Shell<'a> {
    fn new(script: &Script, current: &Path, home: Option<&'a Path>) -> Self {
        let directories = Some(vec![current.to_owned()]);
        let mut shell = Self { home, directories, repeats: script.repeats };
        for command in script.commands.iter().flat_map(|command| command.layers().0) {
            match command.name() {
                Some("cd") => shell.change_directory(&command),
                Some("pushd" | "popd") => shell.directories = None,
                _ => {}
            }
        }
        shell
    }

    fn change_directory(&mut self, command: &Command) {
        let targets: Vec<Word> = command.touches().reads;
        let mut changed = match targets.first() {
            None => self.home.map(|home| vec![home.to_owned()]),
            Some(word) if word.is_glob() || word.is("-") => None,
            // How often a loop goes down, or up, cannot be told.
            Some(word) if self.repeats && !is_absolute(word) => None,
            Some(word) => self.paths(word),
        };
        self.directories = match (self.directories.take(), &mut changed) {
            (Some(mut known), Some(changed)) => {
                known.append(changed);
                known.dedup();
                (known.len() <= MAX_DIRECTORIES).then_some(known)
            }
            _ => None,
        };
    }

    /// The paths that a word may name.
    fn paths(&self, word: &Word) -> Option<Vec<PathBuf>> {
        let text = word.literal()?;
        if word.is_tilde() {
            let rest = text.strip_prefix('~')?;
            let home = self.home?;
            return match rest.strip_prefix('/') {
                Some(rest) => Some(vec![home.join(rest)]),
                None => rest.is_empty().then(|| vec![home.to_owned()]),
            };
        }
        if text.starts_with('/') {
            return Some(vec![PathBuf::from(text)]);
        }
        Some(self.directories.as_ref()?.iter().map(|it| it.join(text)).collect())
    }

    fn places(&self, words: &[Word]) -> Vec<Place> {
        words
            .iter()
            .flat_map(|word| match self.paths(word) {
                Some(paths) => paths.iter().map(|path| Place::Known(Location::of(path))).collect(),
                None => vec![Place::Unknown(word.raw().to_owned())],
            })
            .collect()
    }

    /// Like [`places`](Self::places), and what patterns name: a symlink among it may lead anywhere.
    fn read_places(&self, words: &[Word]) -> Vec<Place> {
        let mut places = self.places(words);
        for word in words.iter().filter(|word| word.is_glob()) {
            for path in self.paths(word).unwrap_or_default() {
                match Location::expand(&path) {
                    Some(named) => places.extend(named.into_iter().map(Place::Known)),
                    None => places.push(Place::Unknown(word.raw().to_owned())),
                }
            }
        }
        places
    }

    /// Like [`places`](Self::places), but a pattern that goes on behind a directory may lead
    /// anywhere through a symlink.
    fn written_places(&self, words: &[Word]) -> Vec<Place> {
        let (wild, tame): (Vec<Word>, Vec<Word>) = words.iter().cloned().partition(|word| {
            let text = word.literal().unwrap_or_default();
            word.is_glob() && text.find(['*', '?', '[']).is_some_and(|at| text[at..].contains('/'))
        });
        let mut places = self.places(&tame);
        places.extend(wild.iter().map(|word| Place::Unknown(word.raw().to_owned())));
        places
    }

    /// Whether a `git` would find a bare repository where it runs, or where `-C` sends it.
    fn meets_bare_repository(&self, command: &Command, read: &[Place]) -> bool {
        if !command.unwrapped().iter().any(|it| it.name() == Some("git")) {
            return false;
        }
        let given = read.iter().filter_map(|place| match place {
            Place::Known(location) => Some(location.real()),
            Place::Unknown(_) => None,
        });
        let runs_in = self.directories.iter().flatten().map(PathBuf::as_path);
        runs_in.chain(given).any(|it| repository::examine(it).is_err())
    }

    fn part(&self, command: &Command, layers: Vec<Command>, restricted: bool) -> Part {
        let arguments = Command { redirections: Vec::new(), ..command.clone() };
        let streams = Command { redirections: command.redirections.clone(), ..Command::default() };
        let Touches { reads, writes, is_file_command } = arguments.touches();
        let streams = streams.touches();
        let mut read = self.read_places(&reads);
        read.extend(self.read_places(&streams.reads));
        let mut names_too_much = false;
        let mut known = |words: Vec<Word>| -> Vec<Location> {
            let mut found = Vec::new();
            for word in &words {
                for path in self.paths(word).unwrap_or_default() {
                    found.push(Location::of(&path));
                    if restricted && word.is_glob() {
                        let expanded = Location::expand(&path);
                        names_too_much |= expanded.is_none();
                        found.extend(expanded.unwrap_or_default());
                    }
                }
            }
            found
        };
        let mut named = Vec::new();
        let mut written = Vec::new();
        for layer in &layers {
            let touched = layer.touches();
            written.extend(known(touched.writes));
            if restricted {
                named.extend(known(touched.reads));
                named.extend(known(layer.path_like_words()));
            }
        }
        Part {
            in_bare_repository: self.meets_bare_repository(command, &read),
            command: command.clone(),
            layers,
            reads: read,
            writes: self.written_places(&writes),
            redirected: self.written_places(&streams.writes),
            is_file_command,
            named,
            written,
            names_too_much,
        }
    }
}
