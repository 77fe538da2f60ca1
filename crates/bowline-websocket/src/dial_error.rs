//! Errors of dialing, directly or through a proxy.

use std::{fmt, io, time::Duration};

use rustls::pki_types::InvalidDnsNameError;
use tokio_tungstenite::tungstenite;

use crate::{tls::RootsError, token::TokenError};

/// Why a dial failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The server cannot be reached.
    #[error("{0}")]
    Unreachable(#[source] io::Error),
    /// The time limit has passed.
    #[error("no response within {0:?}")]
    TimedOut(Duration),
    /// The server refused the handshake, with this HTTP status.
    #[error("the server responded with status {0}")]
    Refused(u16),
    /// The proxy refused to connect.
    #[error("the proxy {proxy} {}", ProxyStatus(*status))]
    Proxy {
        /// The proxy's URL, without its password.
        proxy: String,
        /// Its status, if it responded in HTTP.
        status: Option<u16>,
    },
    /// The server's handshake is not that of a WebSocket.
    #[error("the handshake failed: {0}")]
    Handshake(#[source] Box<tungstenite::Error>),
    /// The TLS handshake failed.
    #[error("TLS: {0}")]
    Tls(#[source] io::Error),
    /// The host's name is not a valid DNS name.
    #[error("TLS: {0}")]
    Name(#[source] InvalidDnsNameError),
    /// There are no root certificates.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The token cannot be read or sent.
    #[error(transparent)]
    Token(#[from] TokenError),
}

struct ProxyStatus(Option<u16>);

impl fmt::Display for ProxyStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "responded with status {status}"),
            None => f.write_str("does not speak HTTP"),
        }
    }
}

impl From<tungstenite::Error> for DialError {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Io(error) => Self::Unreachable(error),
            tungstenite::Error::Http(response) => Self::Refused(response.status().as_u16()),
            error => Self::Handshake(Box::new(error)),
        }
    }
}
