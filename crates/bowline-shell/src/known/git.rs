//! Read-only `git` commands, with the options each is known to take.
//!
//! What a repository's own configuration makes git run is not judged here: that needs the disk.

use super::Reads;
use crate::{
    synopsis::{Matched, Synopsis},
    word::Word,
};

/// Options of everything that shows differences. Not `-O`, `--output`, `--no-index`, `--ext-diff`
/// and `--textconv`.
macro_rules! diff_options {
    () => {
        "patch no-patch unified? raw patch-with-raw patch-with-stat minimal patience histogram \
         diff-algorithm= anchored= stat? numstat shortstat dirstat? cumulative summary name-only \
         name-status color? no-color color-moved? no-color-moved word-diff? word-diff-regex= \
         color-words? no-renames rename-empty no-rename-empty check ws-error-highlight= full-index \
         binary abbrev? no-abbrev find-renames? find-copies? find-copies-harder diff-filter= \
         pickaxe-all pickaxe-regex find-object= relative? no-relative text ignore-cr-at-eol \
         ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines \
         ignore-matching-lines= function-context inter-hunk-context= exit-code quiet no-ext-diff \
         no-textconv ignore-submodules? src-prefix= dst-prefix= no-prefix default-prefix \
         line-prefix= compact-summary skip-to= rotate-to= irreversible-delete break-rewrites? cc \
         diff-merges= no-diff-merges combined-all-paths root \
         no-color-moved-ws color-moved-ws= submodule? "
    };
}

/// Options of everything that shows commits. Not `--show-signature`, which runs a program.
macro_rules! log_options {
    () => {
        "oneline graph no-graph decorate? no-decorate decorate-refs= decorate-refs-exclude= all \
         branches? tags? remotes? glob= exclude= author= committer= grep= grep-reflog= all-match \
         invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp basic-regexp \
         since= until= after= before= since-as-filter= max-age= min-age= max-count= skip= merges \
         no-merges min-parents= max-parents= no-min-parents no-max-parents first-parent reverse \
         topo-order date-order author-date-order date= relative-date format= pretty? abbrev-commit \
         no-abbrev-commit parents children left-right cherry cherry-pick cherry-mark left-only \
         right-only boundary simplify-by-decoration simplify-merges full-history dense sparse \
         follow source no-walk? do-walk walk-reflogs notes? no-notes show-notes? encoding= \
         expand-tabs? no-expand-tabs mailmap no-mailmap use-mailmap no-use-mailmap log-size \
         ancestry-path? remove-empty not ignore-missing clear-decorations "
    };
}

const DIFF_FLAGS: &str = "pusmcRabwWrtzi0q";
const DIFF: Synopsis = Synopsis {
    flags: DIFF_FLAGS,
    values: "SGIl",
    files: "",
    attached: "UMCBD",
    long: concat!(
        diff_options!(),
        "cached staged merge-base base ours theirs ita-visible-in-index \
                  no-commit-id always pretty? merges creation-factor= no-dual-color left-only \
                  right-only include-untracked only-untracked"
    ),
    number: true,
};
const LOG: Synopsis = Synopsis {
    flags: "pusmcRabwWrtziEFPgq0",
    values: "SGIlnL",
    files: "",
    attached: "UMCBD",
    long: concat!(
        diff_options!(),
        log_options!(),
        "count objects timestamp disk-usage? bisect \
                  include-untracked only-untracked"
    ),
    number: true,
};
const NONE: Synopsis =
    Synopsis { flags: "", values: "", files: "", attached: "", long: "", number: false };
const LISTS_REFS: &str = "list contains? no-contains? merged? no-merged? points-at= sort= format= \
                          color? no-color column? no-column ignore-case all remotes verbose \
                          show-current abbrev? no-abbrev omit-empty";

