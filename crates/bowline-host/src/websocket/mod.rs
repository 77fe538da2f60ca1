//! An agent elsewhere, which dials in.

mod agent;
mod connection;
mod life;
mod listener;
mod on_demand;
mod seats;
mod slot;

pub use agent::RemoteAgent;
pub(crate) use connection::WebSocketConnection;
pub use listener::{Listener, ListenerOptions};
pub(crate) use on_demand::Summoned;
pub use on_demand::{OnDemand, Summon, Summons};
