//! Child processes: started in groups, ended in order, and never left running.
//!
//! Every process that Bowline starts is built by a constructor of this crate ([`group_command`], [`command`],
//! [`detached_command`], [`blocking_command`]; `clippy.toml` refuses others), so that this crate is where to look for what a child
//! inherits and how it ends. A [`ProcessGroup`] is killed when it is dropped, and by a guardian shell if
//! the program itself is killed before it can.

mod command;
mod exit;
mod group;
mod guardian;

pub use command::{blocking_command, command, detached_command, group_command, set_variables};
pub use exit::exit_code;
pub use group::{ProcessGroup, ProcessGroups, StopGrace};
