//! An agent in a process of its own.
//!
//! # What becomes of the process
//!
//! It ends when the session does: its stdin is closed, and if it does not end by itself within
//! [`Limits::close`](crate::Limits::close), it is sent SIGTERM, and after the same time again
//! SIGKILL. A session that is dropped rather than disconnected kills it at once. It leads a
//! process group of its own, and signals go to the whole group.
//!
//! If this program itself is killed, nobody is left to send signals; the agent then notices
//! that its stdin has ended, finishes its turn and exits. (The system can be told to kill it,
//! but only from between fork and exec, which is no place for safe code.)

mod connection;
mod group;
mod life;
mod locate;
mod service;
mod start;
mod stderr;

pub(crate) use connection::ProcessConnection;
