//! Simple file commands: `mkdir`, `touch`, `rm`, `rmdir`, `mv`, `cp`, `ln` and `sed -i`.

use crate::{known, options::Arguments, synopsis::Synopsis, word::Word};

/// What a file command does to which files.
#[derive(Debug, Default)]
pub(crate) struct FileCommand {
    pub(crate) reads: Vec<Word>,
    pub(crate) writes: Vec<Word>,
    /// Whether it works on everything below a directory.
    pub(crate) recursive: bool,
    /// Whether it may put links, or what had another name, where it writes.
    pub(crate) moves: bool,
    pub(crate) transfer: Option<Transfer>,
    /// Whether all its options are known, so that it does nothing else.
    pub(crate) complete: bool,
}

/// Files that are copied or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// What is copied or moved.
    pub sources: Vec<Word>,
    /// Where to.
    pub target: Word,
    /// Whether the target is replaced even if it is a folder.
    pub replaces: bool,
    /// Whether everything below folders is copied one by one.
    pub copies_tree: bool,
}

/// The command of this name, if it is a file command. With an option that is not known its files
/// are those of the usual form, and it is not complete.
pub(crate) fn read(name: &str, words: &[Word]) -> Option<FileCommand> {
    if name == "sed" {
        let writes = known::sed_in_place(words)?;
        return Some(FileCommand { writes, complete: true, ..FileCommand::default() });
    }
    let synopsis = synopsis(name)?;
    let (arguments, complete, files) = match synopsis.matched(words) {
        Some(matched) if matched.is_certain() => (matched.arguments, true, matched.files),
        _ => {
            let with_value =
                ["t", "S", "m", "d", "r", "target-directory", "suffix", "mode", "date"];
            let with_value = if name == "rm" { &[][..] } else { &with_value[..] };
            (Arguments::sort(words, with_value), false, Vec::new())
        }
    };
    let recursive = arguments.has_any(&["-r", "-R", "-a", "--recursive", "--archive"]);
    let mut found = FileCommand { reads: files, recursive, complete, ..FileCommand::default() };
    match name {
        "mv" | "cp" | "ln" => transfer(name, arguments, &mut found),
        _ => found.writes = arguments.positionals,
    }
    Some(found)
}

fn synopsis(name: &str) -> Option<Synopsis> {
    const NONE: Synopsis =
        Synopsis { flags: "", values: "", files: "", attached: "", long: "", number: false };
    Some(match name {
        "mkdir" => Synopsis { flags: "pv", values: "m", long: "parents verbose mode=", ..NONE },
        "touch" => Synopsis {
            flags: "acmh",
            values: "dt",
            files: "r",
            long: "no-create no-dereference date= time= reference<",
            ..NONE
        },
        "rm" => Synopsis {
            flags: "rRfvidI",
            long: "recursive force verbose dir interactive? one-file-system preserve-root?",
            ..NONE
        },
        "rmdir" => {
            Synopsis { flags: "pv", long: "parents verbose ignore-fail-on-non-empty", ..NONE }
        }
        "unlink" => NONE,
        // Not `-S` and `-b`, which write other files too.
        "mv" => Synopsis {
            flags: "fvniuT",
            values: "t",
            long: "force verbose no-clobber interactive update? target-directory= \
                   no-target-directory",
            ..NONE
        },
        // Nor `-L`, `-H`, `-s` and `-l`, which follow links or make them.
        "cp" => Synopsis {
            flags: "rRapfvniudPxT",
            values: "t",
            long: "recursive archive force verbose no-clobber interactive update? \
                   no-dereference target-directory= one-file-system no-target-directory",
            ..NONE
        },
        "ln" => NONE,
        _ => return None,
    })
}

/// `mv SOURCE… TARGET`, `cp` and `ln` alike, or the same with `-t TARGET`.
fn transfer(name: &str, arguments: Arguments, found: &mut FileCommand) {
    const KEEPS_LINKS: &[&str] =
        &["-r", "-R", "-a", "-d", "-P", "--recursive", "--archive", "--no-dereference"];
    let given = arguments.values(&["-t", "--target-directory"]).next().cloned();
    let keeps_links = arguments.has_any(KEEPS_LINKS);
    let replaces = arguments.has_any(&["-T", "--no-target-directory"]);
    let mut sources = arguments.positionals;
    let Some(target) = given.or_else(|| sources.pop()) else { return };
    found.writes.push(target.clone());
    if name == "mv" {
        found.writes.extend(sources.iter().cloned());
    }
    found.recursive |= name != "cp";
    found.moves = name != "cp" || keeps_links || !found.complete;
    found.reads.extend(sources.iter().cloned());
    // Files written through a pattern are undecidable from the words.
    if sources.iter().any(Word::may_split) {
        found.writes.push(Word::unknown("PATTERN"));
    }
    let copies_tree = name == "cp" && found.recursive;
    found.transfer = Some(Transfer { sources, target, replaces, copies_tree });
    // A link is neither a read nor a simple write.
    found.complete &= name != "ln";
}
