//! How a command runs: `bash` in a process group of its own, its output in bounded memory, its
//! last directory reported back, and nothing left behind.

mod capture;
mod group;
mod running;

pub(crate) use capture::Capture;
pub(crate) use group::Groups;
pub(crate) use running::{Running, ShellCommand, exit_code};
