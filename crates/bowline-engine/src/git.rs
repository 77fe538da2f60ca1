//! Git as a program that runs nothing which a repository names: neither its hooks nor its filters.
//!
//! A folder that somebody unpacked brings a `.git/config` that nobody has agreed to. What the user's
//! own configuration names still runs: without the filters of Git LFS a copy of the project would
//! hold pointers in place of files.

use std::{collections::BTreeSet, path::Path, process::Stdio};

use tokio::process::Command;

/// A variable that holds nothing, for settings whose names `-c` cannot tell from their values.
const NOTHING: &str = "BOWLINE_GIT_NOTHING";

/// What a filter consists of.
const FILTER_PROGRAMS: [&str; 3] = ["clean", "smudge", "process"];

/// A command of git's in `directory`, to be given its words. It ends with whoever waits for it.
pub(crate) async fn command(directory: &Path) -> Command {
    let mut command = bare(directory);
    command
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(["-c", "submodule.recurse=false"])
        // What is missing would be fetched by programs that the repository may name.
        .env("GIT_NO_LAZY_FETCH", "1")
        .env(NOTHING, "");
    for filter in filters_of_repository(directory).await {
        for program in FILTER_PROGRAMS {
            command.arg(format!("--config-env=filter.{filter}.{program}={NOTHING}"));
        }
        // Nothing is false, too: a filter that must work would be an error without its program.
        command.arg(format!("--config-env=filter.{filter}.required={NOTHING}"));
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

/// The filters about which the repository's own configuration says something.
async fn filters_of_repository(directory: &Path) -> BTreeSet<String> {
    let mut list = bare(directory);
    list.args(["config", "--null", "--show-scope", "--name-only", "--get-regexp", r"^filter\."]);
    let listed = list.output().await.map(|output| output.stdout).unwrap_or_default();
    filters(&String::from_utf8_lossy(&listed))
}

/// Scopes and keys take turns.
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