/// What a `git` command line looks at, if looking is all it does: the directory it runs in, and
/// what `diff` compares, which may be any two files.
pub(super) fn reads(words: &[Word]) -> Option<Reads> {
    let mut directories = Vec::new();
    let mut rest = words;
    let subcommand = loop {
        let (word, after) = rest.split_first()?;
        rest = after;
        match word.fixed()? {
            // A second one is relative to the first, which is unknown here.
            "-C" if directories.is_empty() => {
                let (directory, after) = rest.split_first()?;
                directories.push(directory.clone());
                rest = after;
            }
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            "--version" | "-v" if rest.is_empty() => return Some(Reads::nothing()),
            option if option.starts_with('-') => return None,
            subcommand => break subcommand,
        }
    };
    let matched = only_looks(subcommand, rest)?;
    let elsewhere = !directories.is_empty();
    let mut found = Reads { recursive: subcommand == "grep", ..Reads::of(directories) }.or_here();
    if subcommand == "diff" {
        let climbs =
            |word: &Word| word.literal().is_none_or(|it| it.split('/').any(|it| it == ".."));
        let compared = matched.positionals();
        // From where it climbs, only the running command knows.
        if elsewhere && (compared.len() > 1 || compared.iter().any(climbs)) {
            return None;
        }
        found.paths.extend(compared.iter().cloned());
    }
    Some(found)
}

/// The arguments of a subcommand that only looks.
fn only_looks(subcommand: &str, words: &[Word]) -> Option<Matched> {
    let synopsis = synopsis(subcommand)?;
    let matched = synopsis.matched(words)?;
    // What an expansion or a pattern yields may be an option.
    let starts_wild = |word: &Word| {
        word.is_glob() && word.literal().is_none_or(|text| text.starts_with(['*', '?', '[']))
    };
    if !matched.is_certain() || matched.positionals().iter().any(starts_wild) {
        return None;
    }
    // Showing signatures runs a program.
    let checks_signature = |format: &Word| {
        format.literal().is_none_or(|text| text.contains("%G") || text.contains("signature"))
    };
    if matched.arguments.values(&["--format", "--pretty", "--sort"]).any(checks_signature) {
        return None;
    }
    // The differences of a submodule are shown by a git that runs in it.
    let lists_commits = |form: &Word| form.is("log") || form.is("short");
    if !matched.arguments.values(&["--submodule"]).all(lists_commits) {
        return None;
    }
    let positionals = matched.positionals();
    let first_word = words.first().and_then(Word::fixed);
    let looks = match subcommand {
        "branch" | "tag" => {
            let lists = ["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged"];
            positionals.is_empty() || matched.has(&lists)
        }
        // Their first word decides what they do, wherever else a word of that name stands.
        "remote" => positionals.is_empty() || first_word == Some("get-url"),
        "stash" => matches!(first_word, Some("list" | "show")),
        "reflog" => positionals.is_empty() || first_word == Some("show"),
        "worktree" => first_word == Some("list"),
        "config" => shows_harmless_setting(&matched),
        _ => true,
    };
    looks.then_some(matched)
}

/// `config --get NAME` and `config get NAME`. Some settings hold keys of servers, so that only
/// sections are shown which do not.
fn shows_harmless_setting(matched: &Matched) -> bool {
    const SECTIONS: &[&str] = &[
        "user",
        "core",
        "branch",
        "remote",
        "init",
        "pull",
        "push",
        "fetch",
        "merge",
        "diff",
        "color",
        "commit",
        "tag",
        "rebase",
        "log",
        "status",
        "submodule",
        "gc",
        "i18n",
        "extensions",
    ];
    let names: Vec<Option<&str>> = matched.positionals().iter().map(Word::fixed).collect();
    let name = match names.as_slice() {
        [Some("get"), Some(name)] => name,
        [Some(name)] if matched.has(&["--get"]) => name,
        _ => return false,
    };
    name.split('.').next().is_some_and(|section| {
        name.contains('.') && SECTIONS.iter().any(|known| section.eq_ignore_ascii_case(known))
    })
}

