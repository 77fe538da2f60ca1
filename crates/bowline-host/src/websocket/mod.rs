//! An agent elsewhere, which dials in.

mod agent;
mod connection;
mod life;
mod listener;
mod seats;
mod slot;

pub use agent::RemoteAgent;
pub(crate) use connection::WebSocketConnection;
pub use listener::{Listener, ListenerOptions};
