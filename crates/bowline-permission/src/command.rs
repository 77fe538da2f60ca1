//! Paths and programs that a command line touches, part by part.

use bowline_protocol::PermissionBehavior;
use bowline_shell::{Command, FileAccess, Script, Word, parse};

use super::{
    call::ProposedCall,
    folder_contents::FolderContents,
    git_unnamed_contents,
    location::Location,
    path_pattern::PathPattern,
    policy::Policy,
    repository::{self, tracked_from},
    shell_state::ShellState,
    text_pattern::TextPattern,
    transfer_targets::transfer_targets,
    version_file,
    word_path::WordPath,
};

/// How many files below folders are looked at for one command before the rest is unknown.
const MAX_WALKED: usize = 50_000;

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
    /// Whether some file may hide from rules: a word is not certain, a folder holds too much.
    pub(super) hides_files: bool,
}

/// One simple command and what it touches.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) command: Command,
    /// The command and all that it carries.
    layers: Vec<Command>,
    /// What its arguments make it read.
    pub(super) reads: Vec<WordPath>,
    /// What its arguments make it write.
    pub(super) writes: Vec<WordPath>,
    /// Where its output is sent.
    pub(super) redirected: Vec<WordPath>,
    pub(super) is_file_command: bool,
    /// Whether what it writes is named by a pattern.
    pub(super) writes_pattern: bool,
    /// Whether it may put links, or what had another name, where it writes.
    pub(super) moves: bool,
    /// Every file it may possibly read or write, for rules that forbid.
    named: Vec<Location>,
    written: Vec<Location>,
    /// The folders that it reads or changes as a whole.
    walked: Vec<FolderContents>,
    /// Whether it asks a program for its version where the project says which program that is.
    pub(super) runs_projects_version: bool,
    /// What the repositories make `git` run, if it is `git`.
    pub(super) repositories: Repositories,
}

/// What the rest of a line means for each of its parts.
#[derive(Debug, Clone, Copy)]
struct Surroundings {
    /// Whether a variable may hold a pattern.
    keeps_patterns: bool,
    /// Whether there are other commands.
    in_company: bool,
}

/// What a part may possibly touch, for rules that forbid.
#[derive(Debug, Default)]
struct Possible {
    named: Vec<Location>,
    written: Vec<Location>,
    walked: Vec<FolderContents>,
    unknown: bool,
}

impl CommandLine {
    pub(super) fn read(text: &str, call: &ProposedCall<'_>, policy: &Policy) -> Self {
        let script = parse(text);
        let home = policy.roots.home.as_deref();
        let shells = ShellState::of_each(&script, call.current_directory, home);
        let restricted = policy.rules.restricts_files();
        let surroundings = Surroundings {
            keeps_patterns: script.keeps_patterns(),
            in_company: script.commands.len() > 1,
        };
        let mut hides = script.opaque.is_some();
        let mut hides_files = hides;
        let parts = script
            .commands
            .iter()
            .zip(&shells)
            .map(|(command, shell)| {
                let (layers, complete) = command.layers();
                let nameless = |it: &Command| !it.words.is_empty() && it.name().is_none();
                hides |= !complete || layers.iter().any(nameless);
                let mut part = Part::new(command, layers, shell, surroundings);
                let Possible { named, written, walked, unknown } = match restricted {
                    true => part.possible(shell, policy),
                    false => part.surely_written(shell),
                };
                hides_files |= restricted && unknown;
                (part.named, part.written, part.walked) = (named, written, walked);
                part
            })
            .collect();
        Self { text: text.trim().to_owned(), parts, hides, hides_files, script }
    }

    /// Whether some command in the line, however wrapped, fits a pattern that restricts.
    pub(super) fn mentions(&self, pattern: &TextPattern) -> bool {
        pattern.is_exact() && pattern.matches(&self.text)
            || self.parts.iter().flat_map(|part| &part.layers).any(|it| is_named(it, pattern))
            || self.script.opaque.is_some() && self.pieces().any(|piece| pattern.matches(piece))
    }

