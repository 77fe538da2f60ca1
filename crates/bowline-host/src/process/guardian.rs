//! Who ends the agent's process if this program dies without a chance to.
//!
//! A shell that does nothing but wait for the end of its input, which comes when this program is
//! gone, however it went. The system could be told to do the same (`PR_SET_PDEATHSIG`), but only
//! from between fork and exec, which is no place for safe code, and it would count the thread
//! that started the process, not the program.

use std::process::Stdio;

use tokio::process::{Child, Command};

/// Asks, waits as long as a transcript takes to be written, and kills.
const SCRIPT: &str = r#"read -r _; kill -s TERM -- -"$1"; sleep 1; kill -s KILL -- -"$1""#;

/// Watches over a process group. Dropping it ends the watch.
pub(super) struct Guardian(Option<Child>);

impl Guardian {
    /// Begins to watch over the group of this leader.
    pub(super) fn over(leader: Option<u32>) -> Self {
        let Some(leader) = leader else { return Self(None) };
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh", &leader.to_string()])
            // Its other end is nowhere but here.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .kill_on_drop(true)
            // Whoever interrupts this program from a terminal does not mean it.
            .process_group(0)
            .spawn();
        match shell {
            Ok(shell) => Self(Some(shell)),
            Err(error) => {
                tracing::warn!(%error, "nobody ends the agent if this program is killed");
                Self(None)
            }
        }
    }

    /// Ends the watch: there is nothing left to watch over.
    pub(super) async fn dismiss(&mut self) {
        if let Some(mut shell) = self.0.take() {
            shell.kill().await.ok();
        }
    }
}
