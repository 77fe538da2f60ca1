//! Replacements for how the agent's process is started: a spawner, another user.

use std::{fs, io};

use tokio::process::{Child, Command};

/// Starts the agent's process. A closure that takes the command is one.
///
/// The command is complete: program, arguments, environment, folder and pipes. What is returned must
/// have its three streams piped, and dies with the session as if we had started it ourselves. What it has
/// started in turn dies with it only if it leads a process group, as it does if the command itself is
/// started, or another with `process_group(0)`.
///
/// ```
/// use bowline_host::Options;
/// use std::sync::Arc;
/// use tokio::process::Command;
///
/// // The same command, in an external sandbox.
/// let mut options = Options::default();
/// options.process.spawner = Some(Arc::new(|command: Command| {
///     let command = command.into_std();
///     let mut outer = Command::new("sandbox");
///     outer.arg(command.get_program()).args(command.get_args());
///     for (name, value) in command.get_envs() {
///         match value {
///             Some(value) => outer.env(name, value),
///             None => outer.env_remove(name),
///         };
///     }
///     if let Some(folder) = command.get_current_dir() {
///         outer.current_dir(folder);
///     }
///     outer.process_group(0).kill_on_drop(true);
///     outer.stdin(std::process::Stdio::piped());
///     outer.stdout(std::process::Stdio::piped());
///     outer.stderr(std::process::Stdio::piped());
///     outer.spawn()
/// }));
/// ```
pub trait Spawner: Send + Sync + 'static {
    /// Starts it.
    fn spawn(&self, command: Command) -> io::Result<Child>;
}

impl<F: Fn(Command) -> io::Result<Child> + Send + Sync + 'static> Spawner for F {
    fn spawn(&self, command: Command) -> io::Result<Child> {
        self(command)
    }
}

/// A user of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessUser {
    /// By number, with the group of the same number if none is known.
    Id(u32),
    /// By name, as in `/etc/passwd`.
    Name(String),
}

impl ProcessUser {
    /// The numbers of the user and its group.
    pub(crate) fn ids(&self) -> io::Result<(u32, u32)> {
        self.find(&fs::read_to_string("/etc/passwd").unwrap_or_default())
    }

    fn find(&self, users: &str) -> io::Result<(u32, u32)> {
        let found = users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, _, id, group) =
                (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            let (id, group) = (id.parse().ok()?, group.parse().ok()?);
            let is_it = match self {
                Self::Id(wanted) => id == *wanted,
                Self::Name(wanted) => name == wanted,
            };
            is_it.then_some((id, group))
        });
        match (found, self) {
            (Some(ids), _) => Ok(ids),
            (None, Self::Id(id)) => Ok((*id, *id)),
            (None, Self::Name(name)) => {
                let what = format!("there is no user `{name}` in /etc/passwd");
                Err(io::Error::new(io::ErrorKind::NotFound, what))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\n\nada:x:1000:100::/home/ada:/bin/sh\n";
        let ids = |user: ProcessUser| user.find(users).ok();
        assert_eq!(ids(ProcessUser::Name("ada".to_owned())), Some((1000, 100)));
        assert_eq!(ids(ProcessUser::Id(1000)), Some((1000, 100)));
        assert_eq!(ids(ProcessUser::Id(7)), Some((7, 7)));
        assert_eq!(ids(ProcessUser::Name("eve".to_owned())), None);
    }
}
