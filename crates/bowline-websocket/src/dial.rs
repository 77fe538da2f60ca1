//! The agent's side of a connection: it dials.

use std::{fmt, fs, io, path::PathBuf, time::Duration};

use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::{net::TcpStream, time};
use tokio_tungstenite::{
    client_async_with_config,
    tungstenite::{
        self,
        client::IntoClientRequest,
        handshake::client::Request,
        http::{HeaderMap, HeaderName, HeaderValue, Uri, header},
    },
};

use crate::{
    LAST_REQUEST_ID,
    socket::{Activity, Socket, Watched, Wire, config},
    tls::{Roots, RootsError},
};

/// How long a dial may take if nobody says, from the name of the host to the handshake's answer.
const DIAL_LIMIT: Duration = Duration::from_secs(15);

/// Where to dial: `ws://host/path` or `wss://host/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    uri: Uri,
    host: String,
    port: u16,
    secure: bool,
}

/// What is wrong with an address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no URL.
    #[error("`{0}` is not a URL")]
    NotAUrl(String),
    /// It is a URL of another kind.
    #[error("`{0}` does not begin with ws:// or wss://")]
    NotWebSocket(String),
    /// It names no host.
    #[error("`{0}` names no host")]
    NoHost(String),
    /// A part of it is for browsers.
    #[error("`{0}` has a fragment (`#`), which is not sent to servers")]
    Fragment(String),
    /// It holds a secret, and whoever can list processes can read it.
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

/// By what a server knows that we may dial it.
#[derive(Clone, Default)]
pub enum Token {
    /// By nothing.
    #[default]
    None,
    /// By this.
    Text(String),
    /// By what the file says when it is dialed, so that a new token needs no new agent.
    File(PathBuf),
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Text(_) => f.write_str("Text(…)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It cannot be read.
    #[error("the token in {}: {source}", path.display())]
    Unreadable {
        /// Where it should be.
        path: PathBuf,
        /// Why it is not there.
        source: io::Error,
    },
    /// It cannot be sent.
    #[error("the token holds characters that no header may hold")]
    Unsendable,
}

impl Token {
    fn header(&self) -> Result<Option<HeaderValue>, TokenError> {
        let token = match self {
            Self::None => return Ok(None),
            Self::Text(token) => token.clone(),
            Self::File(path) => read_token(path.clone())?,
        };
        let header = format!("Bearer {token}").parse();
        let mut header: HeaderValue = header.map_err(|_| TokenError::Unsendable)?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

fn read_token(path: PathBuf) -> Result<String, TokenError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(source) => Err(TokenError::Unreadable { path, source }),
    }
}

/// Why a dial failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// Nobody is there, or cannot be reached.
    #[error("{0}")]
    Unreachable(#[source] io::Error),
    /// It took too long.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The server does not let us in.
    #[error("the server answered {0}")]
    Refused(u16),
    /// What answered is no WebSocket server, or not a proper one.
    #[error("the handshake failed: {0}")]
    Handshake(#[source] Box<tungstenite::Error>),
    /// The server's certificate is not good.
    #[error("TLS: {0}")]
    Tls(#[source] io::Error),
    /// The host's name cannot be in a certificate.
    #[error("TLS: {0}")]
    Name(#[source] InvalidDnsNameError),
    /// Nobody can be believed.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// There is no token.
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl From<tungstenite::Error> for DialError {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Io(error) => Self::Unreachable(error),
            tungstenite::Error::Http(answer) => Self::Refused(answer.status().as_u16()),
            error => Self::Handshake(Box::new(error)),
        }
    }
}

/// How to dial.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Dialer {
    /// Where.
    pub address: Address,
    /// By what the server knows that we may.
    pub token: Token,
    /// Whom to believe.
    pub roots: Roots,
    /// How long a dial may take.
    pub limit: Duration,
    headers: HeaderMap,
}

impl Dialer {
    /// Dials there, without a token.
    pub fn new(address: Address) -> Self {
        let mut headers = HeaderMap::new();
        // By this a host knows an agent that says by itself what was missed.
        let name = HeaderValue::from_static(concat!("bowline/", env!("CARGO_PKG_VERSION")));
        headers.insert(header::USER_AGENT, name);
        Self { address, token: Token::None, roots: Roots::System, limit: DIAL_LIMIT, headers }
    }

    /// Says this, too. `false` if no header can say it.
    #[must_use]
    pub fn header(&mut self, name: &str, value: &str) -> bool {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
        else {
            return false;
        };
        self.headers.append(name, value);
        true
    }

    /// Dials once. `last_said` names the last message we said, if there was one.
    ///
    /// Cancel safety: a dial that is dropped is hung up.
    pub async fn dial(&self, last_said: Option<&str>) -> Result<Socket, DialError> {
        time::timeout(self.limit, self.dial_patiently(last_said))
            .await
            .unwrap_or(Err(DialError::TimedOut(self.limit)))
    }

    async fn dial_patiently(&self, last_said: Option<&str>) -> Result<Socket, DialError> {
        let request = self.request(last_said)?;
        let Address { host, port, secure, .. } = &self.address;
        let tcp =
            TcpStream::connect((host.as_str(), *port)).await.map_err(DialError::Unreachable)?;
        // Questions and answers are small and somebody waits for them.
        tcp.set_nodelay(true).map_err(DialError::Unreachable)?;
        let wire: Box<dyn Wire> = if *secure {
            let name = ServerName::try_from(host.clone()).map_err(DialError::Name)?;
            let tls = self.roots.connector()?.connect(name, tcp).await;
            Box::new(tls.map_err(DialError::Tls)?)
        } else {
            Box::new(tcp)
        };
        let activity = Activity::new();
        let watched = Watched { wire, activity: activity.clone() };
        let (stream, answer) = client_async_with_config(request, watched, Some(config())).await?;
        let last_heard = answer.headers().get(LAST_REQUEST_ID).and_then(|it| it.to_str().ok());
        let last_heard = last_heard.filter(|it| !it.is_empty()).map(str::to_owned);
        Ok(Socket { stream, activity, last_heard })
    }

    fn request(&self, last_said: Option<&str>) -> Result<Request, DialError> {
        let mut request = self.address.uri.clone().into_client_request()?;
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        if let Some(token) = self.token.header()? {
            headers.insert(header::AUTHORIZATION, token);
        }
        if let Some(last_said) = last_said.and_then(|it| HeaderValue::from_str(it).ok()) {
            headers.insert(LAST_REQUEST_ID, last_said);
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
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

    #[test]
    fn tokens_are_not_shown() {
        let token = Token::Text("abc123".to_owned());
        assert!(!format!("{token:?} {:?}", token.header().unwrap()).contains("abc123"));
        assert_eq!(token.header().unwrap().unwrap(), "Bearer abc123");
        assert!(Token::Text("a\nb".to_owned()).header().is_err());
    }
}
