//! Agents in their own processes.

mod connection;
mod life;
mod locate;
#[cfg(feature = "websocket")]
mod run;
mod start;
mod stderr;
mod stdout;
mod version;

pub(crate) use connection::ConnectProcess;
#[cfg(feature = "websocket")]
pub(crate) use run::run;
