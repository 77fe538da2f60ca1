//! Aliases and functions of the user's shell profile, for every command of a session.
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

use bowline_process::{ProcessGroup, command, group_command, set_variables};
use tempfile::NamedTempFile;
use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
    time::timeout,
};

/// A profile that takes longer is waiting for input that will not come.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// The definitions of a profile, in a file that is removed when this value is dropped.
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
    let mut child = match spawned(interactive(), path, environment) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            spawned(plain(), path, environment)?
        }
        spawned => spawned?,
    };
    let _group = ProcessGroup::led_by(&child)?;
    let mut definitions = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_BYTES).read_to_end(&mut definitions).await?;
    }
    Ok(definitions)
}

/// An interactive shell, since most profiles do nothing in another.
///
/// It waits until its terminal is its own, which in the background of ours would be for ever; so it
/// has none. `setsid` makes it the leader of a session, and of a group, with the process id it has.
fn interactive() -> Command {
    let mut shell = command("setsid");
    shell.args(["/bin/bash", "--noprofile", "--norc", "-i"]);
    shell
}

/// The shell of a machine that has no `setsid`: a profile that wants an interactive one defines nothing.
fn plain() -> Command {
    let mut shell = group_command("/bin/bash");
    shell.args(["--noprofile", "--norc", "-O", "expand_aliases"]);
    shell
}

fn spawned(
    mut shell: Command,
    path: &Path,
    environment: &BTreeMap<String, Option<String>>,
) -> io::Result<Child> {
    shell
        .args(["-c", PRINT, "/bin/bash"])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    set_variables(&mut shell, environment);
    shell.spawn()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A shell with the terminal of its caller would stop until it is in the foreground.
    #[tokio::test]
    async fn profile_shell_is_interactive_without_a_terminal() {
        let mut profile = NamedTempFile::new().unwrap();
        let text = "case $- in *i*) ;; *) return ;; esac\n\
                    read -r _ _ _ _ group session terminal _ < /proc/$$/stat\n\
                    alias own=\"$((group == $$)) $((session == $$)) $terminal\"\n";
        profile.write_all(text.as_bytes()).unwrap();
        let printed = printed(profile.path(), &BTreeMap::new()).await.unwrap();
        assert_eq!(String::from_utf8(printed).unwrap(), "alias own='1 1 0'\n");
    }
}
