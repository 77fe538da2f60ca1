//! Git commands that run neither hooks nor filters of the repository.
//!
//! An unpacked archive may contain a `.git/config` that runs programs. Filters of the user's own
//! configuration still run: without those of Git LFS a worktree would hold pointers instead of files.

use std::{collections::BTreeSet, path::Path, process::Stdio};

use tokio::process::Command;

/// An empty variable for `--config-env`: filter names may contain `=`, where `-c` would split them.
const EMPTY_VARIABLE: &str = "BOWLINE_GIT_NOTHING";

/// The programs of a filter.
const FILTER_PROGRAMS: [&str; 3] = ["clean", "smudge", "process"];

/// A git command in `directory`, without arguments yet. It is killed when it is dropped.
pub(crate) async fn command(directory: &Path) -> Command {
    let mut command = bare(directory);
    command
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(["-c", "submodule.recurse=false"])
        // A partial clone would fetch missing objects with programs that the repository configures.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env(EMPTY_VARIABLE, "");
    for filter in filters_of_repository(directory).await {
        for program in FILTER_PROGRAMS {
            command.arg(format!("--config-env=filter.{filter}.{program}={EMPTY_VARIABLE}"));
        }
        // An empty value is also `false`: a required filter without its program would be an error.
        command.arg(format!("--config-env=filter.{filter}.required={EMPTY_VARIABLE}"));
    }
    command
}

fn bare(directory: &Path) -> Command {
    let mut command = bowline_process::command("git");
    command
        .arg("-C")
        .arg(directory)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The filters that the repository's own configuration sets.
async fn filters_of_repository(directory: &Path) -> BTreeSet<String> {
    let mut list = bare(directory);
    list.args(["config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\."]);
    let listed = list.output().await.map(|output| output.stdout).unwrap_or_default();
    filters(&String::from_utf8_lossy(&listed))
}

/// Parses the listing, in which scopes and keys alternate.
fn filters(listed: &str) -> BTreeSet<String> {
    let words: Vec<_> = listed.split('\0').collect();
    let own = words.chunks_exact(2).filter(|pair| matches!(pair[0], "local" | "worktree"));
    let name = |key: &str| Some(key.strip_prefix("filter.")?.rsplit_once('.')?.0.to_owned());
    own.filter_map(|pair| name(pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::filters;

    #[test]
    fn filters_of_other_scopes_are_ignored() {
        let listed = "global\0filter.lfs.clean\0local\0filter.a.b=c.smudge\0local\0filter.a.b=c.clean\0\
                      worktree\0filter.w.process\0command\0filter.x.clean\0";
        assert_eq!(filters(listed).into_iter().collect::<Vec<_>>(), ["a.b=c", "w"]);
        assert!(filters("").is_empty());
    }
}
