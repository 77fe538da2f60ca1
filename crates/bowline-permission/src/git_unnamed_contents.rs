//! `git` commands that show the contents of files which no argument names.

use std::path::PathBuf;

use bowline_shell::{Command, Word};

use super::{shell_state::ShellState, word_path::WordPath};

/// Subcommands that show names, numbers and messages only.
const WITHOUT_CONTENTS: &[&str] = &[
    "status",
    "branch",
    "tag",
    "remote",
    "rev-parse",
    "ls-files",
    "ls-tree",
    "describe",
    "name-rev",
    "merge-base",
    "for-each-ref",
    "count-objects",
    "show-ref",
    "cherry",
    "check-ignore",
    "version",
    "config",
    "worktree",
    "shortlog",
    "rev-list",
    "add",
    "commit",
    "push",
    "fetch",
    "pull",
    "init",
    "switch",
    "checkout",
    "reset",
    "rm",
    "mv",
];

/// How options begin that make neither `log` nor `diff` show contents.
const WITHOUT_PATCH: &[&str] = &[
    "--name-only",
    "--name-status",
    "--stat",
    "--shortstat",
    "--numstat",
    "--summary",
    "--dirstat",
    "--oneline",
    "--graph",
    "--all",
    "--decorate",
    "--no-decorate",
    "--format",
    "--pretty",
    "--abbrev-commit",
    "--author",
    "--committer",
    "--grep",
    "--since",
    "--until",
    "--after",
    "--before",
    "--max-count",
    "--skip",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--reverse",
    "--date",
    "--branches",
    "--tags",
    "--remotes",
    "--topo-order",
    "--follow",
    "--no-color",
    "--color",
    "--no-pager",
    "--cached",
    "--staged",
    "--quiet",
    "--no-patch",
];

/// Whether a `git` may show the contents of files that its arguments do not name.
pub(super) fn shows_unnamed(command: &Command, shell: &ShellState<'_>) -> bool {
    if command.name() != Some("git") {
        return false;
    }
    let mut words = command.words.iter().skip(1);
    let subcommand = loop {
        match words.next() {
            None => return false,
            Some(word) if word.is("-C") || word.is("-c") => drop(words.next()),
            Some(word) if word.literal().is_some_and(|text| text.starts_with('-')) => {}
            Some(word) => break word.literal().unwrap_or_default(),
        }
    };
    let is_verbose = |word: &Word| {
        word.literal()
            .is_none_or(|text| text == "--verbose" || text.starts_with('-') && text.contains('v'))
    };
    if WITHOUT_CONTENTS.contains(&subcommand) {
        return subcommand == "status" && words.any(is_verbose);
    }
    let words = without_values(words);
    let (options, operands): (Vec<&Word>, Vec<&Word>) = words
        .into_iter()
        .filter(|word| !word.is("--"))
        .partition(|word| word.literal().is_some_and(|text| text.starts_with('-')));
    let lists_commits = matches!(subcommand, "log" | "reflog")
        || subcommand == "stash" && operands.first().is_some_and(|word| word.is("list"));
    let without_patch = options.iter().all(|option| is_without_patch(option));
    let only_names = options.iter().any(|option| is_summary(option)) || lists_commits;
    // `REVISION:FILE`, or a file as it is now: those are held against rules by their names.
    if subcommand == "cat-file" && !options.is_empty() {
        let describes = |option: &&Word| ["-t", "-s", "-e"].iter().any(|it| option.is(it));
        if options.iter().all(describes) {
            return false;
        }
    }
    let is_file = |word: &&Word| {
        let in_revision =
            word.literal().filter(|_| !word.is_glob()).is_some_and(names_file_of_revision);
        let paths = shell.word_paths(std::slice::from_ref(*word));
        in_revision || paths.iter().filter_map(WordPath::location).any(|it| it.real().is_file())
    };
    let names_files = !operands.is_empty() && operands.iter().all(is_file);
    !(without_patch && only_names || names_files)
}

/// The words that are no values of options.
fn without_values<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<&'a Word> {
    const WITH_VALUE: &[&str] = &[
        "-S",
        "-G",
        "-n",
        "-L",
        "-I",
        "-l",
        "-O",
        "--author",
        "--committer",
        "--grep",
        "--since",
        "--until",
        "--after",
        "--before",
        "--max-count",
        "--skip",
        "--date",
    ];
    let mut found = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        found.push(word);
        if WITH_VALUE.iter().any(|option| word.is(option)) {
            words.next();
        }
    }
    found
}

/// `REVISION:FILE`, and no search (`:/text`), pattern or path with magic (`:(glob)…`).
fn names_file_of_revision(text: &str) -> bool {
    text.split_once(':').is_some_and(|(revision, file)| {
        !revision.is_empty()
            && !file.is_empty()
            && !file.starts_with(['/', '('])
            && !file.contains(['*', '?', '['])
    })
}

/// Where a `git` runs, if that is known: `-C` sends it elsewhere.
pub(super) fn directories(command: &Command, shell: &ShellState<'_>) -> Option<Vec<PathBuf>> {
    let mut found = shell.directories()?.to_vec();
    let words = &command.words;
    for (at, _) in words.iter().enumerate().filter(|(_, word)| word.is("-C")) {
        for path in shell.word_paths(std::slice::from_ref(words.get(at + 1)?)) {
            found.push(path.location()?.real().to_owned());
        }
    }
    Some(found)
}

fn is_without_patch(option: &Word) -> bool {
    option.literal().is_some_and(|text| {
        let name = text.split('=').next().unwrap_or_default();
        let number = text.strip_prefix('-').or(text.strip_prefix("-n")).unwrap_or_default();
        WITHOUT_PATCH.contains(&name)
            || matches!(text, "-n" | "-i" | "-q" | "-g" | "-s" | "-1")
            || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_summary(option: &Word) -> bool {
    const SUMMARIES: &[&str] = &[
        "--name-only",
        "--name-status",
        "--stat",
        "--shortstat",
        "--numstat",
        "--summary",
        "--no-patch",
    ];
    option.literal().is_some_and(|text| {
        text == "-s" || SUMMARIES.contains(&text.split('=').next().unwrap_or_default())
    })
}
