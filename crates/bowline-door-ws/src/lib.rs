//! The door over a WebSocket: the agent dials its host, and reconnects when the connection is lost.
//!
//! The protocol is that of stdin and stdout: [`bowline_doorway`]. In addition the host may be
//! unreachable for a while. Then the session goes on: its messages are buffered, its requests stay
//! open, and both are replayed after the reconnect: [`bowline_websocket`]. When all attempts to
//! reconnect have failed, the session's input ends, as if stdin had.
//!
//! ```text
//! let (door, reconnector) = bowline_door_ws::open(dialer, ReconnectPolicy::default(), Opening::Free);
//! let (session, work) = Session::start(config, door.host())?;
//! let (end, ending) = tokio::join!(door.serve(session, work), reconnector.run());
//! ```

mod reconnect_policy;
mod reconnector;

pub use bowline_doorway::{Door, InputError, Opening, Silencer};
pub use bowline_websocket::{
    Address, AddressError, ConnectionLost, DialError, Dialer, KeepAlive, Proxies, Proxy,
    ProxyError, Roots, Token, TokenError,
};
use bowline_websocket::{ResumableLink, Side};

pub use self::{
    reconnect_policy::{IDLE_CONNECTIONS_PER_ATTEMPT, ReconnectPolicy},
    reconnector::{ConnectionEnd, ConnectionFailure, Reconnector},
};

/// Opens a door to the host that `dialer` dials. Nothing is dialed before [`Reconnector::run`] runs.
pub fn open(dialer: Dialer, policy: ReconnectPolicy, opening: Opening) -> (Door, Reconnector) {
    let (resumable, link) = ResumableLink::new(Side::Agent);
    (Door::over(link, opening), Reconnector::new(dialer, policy, resumable))
}
