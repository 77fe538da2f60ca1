//! Settings that are known to run no program when `git` only reads.

use super::{
    config::Setting,
    find::{self, RepositoryPaths},
};

/// What `git lfs install` writes.
const LFS: &[(&str, &[&str])] = &[
    ("clean", &["git-lfs clean -- %f"]),
    ("smudge", &["git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"]),
    ("process", &["git-lfs filter-process", "git-lfs filter-process --skip"]),
    ("required", &["true"]),
];

/// Sections without names in quotes of which no setting runs a program or names a file, for
/// commands that only look. Those of the network are used by others only; the environment shuts it besides.
const SECTIONS: &[&str] = &[
    "advice",
    "author",
    "color",
    "column",
    "commit",
    "committer",
    "fetch",
    "format",
    "gc",
    "index",
    "init",
    "log",
    "maintenance",
    "pack",
    "pull",
    "push",
    "rebase",
    "receive",
    "repack",
    "rerere",
    "stash",
    "status",
    "submodule",
    "transfer",
    "user",
    "versionsort",
    "pretty",
    "alias",
    "feature",
    "github",
    "gitflow",
    "gui",
    "notes",
    "credential",
    "http",
];

/// The same with names in quotes.
const NAMED_SECTIONS: &[&str] = &["branch", "http", "credential", "url", "color", "gitflow"];

#[rustfmt::skip]
const CORE: &[&str] = &[
    "abbrev", "autocrlf", "bare", "bigfilethreshold", "checkstat", "commentchar", "commentstring",
    "commitgraph", "compression", "deltabasecachelimit", "eol", "filemode", "fscache", "fsync",
    "fsyncmethod", "fsyncobjectfiles", "hidedotfiles", "ignorecase", "logallrefupdates", "longpaths",
    "loosecompression", "maxtreedepth", "multipackindex", "notesref", "packedgitlimit",
    "packedgitwindowsize", "precomposeunicode", "preloadindex", "protecthfs", "protectntfs",
    "quotepath", "repositoryformatversion", "safecrlf", "sharedrepository", "sparsecheckout",
    "sparsecheckoutcone", "symlinks", "trustctime", "untrackedcache", "warnambiguousrefs", "whitespace",
    // The environment overrides it, and many projects keep their hooks in a folder of their own.
    "hookspath",
];

#[rustfmt::skip]
const DIFF: &[&str] = &[
    "algorithm", "autorefreshindex", "colormoved", "colormovedws", "context", "dirstat",
    "ignoresubmodules", "indentheuristic", "interhunkcontext", "mnemonicprefix", "noprefix",
    "relative", "renamelimit", "renames", "statgraphwidth", "statnamewidth", "submodule",
    "suppressblankempty", "wordregex", "wserrorhighlight",
];

const EXTENSIONS: &[&str] = &[
    "compatobjectformat",
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];

const REMOTE: &[&str] = &[
    "fetch",
    "followremotehead",
    "gh-resolved",
    "mirror",
    "partialclonefilter",
    "promisor",
    "prune",
    "prunetags",
    "push",
    "pushurl",
    "skipdefaultupdate",
    "skipfetchall",
    "tagopt",
    "url",
];

const SUBMODULE: &[&str] =
    &["active", "branch", "fetchrecursesubmodules", "ignore", "shallow", "update", "url"];

/// Whether a setting of a repository runs nothing and leads nowhere. What is not known does.
pub(super) fn is_harmless(setting: &Setting, repository: &RepositoryPaths) -> bool {
    let value = setting.value.as_deref().unwrap_or("true");
    match setting.parts() {
        ("core", None, "worktree") => find::is_top(repository, value),
        // A switch starts `git`'s own monitor, anything else a program.
        ("core", None, "fsmonitor") => matches!(value, "true" | "false" | ""),
        ("core", None, name) => CORE.contains(&name),
        ("diff", None, name) => DIFF.contains(&name),
        ("diff", Some(_), name) => {
            matches!(name, "algorithm" | "binary" | "funcname" | "wordregex" | "xfuncname")
        }
        ("extensions", None, name) => EXTENSIONS.contains(&name),
        ("filter", Some("lfs"), name) => {
            LFS.iter().any(|(known, values)| *known == name && values.contains(&value))
        }
        ("lfs", None, name) => matches!(name, "repositoryformatversion" | "concurrenttransfers"),
        ("lfs", Some(address), "access" | "locksverify") => address.contains("://"),
        ("gpg", None, "format") => true,
        ("tag", None, name) => matches!(name, "gpgsign" | "sort" | "forcesignannotated"),
        ("blame", None, "ignorerevsfile") => {
            !value.starts_with(['/', '~', '%', ':']) && !value.split('/').any(|it| it == "..")
        }
        ("blame", None, _) => true,
        ("merge", None, name) => !matches!(name, "tool" | "guitool"),
        ("merge", Some(_), "name") => true,
        // The usual way to keep one's own side.
        ("merge", Some(_), "driver") => value == "true",
        ("remote", None, name) => matches!(name, "pushdefault"),
        ("remote", Some(_), name) => REMOTE.contains(&name),
        ("submodule", Some(_), name) => SUBMODULE.contains(&name) && !value.starts_with('!'),
        (section, None, _) => SECTIONS.contains(&section),
        (section, Some(_), _) => NAMED_SECTIONS.contains(&section),
    }
}

