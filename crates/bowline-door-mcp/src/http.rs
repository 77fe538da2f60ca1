//! The server over HTTP: who may speak to it, and where it listens.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::{Request, State},
    http::{StatusCode, header, uri::Authority},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::{net::TcpListener, sync::Semaphore, time};
use tokio_util::sync::CancellationToken;

use crate::{
    connections::{self, Limits},
    handler::{Handler, Trust},
    origin::{self, Origin, Pages},
    values,
};

/// Where clients find the server.
const PATH: &str = "/mcp";

/// The longest request: a file to be written, and then some.
const MAX_REQUEST_BYTES: usize = bowline_protocol::MAX_LINE_BYTES;

/// How long a client may hear nothing before its session is given up, also while a call of it runs:
/// longer than an agent works, or a person thinks, without a word.
const SILENCE: Duration = Duration::from_secs(4 * 60 * 60);

/// Clients at a time: more than one machine has, and few enough to keep for as long as that.
const MAX_SESSIONS: usize = 256;

/// Requests whose answers have not begun: for each client one, and one more that ends it. What is
/// behind them is held in memory.
const MAX_REQUESTS: usize = 2 * MAX_SESSIONS;

/// How long a client may take to send the body of a request.
const BODY_TIME: Duration = Duration::from_secs(60);

/// KiB of the bodies of requests whose responses have not begun.
const MAX_BODIES_KIB: usize = 4 * MAX_REQUEST_BYTES / 1024;

/// The header in which a client names its session.
const SESSION_ID: &str = "mcp-session-id";

/// How long calls may take to end when the server does, so that their clients hear of it. Commands are
/// killed after two seconds, and a program that is told to end is killed after four or five.
const CALLS_END: Duration = Duration::from_secs(3);

/// How long the last responses may take on their way. After that, clients that still listen are cut
/// off.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// How long connections may take to end then.
const GRACE: Duration = Duration::from_secs(2);

/// Where a server listens, and who may speak to it.
#[derive(Debug, Clone)]
pub struct Address {
    listen: SocketAddr,
    access: Access,
    hosts: Vec<String>,
    origins: Vec<Origin>,
}

/// What a client has to prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// That it knows the token.
    Token(Token),
    /// Nothing: every process of every user of this machine is let in. Such clients are never asked
    /// for permission, since each would approve its own calls.
    Anyone,
}

/// Why a server must not listen there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// Others can reach it.
    #[error("{0} can be reached from other machines: clients need a token")]
    TokenNeeded(SocketAddr),
    /// It is not clear by which name it is reached, and any name would do for an attacker.
    #[error("{0} has many names: say by which one clients reach it")]
    HostNeeded(SocketAddr),
    /// It is no name under which a machine is reached.
    #[error("`{0}` is not a name of a machine; say it as in `example.org` or `example.org:8080`")]
    NotAHost(String),
}

impl Address {
    /// Checks that it is safe to listen there.
    ///
    /// `hosts` are more names under which clients may reach it, `origins` the web pages that may; no
    /// others do, not even pages of this machine.
    pub fn new(
        listen: SocketAddr,
        access: Access,
        hosts: Vec<String>,
        origins: Vec<Origin>,
    ) -> Result<Self, AddressError> {
        let ip = listen.ip();
        if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
            return Err(AddressError::NotAHost(host.clone()));
        }
        if !ip.is_loopback() && access == Access::Anyone {
            return Err(AddressError::TokenNeeded(listen));
        }
        if ip.is_unspecified() && hosts.is_empty() {
            return Err(AddressError::HostNeeded(listen));
        }
        Ok(Self { listen, access, hosts, origins })
    }

    /// Where to listen.
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Serves until `stop` fires. Calls are ended then, and answered; only then connections are.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        handler: Handler,
        stop: CancellationToken,
    ) {
        let pages = Pages::new(&self.origins);
        let (answered, cut_off) = (CancellationToken::new(), CancellationToken::new());
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(self.allowed_hosts())
            .with_max_request_body_bytes(MAX_REQUEST_BYTES)
            .with_cancellation_token(cut_off.clone());
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SILENCE);
        let sessions = Arc::new(sessions);
        let handlers = handler.clone().for_clients(match self.access {
            Access::Token(_) => Trust::Proven,
            Access::Anyone => Trust::Unproven,
        });
        let service =
            StreamableHttpService::new(move || Ok(handlers.clone()), sessions.clone(), config);
        let bodies = Arc::new(Semaphore::new(MAX_BODIES_KIB));
        let mut router = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(bodies, read_body))
            .layer(middleware::from_fn_with_state(sessions, check_room));
        if let Access::Token(token) = self.access {
            router = router.layer(middleware::from_fn_with_state(token, check_token));
        }
        let room = Arc::new(Semaphore::new(MAX_REQUESTS));
        let router = router
            .layer(middleware::from_fn_with_state(room, check_requests))
            .layer(middleware::from_fn_with_state(pages, origin::check));
        let served = connections::serve(listener, router, Limits::default(), answered.clone());
        let late = async {
            stop.cancelled().await;
            handler.end_calls();
            time::timeout(CALLS_END, handler.calls_ended()).await.ok();
            answered.cancel();
            time::sleep(LAST_ANSWERS).await;
            cut_off.cancel();
            time::sleep(GRACE).await;
        };
        tokio::select! {
            () = served => {}
            () = late => {}
        }
    }

    fn allowed_hosts(&self) -> Vec<String> {
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        match self.listen.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => hosts.push(ip.to_string()),
            IpAddr::V6(ip) => hosts.push(ip.to_string()),
        }
        hosts.extend(self.hosts.iter().cloned());
        hosts
    }
}

