//! The door over a WebSocket: the agent dials its host, and again when the connection breaks.
//!
//! The protocol is that of stdin and stdout: [`bowline_doorway`]. What is special is that the host
//! may be gone for a while. Then the session goes on; what it says is kept, what it asks stays
//! asked, and both are said again on the next connection: [`bowline_websocket`]. Only when the
//! host cannot be reached any more is it as if stdin had ended.
//!
//! ```text
//! let (door, line) = bowline_door_ws::open(dialer, Redial::default(), Opening::Free);
//! let (session, work) = Session::start(config, door.host())?;
//! let (end, ending) = tokio::join!(door.serve(session, work), line.keep());
//! ```

mod line;
mod redial;

pub use bowline_doorway::{Door, InputError, Opening, Silencer};
pub use bowline_websocket::{
    Address, AddressError, DialError, Dialer, KeepAlive, Lost, Proxies, Proxy, ProxyError, Roots,
    Token, TokenError,
};
use bowline_websocket::{Side, Tether};

pub use self::{
    line::{Ending, Line, Trouble},
    redial::{FRUITLESS, Redial},
};

/// Opens a door to the host that `dialer` dials. Nothing is dialed before [`Line::keep`] runs.
pub fn open(dialer: Dialer, redial: Redial, opening: Opening) -> (Door, Line) {
    let (tether, link) = Tether::new(Side::Agent);
    (Door::over(link, opening), Line::new(dialer, redial, tether))
}
