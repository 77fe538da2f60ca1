//! Confined processes: the kernel lets them read what they were judged to read, and nothing else.
//!
//! A [`Confinement`] lists what a command may read; it may change nothing, reach no network and gain no
//! privileges. [`Confinement::inside`] starts a process under it. Landlock, `no_new_privs` and seccomp apply
//! to the calling thread and to what it starts, so a thread of its own restricts itself, starts the
//! process and ends: nothing else of this program is restricted, and no launcher program is needed.
//!
//! Either all of it holds or the command does not run. Where the kernel has no Landlock,
//! [`Support::of_kernel`] reports that, and the caller decides.

mod confinement;
mod enforce;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
mod support;
mod system;

pub use confinement::{Confinement, Readable};
#[cfg(not(target_os = "linux"))]
use other as linux;
pub use support::Support;
