//! Accepting side of a connection: the host's.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    accept_hdr_async_with_config,
    tungstenite::{
        self,
        handshake::server::{ErrorResponse, Request, Response},
        http::{HeaderMap, HeaderValue, StatusCode, header},
    },
};

use crate::{
    LAST_REQUEST_ID,
    socket::{Activity, MonitoredStream, Socket, config},
};

/// The opening handshake of an agent that dials.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Handshake {
    /// The path it dialed, without the query.
    pub path: String,
    /// The query, without its question mark.
    pub query: Option<String>,
    /// The last message it has sent, if it was connected before.
    pub last_sent: Option<String>,
    /// Its `User-Agent`.
    pub user_agent: Option<String>,
    headers: HeaderMap,
}

impl Handshake {
    fn new(request: &Request) -> Self {
        let uri = request.uri();
        let mut handshake = Self {
            path: uri.path().to_owned(),
            query: uri.query().map(str::to_owned),
            last_sent: None,
            user_agent: None,
            headers: request.headers().clone(),
        };
        handshake.last_sent = handshake.header(LAST_REQUEST_ID).map(str::to_owned);
        handshake.user_agent = handshake.header(header::USER_AGENT.as_str()).map(str::to_owned);
        handshake
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether it carries the token.
    pub fn has_token(&self, token: &str) -> bool {
        let expected = format!("Bearer {token}");
        let sent = self.header(header::AUTHORIZATION.as_str()).unwrap_or_default();
        // In constant time: as long for a token that is almost right as for any other.
        let differences = sent.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        sent.len() == expected.len() && differences == 0
    }
}

/// Why a handshake is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeRefusal {
    /// The token is missing or wrong.
    Unauthorized,
    /// The client is not an agent.
    Forbidden,
    /// No session expects an agent at this path.
    NotFound,
    /// The session at this path is over.
    Gone,
    /// Too many agents wait to be taken.
    Unavailable,
}

impl HandshakeRefusal {
    fn status(self) -> StatusCode {
        match self {
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Gone => StatusCode::GONE,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// An accepted connection.
#[derive(Debug)]
pub struct Accepted {
    /// The agent's handshake.
    pub handshake: Handshake,
    /// The connection to the agent.
    pub socket: Socket,
}

/// Accepts a connection if `admit` does, which names the last message received from the agent.
pub async fn accept(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    admit: impl FnOnce(&Handshake) -> Result<Option<String>, HandshakeRefusal> + Send + Unpin,
) -> Result<Accepted, Box<tungstenite::Error>> {
    let activity = Activity::new();
    let stream = MonitoredStream { wire: Box::new(stream), activity: activity.clone() };
    let mut handshake = None;
    #[expect(clippy::result_large_err, reason = "the WebSocket library wants it so")]
    let respond = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
        let received = Handshake::new(request);
        let admitted = admit(&received);
        handshake = Some(received);
        match admitted {
            Ok(last_received) => {
                let last_received = last_received.and_then(|it| HeaderValue::from_str(&it).ok());
                if let Some(last_received) = last_received {
                    response.headers_mut().insert(LAST_REQUEST_ID, last_received);
                }
                Ok(response)
            }
            Err(refusal) => {
                let mut response = ErrorResponse::new(None);
                *response.status_mut() = refusal.status();
                Err(response)
            }
        }
    };
    let stream = accept_hdr_async_with_config(stream, respond, Some(config())).await?;
    let handshake = handshake.expect("a handshake that succeeds was admitted");
    // An agent does not name what it has received: its pongs acknowledge it.
    Ok(Accepted { handshake, socket: Socket { stream, activity, last_received: None } })
}
