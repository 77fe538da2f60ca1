//! Which `git` commands only look.

use crate::{options::Arguments, word::Word};

/// Options that write a file, run a program or look outside the repository, whatever the command.
const REFUSED: &[&str] = &[
    "--output",
    "--ext-diff",
    "--no-index",
    "--open-files-in-pager",
    "-O",
    "--contents",
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--file",
    "--blob",
    "--filters",
];

/// What a `git` command line looks at, if looking is all it does: the directory given by `-C`, and
/// what `diff` compares, which may be any two files.
pub(crate) fn looks_at(words: &[Word]) -> Option<Vec<Word>> {
    let mut directories = Vec::new();
    let mut rest = words;
    let subcommand = loop {
        let (word, after) = rest.split_first()?;
        rest = after;
        match word.literal()? {
            "-C" => {
                let (directory, after) = rest.split_first()?;
                directories.push(directory.clone());
                rest = after;
            }
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            "--version" | "-v" => return Some(directories),
            option if option.starts_with('-') => return None,
            subcommand => break subcommand,
        }
    };
    if !only_looks(subcommand, rest) {
        return None;
    }
    if subcommand == "diff" {
        let compared = Arguments::sort(rest, &[]).positionals;
        let climbs =
            |word: &Word| word.literal().is_none_or(|it| it.split('/').any(|it| it == ".."));
        // From where it climbs, only the running command knows.
        if !directories.is_empty() && compared.iter().any(climbs) {
            return None;
        }
        directories.extend(compared);
    }
    Some(directories)
}

fn only_looks(subcommand: &str, words: &[Word]) -> bool {
    const LISTS: &[&str] = &["contains", "no-contains", "merged", "no-merged", "points-at", "sort"];
    let lists_refs = matches!(subcommand, "branch" | "tag" | "for-each-ref");
    let arguments = Arguments::sort(words, if lists_refs { LISTS } else { &[] });
    if arguments.uncertain || arguments.has_any(REFUSED) {
        return false;
    }
    let first = arguments.positionals.first().and_then(Word::literal);
    let lists = arguments.has_any(&["-l", "--list"]);
    match subcommand {
        "status" | "log" | "diff" | "show" | "shortlog" | "blame" | "annotate" | "rev-parse"
        | "rev-list" | "ls-files" | "ls-tree" | "describe" | "cat-file" | "name-rev"
        | "merge-base" | "for-each-ref" | "count-objects" | "whatchanged" | "diff-tree"
        | "diff-index" | "diff-files" | "show-ref" | "cherry" | "range-diff" | "check-ignore"
        | "version" => true,
        "grep" => !arguments.has_any(&["-f"]),
        "branch" => {
            const LISTING: &[&str] = &[
                "-a",
                "-r",
                "-v",
                "-l",
                "-i",
                "--all",
                "--remotes",
                "--verbose",
                "--list",
                "--show-current",
                "--contains",
                "--no-contains",
                "--merged",
                "--no-merged",
                "--points-at",
                "--sort",
                "--format",
                "--color",
                "--no-color",
                "--column",
                "--ignore-case",
            ];
            arguments.has_only(LISTING) && (lists || arguments.positionals.is_empty())
        }
        "tag" => {
            const LISTING: &[&str] = &[
                "-l",
                "-n",
                "-i",
                "--list",
                "--contains",
                "--no-contains",
                "--merged",
                "--no-merged",
                "--points-at",
                "--sort",
                "--format",
                "--column",
                "--ignore-case",
            ];
            arguments.has_only(LISTING) && (lists || arguments.positionals.is_empty())
        }
        "remote" => {
            arguments.has_only(&["-v", "--verbose", "--all", "--push"])
                && matches!(first, None | Some("get-url"))
        }
        "stash" => matches!(first, Some("list" | "show")),
        "reflog" => matches!(first, None | Some("show")),
        "worktree" => first == Some("list"),
        // All of it may hold keys of servers; a single value is asked for by its name.
        "config" => {
            const WITH: &[&str] = &[
                "--get",
                "--local",
                "--global",
                "--system",
                "--show-origin",
                "--show-scope",
                "-z",
            ];
            arguments.has_only(WITH) && (arguments.has_any(&["--get"]) || first == Some("get"))
        }
        _ => false,
    }
}
