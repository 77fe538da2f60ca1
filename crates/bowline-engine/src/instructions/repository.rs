//! State of the repository, read while the first tool runs, never before the first response.

use std::{path::Path, process::Stdio, time::Duration};

use tokio::{io::AsyncReadExt, time::timeout};
use tokio_util::task::AbortOnDropHandle;

/// Timeout of git. In a larger tree the model can run git itself.
const TIME_LIMIT: Duration = Duration::from_secs(2);
/// The maximum output that is read: a longer one does not help as a summary.
const OUTPUT_LIMIT: u64 = 64 * 1024;
/// The maximum number of changed files that are named.
const FILES_SHOWN: usize = 40;

/// A pending read of a repository's state.
pub(crate) type Look = AbortOnDropHandle<Option<String>>;

/// Starts git.
pub(crate) fn look(top: &Path) -> Look {
    let top = top.to_path_buf();
    AbortOnDropHandle::new(tokio::spawn(async move {
        timeout(TIME_LIMIT, status(&top)).await.ok().flatten()
    }))
}

async fn status(top: &Path) -> Option<String> {
    let mut git = crate::git::command(top)
        .await
        // Reading must not take git's lock: another git may be running.
        .args(["--no-optional-locks", "status", "--porcelain=v1", "--untracked-files=normal"])
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut output = Vec::new();
    git.stdout.take()?.take(OUTPUT_LIMIT).read_to_end(&mut output).await.ok()?;
    if output.len() as u64 >= OUTPUT_LIMIT {
        git.start_kill().ok();
    }
    let ended = git.wait().await.ok()?;
    let whole = (output.len() as u64) < OUTPUT_LIMIT;
    (ended.success() || !whole).then(|| summary(&String::from_utf8_lossy(&output), whole))
}

/// The changes as a text for the model.
fn summary(porcelain: &str, whole: bool) -> String {
    let changed: Vec<_> = porcelain.lines().filter(|line| line.len() > 3).collect();
    if changed.is_empty() {
        return "Git status when this conversation began: no changes.".to_owned();
    }
    let mut lines = vec!["Git status when this conversation began:".to_owned()];
    lines.extend(changed.iter().take(FILES_SHOWN).map(|line| (*line).to_owned()));
    if let Some(hidden) = changed.len().checked_sub(FILES_SHOWN).filter(|hidden| *hidden > 0) {
        let least = if whole { "" } else { "at least " };
        lines.push(format!("… and {least}{hidden} more"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_some_files_and_counts_the_rest() {
        assert_eq!(summary("", true), "Git status when this conversation began: no changes.");
        let many: String = (0..42).map(|n| format!("?? file{n}\n")).collect();
        let told = summary(&many, true);
        assert!(told.contains("?? file39") && !told.contains("?? file40"), "{told}");
        assert!(told.ends_with("… and 2 more"), "{told}");
        assert!(summary(&many, false).ends_with("… and at least 2 more"));
    }
}
