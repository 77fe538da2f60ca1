//! The host's side of a connection: it is dialed.

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
    socket::{Activity, Socket, Watched, config},
};

/// What an agent says before it is let in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Knock {
    /// The path it dialed, without the query.
    pub path: String,
    /// The query, without its question mark.
    pub query: Option<String>,
    /// The last message it has said, if it has been here before.
    pub last_said: Option<String>,
    /// What it calls itself.
    pub user_agent: Option<String>,
    headers: HeaderMap,
}

impl Knock {
    fn new(request: &Request) -> Self {
        let uri = request.uri();
        let mut knock = Self {
            path: uri.path().to_owned(),
            query: uri.query().map(str::to_owned),
            last_said: None,
            user_agent: None,
            headers: request.headers().clone(),
        };
        knock.last_said = knock.header(LAST_REQUEST_ID).map(str::to_owned);
        knock.user_agent = knock.header(header::USER_AGENT.as_str()).map(str::to_owned);
        knock
    }

    /// What it says in a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether it knows the token.
    pub fn knows(&self, token: &str) -> bool {
        let expected = format!("Bearer {token}");
        let said = self.header(header::AUTHORIZATION.as_str()).unwrap_or_default();
        // As long for a token that is almost right as for one that is not.
        let differences = said.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        said.len() == expected.len() && differences == 0
    }
}

/// Why an agent is not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It does not know the token.
    Unauthorized,
    /// It must not be here at all.
    Forbidden,
    /// Nobody waits for it here.
    NotFound,
    /// What it was here for is over.
    Gone,
    /// There are too many.
    Unavailable,
}

impl Refusal {
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

/// An agent that was let in.
#[derive(Debug)]
pub struct Accepted {
    /// What it said.
    pub knock: Knock,
    /// The connection to it.
    pub socket: Socket,
}

/// Lets an agent in, or not: `admit` decides, and names the last message that was heard from it.
pub async fn accept(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    admit: impl FnOnce(&Knock) -> Result<Option<String>, Refusal> + Send + Unpin,
) -> Result<Accepted, Box<tungstenite::Error>> {
    let activity = Activity::new();
    let watched = Watched { wire: Box::new(stream), activity: activity.clone() };
    let mut knock = None;
    #[expect(clippy::result_large_err, reason = "the WebSocket library wants it so")]
    let answer = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
        let knocked = Knock::new(request);
        let admitted = admit(&knocked);
        knock = Some(knocked);
        match admitted {
            Ok(last_heard) => {
                let last_heard = last_heard.and_then(|it| HeaderValue::from_str(&it).ok());
                if let Some(last_heard) = last_heard {
                    response.headers_mut().insert(LAST_REQUEST_ID, last_heard);
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
    let stream = accept_hdr_async_with_config(watched, answer, Some(config())).await?;
    let knock = knock.expect("a handshake that succeeds has asked");
    // An agent does not say what it has heard: its pongs do.
    Ok(Accepted { knock, socket: Socket { stream, activity, last_heard: None } })
}