    /// Whether the line may read a file that a pattern names, or a folder that holds such files.
    pub(super) fn may_read(&self, pattern: &PathPattern) -> bool {
        self.parts.iter().any(|part| {
            part.named.iter().any(|location| pattern.touches_or_fills(location))
                || part.walked.iter().any(|folder| folder.contains(pattern))
        })
    }

    /// Whether the line is known to change a file that a pattern names, or a folder that holds such
    /// files.
    pub(super) fn changes(&self, pattern: &PathPattern) -> bool {
        self.parts.iter().any(|part| {
            part.written.iter().any(|location| pattern.touches_or_fills(location))
                || part.is_file_command && part.walked.iter().any(|folder| folder.contains(pattern))
        })
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
    fn new(
        command: &Command,
        layers: Vec<Command>,
        shell: &ShellState<'_>,
        surroundings: Surroundings,
    ) -> Self {
        let arguments = Command { redirections: Vec::new(), ..command.clone() };
        let streams = Command { redirections: command.redirections.clone(), ..Command::default() };
        let FileAccess { reads, writes, is_file_command, files_only, moves, transfer, .. } =
            arguments.file_access();
        let streams = streams.file_access();
        let mut read = shell.word_paths(&reads);
        if files_only {
            // `diff DIR FILE` reads a file in the folder, which may be a link.
            for path in &mut read {
                if path.location().is_some_and(|location| location.real().is_dir()) {
                    let named = path.location().map(|it| it.named().display().to_string());
                    *path = WordPath::Unknown(named.unwrap_or_default());
                }
            }
        }
        // A value with a pattern in it names files once it is expanded without quotes.
        let expanded = |word: &&Word| {
            // `${x:?}` ends the shell if there is no value; any other mark is a pattern in a default.
            let raw = word.raw().replace(":?", "");
            let has_default = raw.contains("${") && raw.contains(['*', '?', '[']);
            word.literal().is_none()
                && word.may_split()
                && (surroundings.keeps_patterns || has_default)
        };
        let words = command.words.iter().filter(expanded);
        read.extend(words.map(|word| WordPath::Unknown(word.raw().to_owned())));
        let repositories = repositories(command, shell, &read);
        read.extend(shell.word_paths(&streams.reads));
        let mut write = shell.word_paths(&writes);
        let transferred =
            transfer.iter().flat_map(|it| transfer_targets(it, shell, surroundings.in_company));
        write.extend(transferred);
        Self {
            runs_projects_version: version_file::decides(command, shell),
            repositories,
            command: command.clone(),
            layers,
            reads: read,
            writes_pattern: writes.iter().any(Word::may_split),
            writes: write,
            redirected: redirected(shell, &streams.writes),
            is_file_command,
            moves,
            named: Vec::new(),
            written: Vec::new(),
            walked: Vec::new(),
        }
    }

    /// Whether the command, or what a harmless wrapper carries, fits a pattern that allows.
    pub(super) fn fits(&self, pattern: &TextPattern) -> bool {
        self.command.unwrapped().iter().any(|command| fits(command, pattern))
    }

    /// What is certainly written, for the files that are always asked about.
    fn surely_written(&self, shell: &ShellState<'_>) -> Possible {
        let carried = self.layers.iter().skip(1);
        let carried = carried.flat_map(|layer| shell.word_paths(&layer.file_access().writes));
        let own = self.writes.iter().chain(&self.redirected).cloned();
        let written = own.chain(carried).filter_map(|path| path.location().cloned()).collect();
        Possible { written, ..Possible::default() }
    }

    /// Everything that the command and what it carries may touch. Unknown paths set `unknown`.
    fn possible(&self, shell: &ShellState<'_>, policy: &Policy) -> Possible {
        let mut found = Possible::default();
        found.written = found.known(self.writes.clone());
        for layer in &self.layers {
            let access = layer.file_access();
            let written = found.known(shell.word_paths(&access.writes));
            let mut named = found.known(shell.word_paths(&access.reads));
            let words = layer.path_like_words();
            if access.complete {
                // The program is known: an undecidable word names no file, unless it is
                // among those above.
                let certain: Vec<Word> =
                    words.into_iter().filter(|word| word.literal().is_some()).collect();
                named.extend(
                    shell.word_paths(&certain).iter().filter_map(WordPath::location).cloned(),
                );
            } else {
                named.extend(found.known(shell.word_paths(&words)));
            }
            if git_unnamed_contents::shows_unnamed(layer, shell) {
                match git_unnamed_contents::directories(layer, shell) {
                    Some(directories) => {
                        found.walked.extend(directories.iter().filter_map(|it| tracked_from(it)));
                    }
                    None => found.unknown = true,
                }
            }
            if access.recursive {
                for location in named.iter().chain(&written) {
                    // A pattern may name thousands of folders: there is one limit for all.
                    if found.walked.iter().map(FolderContents::len).sum::<usize>() > MAX_WALKED {
                        found.unknown = true;
                        break;
                    }
                    found.walked.extend(FolderContents::list(location));
                }
            } else if !access.complete && layer.name() != Some("git") {
                // What an unknown program does with a folder is unknown, unless a rule vouches
                // for the program.
                let vouched = self.is_vouched_for(policy);
                let mut folders = named.iter().filter_map(FolderContents::list);
                found.unknown |= !vouched
                    && folders.any(|folder| !folder.is_complete() || is_denied(policy, &folder));
            }
            found.named.append(&mut named);
            found.written.extend(written);
        }
        found.unknown |= found.walked.iter().any(|folder| !folder.is_complete());
        found
    }

    /// Whether an allow rule names this command, rather than every command.
    fn is_vouched_for(&self, policy: &Policy) -> bool {
        let mut allowed = policy.rules.allowed_commands();
        allowed.any(|(pattern, _)| self.fits(pattern) && !pattern.matches("\u{0}"))
    }
}

impl Possible {
    /// The known ones among paths; sets `unknown` if there are others.
    fn known(&mut self, paths: Vec<WordPath>) -> Vec<Location> {
        let count = paths.len();
        let known: Vec<Location> = paths.iter().filter_map(WordPath::location).cloned().collect();
        self.unknown |= known.len() < count;
        known
    }
}

/// Targets of redirected output. A pattern there is never expanded.
fn redirected(shell: &ShellState<'_>, targets: &[Word]) -> Vec<WordPath> {
    let path = |word: &Word| match word.may_split() {
        true => vec![WordPath::Unknown(word.raw().to_owned())],
        false => shell.word_paths(std::slice::from_ref(word)),
    };
    targets.iter().flat_map(path).collect()
}

/// Whether a rule that restricts files names something below a folder.
fn is_denied(policy: &Policy, folder: &FolderContents) -> bool {
    [PermissionBehavior::Deny, PermissionBehavior::Ask]
        .iter()
        .any(|behavior| policy.rules.file_patterns(behavior).any(|it| folder.contains(it)))
}

/// How `git` in a command finds the repositories that it meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repositories {
    /// It is not `git`, or they run nothing.
    Harmless,
    /// They run nothing in the environment of a command that runs unasked.
    Quiet,
    /// They may run programs, or are unknown, for this reason.
    Hostile(String),
}

fn repositories(command: &Command, shell: &ShellState<'_>, read: &[WordPath]) -> Repositories {
    if !command.unwrapped().iter().any(|it| it.name() == Some("git")) {
        return Repositories::Harmless;
    }
    let Some(directories) = shell.directories() else {
        return Repositories::Hostile("Only the running shell knows where git runs".to_owned());
    };
    let given = read.iter().filter_map(WordPath::location).map(Location::real);
    let mut found = Repositories::Harmless;
    for directory in directories.iter().map(|it| it.as_path()).chain(given) {
        match repository::examine(directory) {
            Err(doubt) => return Repositories::Hostile(doubt.to_string()),
            Ok(harmless) if harmless.relies_on_environment => found = Repositories::Quiet,
            Ok(_) => {}
        }
    }
    found
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
