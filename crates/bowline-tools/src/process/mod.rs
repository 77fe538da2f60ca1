//! Shell commands: `bash` in a process group, its output in bounded memory, its last directory
//! reported back, and no process left running.

mod capture;
mod confinement;
mod git_environment;
mod keys;
mod profile;
mod running_command;

pub(crate) use capture::Capture;
pub(crate) use confinement::complete_confinement;
pub(crate) use git_environment::{git_environment, only_shows_settings};
pub use keys::MODEL_KEYS;
pub(crate) use profile::Profile;
pub(crate) use running_command::{RunningCommand, ShellCommand};
