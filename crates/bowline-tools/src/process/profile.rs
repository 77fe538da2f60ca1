//! What the user's shell profile defines, for every command of a session: its aliases and functions.
//!
//! The profile runs once. Its variables stay out: commands have the environment
//! that the session was given.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    process::Stdio,
    time::Duration,
};

use tempfile::NamedTempFile;
use tokio::{io::AsyncReadExt, process::Command, time::timeout};

use super::ProcessGroup;

/// A profile that takes longer waits for something that will not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// More than this is not worth reading before every command.
const MAX_BYTES: u64 = 1024 * 1024;

/// Prints what a profile defines, in a form that a shell can read back. Functions that begin with
/// an underscore are the profile's own: completions, mostly.
const PRINT: &str = r#"
. "$1" >/dev/null 2>&1
alias -p
while read -r name; do
  case $name in _*) ;; *) declare -f "$name" ;; esac
done < <(compgen -A function)
"#;

/// The definitions of a profile, in a file that goes with this value.
#[derive(Debug)]
pub(crate) struct Profile(NamedTempFile);

impl Profile {
    /// Runs a profile as an interactive shell would, and keeps what it defines; `None` if that is
    /// nothing. A profile that fails or hangs defines nothing.
    pub(crate) async fn read(
        path: &Path,
        environment: &BTreeMap<String, Option<String>>,
    ) -> Option<Self> {
        let definitions = match timeout(PATIENCE, printed(path, environment)).await {
            Ok(Ok(definitions)) => definitions,
            Ok(Err(error)) => {
                tracing::warn!(path = %path.display(), %error, "the shell profile is left out");
                return None;
            }
            Err(_) => {
                tracing::warn!(path = %path.display(), "the shell profile takes too long");
                return None;
            }
        };
        if definitions.trim_ascii().is_empty() || definitions.len() as u64 >= MAX_BYTES {
            return None;
        }
        let keep = || -> io::Result<Self> {
            let mut file = NamedTempFile::with_prefix("bowline-profile-")?;
            file.write_all(&definitions)?;
            Ok(Self(file))
        };
        keep().inspect_err(|error| tracing::warn!(%error, "the shell profile is not kept")).ok()
    }

    /// Where the definitions are.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

async fn printed(
    path: &Path,
    environment: &BTreeMap<String, Option<String>>,
) -> io::Result<Vec<u8>> {
    let mut shell = Command::new("/bin/bash");
    // Most profiles do nothing in a shell that is not interactive.
    shell
        .args(["--noprofile", "--norc", "-i", "-c", PRINT, "/bin/bash"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    for (name, value) in environment {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let mut child = shell.spawn()?;
    let _group = ProcessGroup::led_by(&child)?;
    let mut definitions = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_BYTES).read_to_end(&mut definitions).await?;
    }
    Ok(definitions)
}