/// Whether a setting runs nothing only because the environment of commands that run unasked says so.
pub(super) fn is_overridden(setting: &Setting) -> bool {
    matches!(
        setting.parts(),
        ("core", None, "hookspath" | "fsmonitor")
            | ("log", None, "showsignature")
            | ("format" | "pretty", None, _)
            | ("credential" | "http" | "status", _, _)
            | ("remote", Some(_), "promisor")
            | ("extensions", None, "partialclone")
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn repository() -> RepositoryPaths {
        let [top, own] = ["/p", "/p/.git"].map(PathBuf::from);
        RepositoryPaths { top, common: own.clone(), own }
    }

    fn is_harmless_with(key: &str, value: &str) -> bool {
        let setting = Setting { key: key.to_owned(), value: Some(value.to_owned()) };
        is_harmless(&setting, &repository())
    }

    #[test]
    fn settings_of_ordinary_clones_are_harmless() {
        for (key, value) in [
            ("core.repositoryformatversion", "0"),
            ("core.hookspath", ".husky/_"),
            ("core.fsmonitor", "true"),
            ("core.worktree", ".."),
            ("remote.origin.url", "git@example.org:a/b.git"),
            ("remote.origin.gh-resolved", "base"),
            ("branch.main.vscode-merge-base", "origin/main"),
            ("submodule.a.b.url", "https://example.org/a"),
            ("submodule.a.update", "rebase"),
            ("user.email", "a@example.org"),
            ("http.https://example.org/.extraheader", "AUTHORIZATION: basic x"),
            ("filter.lfs.clean", "git-lfs clean -- %f"),
            ("lfs.https://example.org/a.git/info/lfs.access", "basic"),
            ("merge.ours.driver", "true"),
            ("blame.ignorerevsfile", ".git-blame-ignore-revs"),
            ("diff.rust.xfuncname", "fn"),
            ("alias.st", "!touch pwned"),
        ] {
            assert!(is_harmless_with(key, value), "{key}");
        }
    }

    #[test]
    fn settings_that_run_programs_or_lead_elsewhere_are_not() {
        for (key, value) in [
            ("core.fsmonitor", "./evil"),
            ("core.fsmonitor", "1 && evil"),
            ("core.pager", "evil"),
            ("core.editor", "evil"),
            ("core.sshcommand", "evil"),
            ("core.askpass", "evil"),
            ("core.gitproxy", "evil"),
            ("core.alternaterefscommand", "evil"),
            ("core.attributesfile", "/x"),
            ("core.excludesfile", "/x"),
            ("core.worktree", "/home"),
            ("core.future", "x"),
            ("diff.external", "evil"),
            ("diff.x.textconv", "evil"),
            ("diff.x.command", "evil"),
            ("diff.orderfile", "/x"),
            ("filter.x.clean", "evil"),
            ("filter.x.process", "evil"),
            ("filter.lfs.clean", "evil"),
            ("filter.lfs.clean", "git-lfs clean -- %f; evil"),
            ("lfs.extension.x.clean", "evil"),
            ("lfs.customtransfer.x.path", "evil"),
            ("gpg.program", "evil"),
            ("gpg.ssh.program", "evil"),
            ("gpg.ssh.defaultkeycommand", "evil"),
            ("merge.x.driver", "evil"),
            ("mergetool.x.cmd", "evil"),
            ("submodule.x.update", "!evil"),
            ("remote.x.uploadpack", "evil"),
            ("remote.x.vcs", "evil"),
            ("remote.x.proxy", "evil"),
            ("include.path", "/x"),
            ("includeif.gitdir:/.path", "/x"),
            ("interactive.difffilter", "evil"),
            ("pager.log", "evil"),
            ("sequence.editor", "evil"),
            ("trailer.x.cmd", "evil"),
            ("uploadpack.packobjectshook", "evil"),
            ("protocol.ext.allow", "always"),
            ("extensions.future", "1"),
            ("mailmap.file", "/x"),
            ("blame.ignorerevsfile", "/x"),
            ("blame.ignorerevsfile", "a/../../x"),
            ("blame.ignorerevsfile", ":(optional)/x"),
            ("safe.directory", "*"),
            ("whatever.else", "x"),
        ] {
            assert!(!is_harmless_with(key, value), "{key}");
        }
    }
}
