//! Files that a command reads and writes, as far as its arguments show.

use crate::{
    file_commands::{self, FileCommand, Transfer},
    known,
    script::{Command, RedirectionKind},
    word::Word,
};

/// The files that a command reads and writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileAccess {
    /// What it reads: files, or directories it lists.
    pub reads: Vec<Word>,
    /// What it creates, changes or removes.
    pub writes: Vec<Word>,
    /// Whether it recurses into directories among them.
    pub recursive: bool,
    /// Whether a directory among `reads` stands for an unknown file in it, as in `diff DIR FILE`.
    pub files_only: bool,
    /// Whether it is a simple file command (`mkdir`, `touch`, `rm`, `rmdir`, `mv`, `cp`, `sed -i`),
    /// which does nothing but that.
    pub is_file_command: bool,
    /// Whether it may create links or rename files at its targets, so that checked paths change
    /// their meaning.
    pub moves: bool,
    /// Sources and target of a copy or move. What is written then depends on whether the target is
    /// a folder.
    pub transfer: Option<Transfer>,
    /// Whether the lists are exhaustive, because the program and all its options are known.
    pub complete: bool,
}

impl Command {
    /// The files that this command itself reads and writes, without those of its
    /// [nested commands](Self::nested) and substitutions.
    pub fn file_access(&self) -> FileAccess {
        // A wrapper that adds nothing reads and writes what the command in it does.
        let mut access = match self.unwrapped().pop() {
            Some(innermost) => innermost.access_of_arguments(),
            None => self.access_of_arguments(),
        };
        for redirection in &self.redirections {
            let target = &redirection.target;
            match redirection.kind {
                RedirectionKind::Read => access.reads.push(target.clone()),
                RedirectionKind::Write if !is_sink(target) => access.writes.push(target.clone()),
                RedirectionKind::Duplicate if !is_descriptor(target) && !is_sink(target) => {
                    access.writes.push(target.clone());
                }
                _ => {}
            }
        }
        access
    }

    /// Every part of an argument that may name a file, whatever the command does with it: whole words,
    /// the text after and between delimiters such as `=` or `@`, and the text after the letters of
    /// short options. Words with expansions are included.
    pub fn path_like_words(&self) -> Vec<Word> {
        const DELIMITERS: &str = "=@:,;<>{}()[]\"'`&?#| \n";
        const MAX_SHORT_OPTIONS: usize = 16;
        // A word with more is unknown, because each delimiter adds a candidate.
        const MAX_DELIMITERS: usize = 256;
        let mut found = Vec::new();
        for (at, word) in self.words.iter().enumerate().skip(1) {
            if self.is_text(at) {
                continue;
            }
            let Some(text) = word.literal() else {
                found.push(word.clone());
                continue;
            };
            let is_delimiter = |letter: char| DELIMITERS.contains(letter);
            if text.matches(is_delimiter).count() > MAX_DELIMITERS {
                found.push(Word::unknown(word.raw()));
                continue;
            }
            let starts = text.match_indices(is_delimiter).map(|(at, found)| at + found.len());
            let tails = starts.filter_map(|from| word.tail(from));
            found.extend(tails.filter(|tail| tail.literal() != Some("")));
            if text.contains(is_delimiter) {
                let pieces = text.split(is_delimiter).filter(|piece| !piece.is_empty());
                found.extend(pieces.map(Word::plain));
            }
            if text.starts_with('-') && !text.starts_with("--") {
                let letters = text.char_indices().skip(2).take(MAX_SHORT_OPTIONS);
                found.extend(letters.filter_map(|(from, _)| word.tail(from)));
            }
            found.push(word.clone());
        }
        found
    }

    /// Whether the word at this position is the text of a message, which names no file.
    fn is_text(&self, at: usize) -> bool {
        let Some(option) = at.checked_sub(1).and_then(|at| self.words.get(at)) else {
            return false;
        };
        let is_any = |names: &[&str]| names.iter().any(|name| option.is(name));
        match self.name() {
            Some("git") => is_any(&["-m", "-am", "--message"]),
            Some("gh") => is_any(&["-b", "--body", "-t", "--title"]),
            _ => false,
        }
    }

    fn access_of_arguments(&self) -> FileAccess {
        if self.words.is_empty() {
            return FileAccess { complete: true, ..FileAccess::default() };
        }
        let Some(name) = self.name() else { return FileAccess::default() };
        let words = &self.words[1..];
        if let Some(known::Reads { paths, recursive, files_only }) = known::reads(name, words) {
            return FileAccess {
                reads: paths,
                recursive,
                files_only,
                complete: true,
                ..FileAccess::default()
            };
        }
        if let Some(FileCommand { reads, writes, recursive, moves, transfer, complete }) =
            file_commands::read(name, words)
        {
            return FileAccess {
                is_file_command: complete && !writes.is_empty(),
                recursive,
                reads,
                writes,
                moves,
                transfer,
                complete,
                ..FileAccess::default()
            };
        }
        match name {
            "tee" => FileAccess { writes: operands(words), ..FileAccess::default() },
            "dd" => {
                let value = |prefix: &str| -> Vec<Word> {
                    let with =
                        |word: &&Word| word.literal().is_some_and(|text| text.starts_with(prefix));
                    words.iter().filter(with).filter_map(|word| word.tail(3)).collect()
                };
                FileAccess { reads: value("if="), writes: value("of="), ..FileAccess::default() }
            }
            // They create files, links among them, that their arguments do not name.
            "tar" | "unzip" | "cpio" | "rsync" | "patch" | "install" => {
                FileAccess { moves: true, ..FileAccess::default() }
            }
            "git" if words.iter().any(changes_worktree) => {
                FileAccess { moves: true, ..FileAccess::default() }
            }
            // An option that is not known may name a file as well.
            name if known::is_reader(name) => {
                FileAccess { reads: self.path_operands(), recursive: true, ..FileAccess::default() }
            }
            _ => FileAccess::default(),
        }
    }

    /// Every argument of a reader with options that are not known, as a file.
    fn path_operands(&self) -> Vec<Word> {
        let attached = |word: &Word| {
            let at = word.literal()?.find('=')? + 1;
            word.tail(at)
        };
        let words = &self.words[1..];
        operands(words).into_iter().chain(words.iter().filter_map(attached)).collect()
    }
}

/// Whether a word may be a subcommand of git's that puts other files into the work tree.
fn changes_worktree(word: &Word) -> bool {
    const SUBCOMMANDS: [&str; 14] = [
        "checkout",
        "switch",
        "clone",
        "pull",
        "merge",
        "rebase",
        "reset",
        "restore",
        "stash",
        "apply",
        "am",
        "cherry-pick",
        "submodule",
        "worktree",
    ];
    SUBCOMMANDS.iter().any(|subcommand| word.is(subcommand))
}

fn operands(words: &[Word]) -> Vec<Word> {
    let is_operand =
        |word: &&Word| word.literal().is_none_or(|text| text.len() < 2 || !text.starts_with('-'));
    words.iter().filter(is_operand).filter(|word| !word.is("-")).cloned().collect()
}

/// Whether the target is a device to which writing changes no file. `/dev/tty` is not one: a
/// terminal interprets escape sequences.
fn is_sink(target: &Word) -> bool {
    ["/dev/null", "/dev/stdout", "/dev/stderr"].iter().any(|sink| target.is(sink))
}

fn is_descriptor(target: &Word) -> bool {
    target.literal().is_some_and(|text| {
        let number = text.strip_suffix('-').unwrap_or(text);
        number.chars().all(|letter| letter.is_ascii_digit())
    })
}
