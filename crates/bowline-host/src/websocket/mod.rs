//! Agents that connect to this program over a WebSocket.

mod connection;
mod latest;
mod life;
mod listener;
mod on_demand;
mod registry;
mod remote_agent;

pub use listener::{Listener, ListenerOptions};
pub use on_demand::{AgentInvitation, OnDemand, StartAgent};
pub use remote_agent::RemoteAgent;
