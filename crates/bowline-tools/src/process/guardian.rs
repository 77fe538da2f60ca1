//! Who ends our process groups if this program dies without a chance to.
//!
//! A shell that keeps a list of groups and does nothing else until its input ends, which comes when
//! this program is gone, however it went. The system could be told to do the same
//! (`PR_SET_PDEATHSIG`), but only from between fork and exec, which is no place for safe code, and
//! only for one process, not for those that it starts.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::Mutex,
};

use crate::workspace::lock;

/// Lines of `+ GROUP` and `- GROUP`, and at their end the death of the groups that are left.
const SCRIPT: &str = r#"
left=' '
while read -r change group; do
  case $change$left in
    +*) left="$left$group " ;;
    -*" $group "*) left="${left%% "$group" *} ${left#* "$group" }" ;;
  esac
done
for group in $left; do kill -s KILL -- "-$group"; done
"#;

/// One for the whole program: it is the program's death that it waits for.
static GUARDIAN: Mutex<Guardian> = Mutex::new(Guardian { groups: BTreeSet::new(), shell: None });

/// The shell, if it was needed so far, and what it knows.
struct Guardian {
    groups: BTreeSet<i32>,
    /// Its input ends with this program; then it ends by itself.
    shell: Option<Child>,
}

/// Watches over the group of this leader.
pub(super) fn watch(leader: i32) {
    let mut guardian = lock(&GUARDIAN);
    if guardian.groups.insert(leader) {
        guardian.tell('+', leader);
    }
}

/// Nobody is left in the group: its number may soon be somebody else's.
pub(super) fn dismiss(leader: i32) {
    let mut guardian = lock(&GUARDIAN);
    if guardian.groups.remove(&leader) {
        guardian.tell('-', leader);
    }
}

impl Guardian {
    fn tell(&mut self, change: char, group: i32) {
        let told = match &mut self.shell {
            Some(shell) => write(shell, format!("{change} {group}\n")),
            None => Err(io::ErrorKind::NotConnected.into()),
        };
        // Without a shell, or with one that somebody has killed, another one starts from all of it.
        if told.is_err()
            && let Err(error) = self.start()
        {
            tracing::warn!(%error, "nobody ends commands if this program is killed");
        }
    }

    fn start(&mut self) -> io::Result<()> {
        if let Some(mut dead) = self.shell.take() {
            // Reaped at once if it is dead; killed first if it only does not listen.
            dead.kill()?;
            dead.wait()?;
        }
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            // Its other end is nowhere but here.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            // Whoever interrupts this program from a terminal does not mean it.
            .process_group(0)
            .spawn()?;
        if let Some(input) = &shell.stdin {
            // A shell that does not listen must not stop this program.
            rustix::io::ioctl_fionbio(input, true)?;
        }
        let known: String = self.groups.iter().map(|group| format!("+ {group}\n")).collect();
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
