//! Guardian shell that ends registered process groups if this program is killed.
//!
//! It keeps a list of groups and does nothing else until its input ends, which happens when this program
//! is gone, however it went. `PR_SET_PDEATHSIG` would do the same, but it has to be set between fork and
//! exec, where safe code cannot run; it watches the thread that started the process and not the program;
//! and it does not cover what that process starts.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Child, Stdio},
};

use parking_lot::Mutex;

use crate::blocking_command;

/// Reads lines of `+ TARGET` and `- TARGET`. At the end of input it ends the targets that are left.
///
/// A target to terminate is a group, or a process alone if it leads none. Which of them it is does not
/// change in between, so that a number that was freed meanwhile is not signaled. A second is what a
/// transcript takes to be written.
const SCRIPT: &str = r#"
left=' '
while read -r change target; do
  case $change$left in
    +*) left="$left$target " ;;
    -*" $target "*) left="${left%% "$target" *} ${left#* "$target" }" ;;
  esac
done
terminated=
for target in $left; do
  id=${target#*:}
  case $target in
    kill:*) kill -s KILL -- "-$id" ;;
    term:*)
      if kill -s TERM -- "-$id"; then terminated="$terminated -$id"
      elif kill -s TERM -- "$id"; then terminated="$terminated $id"
      fi ;;
  esac
done
if [ "$terminated" ]; then sleep 1; fi
for target in $terminated; do kill -s KILL -- "$target"; done
"#;

/// The guardian's way of ending a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrphanPolicy {
    /// SIGKILL at once.
    Kill,
    /// SIGTERM, a second, SIGKILL.
    TerminateThenKill,
}

impl OrphanPolicy {
    fn line(self, change: char, leader: i32) -> String {
        match self {
            Self::Kill => format!("{change} kill:{leader}\n"),
            Self::TerminateThenKill => format!("{change} term:{leader}\n"),
        }
    }
}

/// One for the whole program, since it waits for the program's end.
static GUARDIAN: Mutex<Guardian> = Mutex::new(Guardian::new());

/// Registers the group of this leader.
pub(crate) fn watch(leader: i32, policy: OrphanPolicy) {
    GUARDIAN.lock().watch(leader, policy);
}

/// Removes the group of this leader: its number may be reused.
pub(crate) fn dismiss(leader: i32) {
    GUARDIAN.lock().dismiss(leader);
}

/// The shell, started with the first group, and the groups that it knows.
#[derive(Debug)]
struct Guardian {
    groups: BTreeMap<i32, OrphanPolicy>,
    /// Ends by itself, after its input has ended with this program.
    shell: Option<Child>,
}

impl Guardian {
    const fn new() -> Self {
        Self { groups: BTreeMap::new(), shell: None }
    }

    fn watch(&mut self, leader: i32, policy: OrphanPolicy) {
        if self.groups.insert(leader, policy).is_none() {
            self.send(policy.line('+', leader));
        }
    }

    fn dismiss(&mut self, leader: i32) {
        if let Some(policy) = self.groups.remove(&leader) {
            self.send(policy.line('-', leader));
        }
    }

    fn send(&mut self, line: String) {
        let sent = match &mut self.shell {
            Some(shell) => write(shell, line),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        // Without a shell, or with one that was killed, another one starts with all groups.
        if sent.is_err()
            && let Err(error) = self.start()
        {
            tracing::warn!(%error, "child processes will outlive this program if it is killed");
        }
    }

    fn start(&mut self) -> io::Result<()> {
        if let Some(mut dead) = self.shell.take() {
            // Reaped at once if it is dead; killed first if it only does not read.
            dead.kill()?;
            dead.wait()?;
        }
        let mut shell = blocking_command("/bin/sh")
            .args(["-c", SCRIPT])
            // This program alone holds the other end.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            // An interrupt from a terminal is not meant for it.
            .process_group(0)
            .spawn()?;
        if let Some(input) = &shell.stdin {
            // A shell that does not read must not block this program.
            rustix::io::ioctl_fionbio(input, true)?;
        }
        let known = self.groups.iter().map(|(leader, policy)| policy.line('+', *leader)).collect();
        write(&mut shell, known)?;
        self.shell = Some(shell);
        Ok(())
    }
}

fn write(shell: &mut Child, lines: String) -> io::Result<()> {
    match &mut shell.stdin {
        Some(input) => input.write_all(lines.as_bytes()),
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

#[cfg(test)]
mod tests;
