//! Lines over WebSockets for both ends of a session, with sessions that survive reconnects.
//!
//! A [`Socket`] is one connection: the agent [`dial`](Dialer::dial)s it, the host [`accept`]s it.
//! A [`ResumableLink`] survives connections: it buffers sent lines to replay them, and remembers
//! received lines to deduplicate them. The rest of the program sees an ordinary
//! [`Link`](bowline_peer::Link) that lives as long as the resumable link.
//!
//! # How no line is lost or delivered twice
//!
//! - Every line has a number, and pings carry the number of the last line before them. The pong,
//!   which every WebSocket implementation sends, acknowledges all lines up to there.
//! - A host that accepts a connection names the last message it has: `X-Last-Request-Id`. This
//!   takes precedence over pongs, because a restarted host has less than its predecessor
//!   acknowledged.
//! - Unacknowledged lines are replayed after a reconnect, at most the last thousand. The number
//!   of lines that were dropped is reported: `system`/`messages_lost`.
//! - Requests without a response are sent again under the same id, however old they are. A
//!   request that arrives twice is not handled twice: its response is repeated, if there is one.
//!   Only after the response was acknowledged is the same request, on another connection, a new
//!   one: it comes from a host that was restarted.

mod accept;
mod address;
mod dial;
mod dial_error;
mod duplicate_filter;
mod framing;
mod identity;
mod proxy;
mod replay_buffer;
mod resumable_link;
mod socket;
mod tls;
mod token;

pub use accept::{Accepted, Handshake, HandshakeRefusal, accept};
pub use address::{Address, AddressError};
pub use dial::Dialer;
pub use dial_error::DialError;
pub use proxy::{Proxies, Proxy, ProxyError};
pub use resumable_link::{Disconnect, LineInjector, ReceiveCursor, ResumableLink, Side};
pub use socket::{Activity, ConnectionLost, KeepAlive, Socket};
pub use tls::{Roots, RootsError};
pub use token::{Token, TokenError};

/// The header in which the agent names the last message it sent, and the host the last it received.
pub const LAST_REQUEST_ID: &str = "x-last-request-id";
