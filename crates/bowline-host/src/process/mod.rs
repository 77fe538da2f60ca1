//! An agent in a process of its own.

mod connection;
mod group;
mod life;
mod locate;
mod start;
mod stderr;

pub(crate) use connection::ProcessConnection;
