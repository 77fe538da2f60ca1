//! The agent's side of a connection: it dials.

use std::{fmt, io, time::Duration};

use rustls::pki_types::{InvalidDnsNameError, ServerName};
use tokio::{net::TcpStream, time};
use tokio_tungstenite::{
    client_async_with_config,
    tungstenite::{
        self,
        client::IntoClientRequest,
        handshake::client::Request,
        http::{HeaderMap, HeaderName, HeaderValue, header},
    },
};

use crate::{
    LAST_REQUEST_ID,
    address::Address,
    proxy::Proxy,
    socket::{Activity, Socket, Watched, Wire, config},
    tls::{Roots, RootsError},
    token::{Token, TokenError},
};

/// How long a dial may take if nobody says, from the name of the host to the handshake's answer.
const DIAL_LIMIT: Duration = Duration::from_secs(15);

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
    /// The proxy on the way does not let us through.
    #[error("the proxy {proxy} {}", Answered(*status))]
    Proxy {
        /// Which proxy, without its password.
        proxy: String,
        /// What it answered, if that was HTTP.
        status: Option<u16>,
    },
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

struct Answered(Option<u16>);

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "answered {status}"),
            None => f.write_str("does not speak HTTP"),
        }
    }
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
    /// Through whom, if not directly.
    pub proxy: Option<Proxy>,
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
        let (token, roots) = (Token::None, Roots::System);
        Self { address, token, roots, proxy: None, limit: DIAL_LIMIT, headers }
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
        let mut wire = self.reach().await?;
        if self.address.secure {
            wire = secured(wire, &self.address.host, &self.roots).await?;
        }
        let activity = Activity::new();
        let watched = Watched { wire, activity: activity.clone() };
        let (stream, answer) = client_async_with_config(request, watched, Some(config())).await?;
        let last_heard = answer.headers().get(LAST_REQUEST_ID).and_then(|it| it.to_str().ok());
        let last_heard = last_heard.filter(|it| !it.is_empty()).map(str::to_owned);
        Ok(Socket { stream, activity, last_heard })
    }

    /// A wire that leads to the host, through the proxy if there is one.
    async fn reach(&self) -> Result<Box<dyn Wire>, DialError> {
        let Some(proxy) = &self.proxy else {
            return connected(&self.address.host, self.address.port).await;
        };
        let connected = connected(&proxy.host, proxy.port).await;
        let mut wire = connected.map_err(|error| proxy.blame(error))?;
        if proxy.secure {
            wire = secured(wire, &proxy.host, &Roots::System).await?;
        }
        proxy.connect(&mut *wire, &self.address).await?;
        Ok(wire)
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

async fn connected(host: &str, port: u16) -> Result<Box<dyn Wire>, DialError> {
    let tcp = TcpStream::connect((host, port)).await.map_err(DialError::Unreachable)?;
    // Questions and answers are small and somebody waits for them.
    tcp.set_nodelay(true).map_err(DialError::Unreachable)?;
    Ok(Box::new(tcp))
}

async fn secured(
    wire: Box<dyn Wire>,
    host: &str,
    roots: &Roots,
) -> Result<Box<dyn Wire>, DialError> {
    let name = ServerName::try_from(host.to_owned()).map_err(DialError::Name)?;
    let secured = roots.connector()?.connect(name, wire).await;
    Ok(Box::new(secured.map_err(DialError::Tls)?))
}
