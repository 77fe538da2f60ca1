//! An agent in a process of its own.

mod connection;
mod group;
mod guardian;
mod life;
mod locate;
mod start;
mod stderr;
mod version;

pub(crate) use connection::ProcessConnection;
pub(crate) use version::installed_version;
