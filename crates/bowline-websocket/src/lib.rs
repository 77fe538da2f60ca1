//! Lines over WebSockets, for both ends of a session, and how a session outlives a connection.
//!
//! A [`Socket`] is one connection: the agent [`dial`](Dialer::dial)s it, the host [`accept`]s it.
//! A [`Tether`] is what stays when a connection breaks: what was said, to say it again, and what
//! was heard, to take it once. The rest of the program sees an ordinary
//! [`Link`](bowline_peer::Link) that lives as long as the tether.
//!
//! # How nothing is lost, and nothing taken twice
//!
//! - Every line has a number, and pings bear the number of the last line before them. Whoever
//!   answers a ping with its pong, as every WebSocket does, has all lines up to there.
//! - A host that accepts a connection names the last message it has: `X-Last-Request-Id`. That
//!   counts for more than pongs, because a host that was started anew knows less than its
//!   predecessor answered.
//! - Lines that the other end may not have are said again, at most the last
//!   thousand. How many were forgotten is told: `system`/`messages_lost`.
//! - Questions without an answer are asked again under the same name, however old they are. A
//!   question that comes twice is not put to anybody: its answer is repeated, if there is one. Only
//!   when its answer has arrived is the same question, on another connection, a new one: it comes
//!   from a host that was started anew.

mod accept;
mod address;
mod dial;
mod framing;
mod identity;
mod memory;
mod proxy;
mod seen;
mod socket;
mod tether;
mod tls;
mod token;

pub use accept::{Accepted, Knock, Refusal, accept};
pub use address::{Address, AddressError};
pub use dial::{DialError, Dialer};
pub use proxy::{Proxies, Proxy, ProxyError};
pub use socket::{Activity, KeepAlive, Lost, Socket};
pub use tether::{Hearsay, Parting, Side, Tether, Trace};
pub use tls::{Roots, RootsError};
pub use token::{Token, TokenError};

/// The header in which the agent names the last message it said, and the host the last it heard.
pub const LAST_REQUEST_ID: &str = "x-last-request-id";
