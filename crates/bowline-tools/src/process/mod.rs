//! How a command runs: `bash` in a process group of its own, its output in bounded memory, its
//! last directory reported back, and nothing left behind.

mod capture;
mod held;
mod keys;
mod profile;
mod quiet_git;
mod running;

pub(crate) use capture::Capture;
pub(crate) use held::complete;
pub use keys::MODEL_KEYS;
pub(crate) use profile::Profile;
pub(crate) use quiet_git::{only_shows_settings, variables as quiet_git};
pub(crate) use running::{Running, ShellCommand};
