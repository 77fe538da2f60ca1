//! Dialing side of a connection: the agent's.

use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::{net::TcpStream, time};
use tokio_tungstenite::{
    client_async_with_config,
    tungstenite::{
        client::IntoClientRequest,
        handshake::client::Request,
        http::{HeaderMap, HeaderName, HeaderValue, header},
    },
};

use crate::{
    LAST_REQUEST_ID,
    address::Address,
    dial_error::DialError,
    proxy::Proxy,
    socket::{Activity, MonitoredStream, Socket, Wire, config},
    tls::Roots,
    token::Token,
};

/// Default time limit of a dial, from name resolution to the end of the handshake.
const DIAL_LIMIT: Duration = Duration::from_secs(15);

/// Address, credentials and route of a connection to dial.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Dialer {
    /// The URL.
    pub address: Address,
    /// The bearer token.
    pub token: Token,
    /// The root certificates.
    pub roots: Roots,
    /// The proxy, if there is one.
    pub proxy: Option<Proxy>,
    /// The time limit of a dial.
    pub limit: Duration,
    headers: HeaderMap,
}

impl Dialer {
    /// A dialer without a token or proxy.
    pub fn new(address: Address) -> Self {
        let mut headers = HeaderMap::new();
        // By this a host recognizes an agent that replays missed lines by itself.
        let name = HeaderValue::from_static(concat!("bowline/", env!("CARGO_PKG_VERSION")));
        headers.insert(header::USER_AGENT, name);
        let (token, roots) = (Token::None, Roots::System);
        Self { address, token, roots, proxy: None, limit: DIAL_LIMIT, headers }
    }

    /// Adds a header. `false` if its name or value is invalid.
    #[must_use]
    pub fn header(&mut self, name: &str, value: &str) -> bool {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>())
        else {
            return false;
        };
        self.headers.append(name, value);
        true
    }

    /// Dials once. `last_sent` names the last message we sent, if there was one.
    ///
    /// Cancel safety: dropping the future closes the connection.
    pub async fn dial(&self, last_sent: Option<&str>) -> Result<Socket, DialError> {
        time::timeout(self.limit, self.dial_without_limit(last_sent))
            .await
            .unwrap_or(Err(DialError::TimedOut(self.limit)))
    }

    async fn dial_without_limit(&self, last_sent: Option<&str>) -> Result<Socket, DialError> {
        let request = self.request(last_sent)?;
        let mut wire = self.connect().await?;
        if self.address.secure {
            wire = secure(wire, &self.address.host, &self.roots).await?;
        }
        let activity = Activity::new();
        let stream = MonitoredStream { wire, activity: activity.clone() };
        let (stream, response) = client_async_with_config(request, stream, Some(config())).await?;
        let last_received = response.headers().get(LAST_REQUEST_ID).and_then(|it| it.to_str().ok());
        let last_received = last_received.filter(|it| !it.is_empty()).map(str::to_owned);
        Ok(Socket { stream, activity, last_received })
    }

    /// Connects to the host, through the proxy if there is one.
    async fn connect(&self) -> Result<Box<dyn Wire>, DialError> {
        let Some(proxy) = &self.proxy else {
            return connect_tcp(&self.address.host, self.address.port).await;
        };
        let connected = connect_tcp(&proxy.host, proxy.port).await;
        let mut wire = connected.map_err(|error| proxy.attribute(error))?;
        if proxy.secure {
            wire = secure(wire, &proxy.host, &Roots::System).await?;
        }
        proxy.connect(&mut *wire, &self.address).await?;
        Ok(wire)
    }

    fn request(&self, last_sent: Option<&str>) -> Result<Request, DialError> {
        let mut request = self.address.uri.clone().into_client_request()?;
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        if let Some(token) = self.token.header()? {
            headers.insert(header::AUTHORIZATION, token);
        }
        if let Some(last_sent) = last_sent.and_then(|it| HeaderValue::from_str(it).ok()) {
            headers.insert(LAST_REQUEST_ID, last_sent);
        }
        Ok(request)
    }
}

async fn connect_tcp(host: &str, port: u16) -> Result<Box<dyn Wire>, DialError> {
    let tcp = TcpStream::connect((host, port)).await.map_err(DialError::Unreachable)?;
    // Control frames are small, and latency matters.
    tcp.set_nodelay(true).map_err(DialError::Unreachable)?;
    Ok(Box::new(tcp))
}

async fn secure(
    wire: Box<dyn Wire>,
    host: &str,
    roots: &Roots,
) -> Result<Box<dyn Wire>, DialError> {
    let name = ServerName::try_from(host.to_owned()).map_err(DialError::Name)?;
    let stream = roots.connector()?.connect(name, wire).await;
    Ok(Box::new(stream.map_err(DialError::Tls)?))
}
