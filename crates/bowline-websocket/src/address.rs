//! WebSocket URLs to dial.

use std::fmt;

use tokio_tungstenite::tungstenite::http::Uri;

/// A URL to dial: `ws://host/path` or `wss://host/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub(crate) uri: Uri,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) secure: bool,
}

/// Why a WebSocket URL is invalid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressError {
    /// Not a URL.
    #[error("`{0}` is not a URL")]
    NotAUrl(String),
    /// Another scheme than `ws` or `wss`.
    #[error("`{0}` does not begin with ws:// or wss://")]
    NotWebSocket(String),
    /// No host.
    #[error("`{0}` names no host")]
    NoHost(String),
    /// A fragment, which is never sent.
    #[error("`{0}` has a fragment (`#`), which is not sent to servers")]
    Fragment(String),
    /// Credentials in the URL, where every local user can read them in the process list.
    #[error(
        "the URL holds a user name or password; put a token into \
         CLAUDE_CODE_SESSION_ACCESS_TOKEN instead"
    )]
    Credentials,
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let uri: Uri = text.parse().map_err(|_| AddressError::NotAUrl(text.to_owned()))?;
        let secure = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            _ => return Err(AddressError::NotWebSocket(text.to_owned())),
        };
        if text.contains('#') {
            return Err(AddressError::Fragment(text.to_owned()));
        }
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        if authority.contains('@') {
            return Err(AddressError::Credentials);
        }
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| AddressError::NoHost(text.to_owned()))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self { uri, host, port, secure })
    }
}

/// Without the query, in which there may be secrets.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "wss" } else { "ws" };
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        write!(f, "{scheme}://{authority}{}", self.uri.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_or_refused() {
        let good = |text: &str| {
            let Address { host, port, secure, .. } = text.parse().unwrap();
            (host, port, secure)
        };
        assert_eq!(good("ws://127.0.0.1:8080/a?b=c"), ("127.0.0.1".to_owned(), 8080, false));
        assert_eq!(good("wss://hub.example"), ("hub.example".to_owned(), 443, true));
        assert_eq!(good("ws://[::1]/x"), ("::1".to_owned(), 80, false));
        for (text, expected) in [
            ("http://x/", "`http://x/` does not begin with ws:// or wss://"),
            ("x", "`x` does not begin with ws:// or wss://"),
            ("ws://a b", "`ws://a b` is not a URL"),
            ("ws://x/#y", "`ws://x/#y` has a fragment (`#`), which is not sent to servers"),
        ] {
            assert_eq!(text.parse::<Address>().unwrap_err().to_string(), expected);
        }
        let secret = "ws://user:secret@x/".parse::<Address>().unwrap_err();
        assert_eq!(secret, AddressError::Credentials);
        assert!(!secret.to_string().contains("secret@"), "{secret}");
    }
}