fn synopsis(subcommand: &str) -> Option<Synopsis> {
    Some(match subcommand {
        "log" | "show" | "rev-list" | "reflog" | "stash" => LOG,
        "diff" | "diff-tree" | "diff-index" | "diff-files" | "range-diff" => DIFF,
        "shortlog" => Synopsis {
            flags: "nsecpiEF",
            long: concat!("numbered summary email group= ", log_options!()),
            ..LOG
        },
        "status" => Synopsis {
            flags: "sbvz",
            attached: "uM",
            long: "short branch show-stash porcelain? long verbose untracked-files? \
                   ignore-submodules? ignored? column? no-column ahead-behind no-ahead-behind renames \
                   no-renames find-renames?",
            ..NONE
        },
        // Not `-S`, `--contents` and `--ignore-revs-file`, which read any file.
        "blame" | "annotate" => Synopsis {
            flags: "bltsewfnpc",
            values: "L",
            attached: "MC",
            long: "root show-stats porcelain line-porcelain incremental date= since= abbrev? \
                   first-parent score-debug color-lines color-by-age show-email show-name \
                   show-number reverse ignore-rev=",
            ..NONE
        },
        "rev-parse" => Synopsis {
            flags: "q",
            long: "show-toplevel abbrev-ref? short? verify git-dir is-inside-work-tree \
                   is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup \
                   git-common-dir absolute-git-dir symbolic-full-name symbolic all branches? tags? \
                   remotes? quiet show-superproject-working-tree path-format= revs-only no-revs \
                   flags no-flags default= since= until= show-object-format?",
            ..NONE
        },
        // Not `-X` and its kin, which read any file.
        "ls-files" => Synopsis {
            flags: "cdmoisukztvf",
            values: "x",
            long: "cached deleted modified others ignored stage unmerged killed directory \
                   no-empty-directory eol exclude= exclude-standard error-unmatch full-name abbrev? \
                   format= deduplicate with-tree= sparse",
            ..NONE
        },
        "ls-tree" => Synopsis {
            flags: "drtlz",
            long: "name-only name-status full-name full-tree long abbrev? object-only format=",
            ..NONE
        },
        "describe" => Synopsis {
            long: "all tags contains abbrev? candidates= exact-match debug long match= exclude= always \
                   first-parent dirty? broken?",
            ..NONE
        },
        // Not `--textconv` and `--filters`, which run programs.
        "cat-file" => Synopsis {
            flags: "tsepzZ",
            long: "batch? batch-check? batch-all-objects buffer unordered follow-symlinks",
            ..NONE
        },
        "name-rev" => {
            Synopsis { long: "tags refs= exclude= all name-only always no-undefined", ..NONE }
        }
        "merge-base" => {
            Synopsis { flags: "a", long: "octopus independent is-ancestor fork-point all", ..NONE }
        }
        "for-each-ref" => Synopsis {
            long: concat!(
                "count= sort= format= color? shell perl python tcl points-at= merged? no-merged? ",
                "contains? no-contains? ignore-case omit-empty exclude="
            ),
            ..NONE
        },
        "count-objects" => Synopsis { flags: "vH", long: "verbose human-readable", ..NONE },
        "show-ref" => Synopsis {
            flags: "dsq",
            long: "head heads branches tags dereference hash? verify abbrev? quiet exists",
            ..NONE
        },
        "cherry" => Synopsis { flags: "v", long: "abbrev? verbose", ..NONE },
        "check-ignore" => {
            Synopsis { flags: "qvzn", long: "quiet verbose non-matching no-index stdin", ..NONE }
        }
        "version" => Synopsis { long: "build-options", ..NONE },
        // Not `-O`, `-f`, `--no-index` and `--textconv`.
        "grep" => Synopsis {
            flags: "aiIvwhHlLcnoqEGFPpWrz",
            values: "eABCm",
            long: "text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp \
                   perl-regexp fixed-strings line-number column files-with-matches name-only \
                   files-without-match null only-matching count color? no-color break heading \
                   show-function context= after-context= before-context= function-context max-count= \
                   max-depth= threads= and or not all-match quiet cached untracked \
                   no-exclude-standard exclude-standard recursive no-recursive",
            number: true,
            ..NONE
        },
        "branch" => Synopsis { flags: "arvli", long: LISTS_REFS, ..NONE },
        "tag" => Synopsis { flags: "li", attached: "n", long: LISTS_REFS, ..NONE },
        "remote" => Synopsis { flags: "v", long: "verbose all push", ..NONE },
        "worktree" => Synopsis { flags: "vz", long: "porcelain verbose", ..NONE },
        "config" => Synopsis {
            flags: "z",
            long: "get local global system worktree show-origin show-scope null type= bool int path \
                   default= all includes no-includes",
            ..NONE
        },
        _ => return None,
    })
}