/// Whether clients can have this in `Host`: a name or an address, perhaps with a port.
fn is_host(text: &str) -> bool {
    let is_authority = text.parse::<Authority>().is_ok_and(|it| {
        let port = text.strip_prefix(it.host()).and_then(|port| port.strip_prefix(':'));
        !it.host().is_empty()
            && !text.contains(['@', '*'])
            && (it.as_str() == it.host() || port.is_some_and(|port| port.parse::<u16>().is_ok()))
    });
    is_authority || text.parse::<IpAddr>().is_ok()
}

/// What clients have to know.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// This token, without the white space around it; `None` if nothing is left.
    pub fn new(token: &str) -> Option<Self> {
        let token = token.trim();
        (!token.is_empty()).then(|| Self(token.to_owned()))
    }

    /// Compares in a time that does not depend on where the difference is.
    fn is(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let differ = own.iter().zip(given).fold(0, |differ, (one, other)| differ | (one ^ other));
        own.len() == given.len() && differ == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

async fn check_token(State(token): State<Token>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match given.and_then(|given| given.split_once(' ')) {
        Some((scheme, given)) if scheme.eq_ignore_ascii_case("bearer") && token.is(given) => {
            next.run(request).await
        }
        _ => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            (StatusCode::UNAUTHORIZED, challenge, "a bearer token is needed\n").into_response()
        }
    }
}

/// Takes no request when too many wait for an answer to begin.
async fn check_requests(
    State(room): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response {
    match room.try_acquire() {
        Ok(_room) => next.run(request).await,
        Err(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "there are too many requests\n").into_response()
        }
    }
}

/// Reads the body of a request, so that it neither takes forever nor more memory than there is for all.
async fn read_body(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let refused = |status: StatusCode, why: &'static str| (status, why).into_response();
    let (head, body) = request.into_parts();
    // A body that comes in chunks may be as long as any.
    let longest = body.size_hint().upper().unwrap_or(MAX_REQUEST_BYTES as u64);
    let Some(longest) = usize::try_from(longest).ok().filter(|it| *it <= MAX_REQUEST_BYTES) else {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long\n");
    };
    let needed = u32::try_from(longest.div_ceil(1024)).unwrap_or(u32::MAX);
    let Ok(_room) = room.try_acquire_many(needed) else {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "there are too many requests\n");
    };
    match time::timeout(BODY_TIME, axum::body::to_bytes(body, longest)).await {
        Ok(Ok(body)) => match values::check(&body) {
            Ok(()) => next.run(Request::from_parts(head, Body::from(body))).await,
            Err(why) => (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response(),
        },
        Ok(Err(error)) => {
            tracing::debug!(%error, "the body of a request could not be read");
            refused(StatusCode::BAD_REQUEST, "the request could not be read\n")
        }
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive\n"),
    }
}

/// Lets nobody begin a session when there are too many.
async fn check_room(
    State(sessions): State<Arc<LocalSessionManager>>,
    request: Request,
    next: Next,
) -> Response {
    let begins = !request.headers().contains_key(SESSION_ID);
    if begins && sessions.sessions.read().await.len() >= MAX_SESSIONS {
        return (StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions\n").into_response();
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(listen: &str, token: Option<&str>, hosts: &[&str]) -> Result<(), AddressError> {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let access = token.and_then(Token::new).map_or(Access::Anyone, Access::Token);
        Address::new(listen.parse().unwrap(), access, hosts, Vec::new()).map(drop)
    }

    #[test]
    fn others_need_a_token_and_a_name() {
        assert_eq!(address("127.0.0.1:0", None, &[]), Ok(()));
        assert_eq!(address("[::1]:0", None, &[]), Ok(()));
        let elsewhere: SocketAddr = "192.0.2.1:80".parse().unwrap();
        assert_eq!(address("192.0.2.1:80", None, &[]), Err(AddressError::TokenNeeded(elsewhere)));
        assert!(address("192.0.2.1:80", Some(" \n"), &[]).is_err());
        assert_eq!(address("192.0.2.1:80", Some("secret"), &[]), Ok(()));
        assert!(address("0.0.0.0:80", Some("secret"), &[]).is_err());
        assert_eq!(address("0.0.0.0:80", Some("secret"), &["example.org"]), Ok(()));
    }

    #[test]
    fn names_of_machines() {
        for host in ["example.org", "example.org:8080", "localhost", "10.0.0.1", "::1", "[::1]:80"]
        {
            assert_eq!(address("127.0.0.1:0", None, &[host]), Ok(()), "{host}");
        }
        for host in ["", "*", "two words", "http://example.org", "me@here", "here:", "here:http"] {
            let wrong = AddressError::NotAHost(host.to_owned());
            assert_eq!(address("127.0.0.1:0", None, &[host]), Err(wrong), "{host}");
        }
    }

    #[test]
    fn a_token_is_that_token() {
        let token = Token::new(" secret\n").unwrap();
        assert!(token.is("secret"));
        for other in ["", "secre", "secrets", "Secret"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
