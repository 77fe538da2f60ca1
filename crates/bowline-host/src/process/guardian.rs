//! Who ends the agent's process if this program dies without a chance to.
//!
//! A shell that does nothing but wait for the end of its input, which comes when this program is
//! gone, however it went. The system could be told to do the same (`PR_SET_PDEATHSIG`), but only
//! from between fork and exec, which is no place for safe code, and it would count the thread
//! that started the process, not the program.

use std::process::Stdio;

use tokio::process::{Child, Command};

/// Asks, waits as long as a transcript takes to be written, and kills: the group, or the process alone
/// if it leads none. Which of them it is does not change in between, so that a number which is free by
/// then is not looked for elsewhere.
const SCRIPT: &str = r#"
read -r _
whom="-$1"
kill -s TERM -- "$whom" || { whom="$1"; kill -s TERM -- "$whom"; }
sleep 1
kill -s KILL -- "$whom"
"#;

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncBufReadExt, BufReader},
        time,
    };

    use super::*;

    /// Far more than it takes, and far less than the process would run by itself.
    const SOON: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_process_is_ended_whether_or_not_it_leads_a_group() {
        for leads in [true, false] {
            let mut command = Command::new("/bin/sh");
            // What is ignored stays ignored across exec.
            command.args(["-c", "trap '' TERM; echo ready; exec sleep 1000"]);
            command.stdout(Stdio::piped()).kill_on_drop(true);
            if leads {
                command.process_group(0);
            }
            let mut process = command.spawn().unwrap();
            let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
            assert_eq!(said.next_line().await.unwrap().as_deref(), Some("ready"));
            let mut guardian = Guardian::over(process.id());
            // What the shell sees of the end of this program.
            drop(guardian.0.as_mut().unwrap().stdin.take());
            let ended = time::timeout(SOON, process.wait()).await;
            ended.unwrap_or_else(|_| panic!("it runs on; leads a group: {leads}")).unwrap();
        }
    }
}
