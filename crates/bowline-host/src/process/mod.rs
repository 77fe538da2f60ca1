//! An agent in a process of its own.

mod connection;
mod group;
mod guardian;
mod life;
mod locate;
#[cfg(feature = "websocket")]
mod run;
mod start;
mod stderr;
mod stdout;
mod version;

pub(crate) use connection::ProcessConnection;
#[cfg(feature = "websocket")]
pub(crate) use run::run;
pub(crate) use start::program;
pub(crate) use version::installed_version;
