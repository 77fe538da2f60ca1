//! Log of a session on a server (`--resume URL`, `--teleport ID`).
//!
//! The log is fetched once, with `GET`. From then on every line of the conversation is sent with
//! `PUT` before its message is emitted ([`storing_host`]), so that a resume on another machine has
//! every message that a host has received.

mod storing_host;

use std::{sync::Arc, time::Duration};

use bowline_engine::Host;
use bowline_model::Secret;
use bowline_protocol::RawJson;
use bowline_sessions::RETRY_DELAYS;
use parking_lot::Mutex;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::storing_host::StoringHost;
use crate::{args::RunArgs, signals::Signals};

/// Timeout of connecting to the server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of fetching a whole log.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Timeout of storing one line. The conversation waits for it.
const STORE_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest log. A larger one exceeds the context of every model.
const LONGEST_LOG: usize = 512 << 20;

/// Longest error text of a server that is quoted, in characters.
const LONGEST_QUOTE: usize = 200;

/// The log of one session on a server.
#[derive(Debug)]
pub(crate) struct RemoteLog {
    url: Url,
    token: Option<Secret>,
    /// Uuid of the line that was stored last, which the server compares with its own.
    last: Mutex<Option<String>>,
}

/// Why a log could not be fetched or added to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteLogError {
    #[error("{0:?} is not the URL of a session's log: it must begin with http:// or https://")]
    BadAddress(String),
    #[error("the session's log at {url} cannot be reached: {why}")]
    Unreachable { url: String, why: String },
    #[error("the request for the session's log at {url} failed: {status}{quote}")]
    Refused { url: String, status: StatusCode, quote: String },
    #[error("the response of {0} is not the log of a session")]
    NoLog(String),
    #[error("the session's log at {0} was continued by another client")]
    Conflict(String),
}

#[derive(Deserialize)]
struct Log {
    loglines: Vec<RawJson>,
}

/// Wraps the host of a session with a remote log: it receives messages only after they are stored, and
/// the session ends when its log is lost.
pub(crate) fn wrap_host(
    host: Arc<dyn Host>,
    log: Option<RemoteLog>,
    args: &RunArgs,
    signals: &mut Signals,
) -> Arc<dyn Host> {
    let Some(log) = log else { return host };
    let lost = CancellationToken::new();
    signals.stop_when(lost.clone());
    Arc::new(StoringHost::new(host, log, args.session.session_mirror, lost))
}

/// The uuid of a line.
#[derive(Deserialize)]
struct LineId {
    uuid: Option<String>,
}

impl RemoteLog {
    /// The log at `url`. Nothing is connected yet.
    pub(crate) fn new(url: &str, token: Option<&str>) -> Result<Self, RemoteLogError> {
        let bad = || RemoteLogError::BadAddress(url.to_owned());
        let parsed = Url::parse(url).map_err(|_| bad())?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.cannot_be_a_base() {
            return Err(bad());
        }
        Ok(Self { url: parsed, token: token.map(Secret::from), last: Mutex::default() })
    }

    /// The log of the session `id` on a server.
    pub(crate) fn of_session(
        server: &str,
        id: &str,
        token: Option<&str>,
    ) -> Result<Self, RemoteLogError> {
        let mut log = Self::new(server, token)?;
        if let Ok(mut segments) = log.url.path_segments_mut() {
            segments.pop_if_empty().push(id);
        }
        Ok(log)
    }

    /// Whether a target of `--resume` is the address of a log.
    pub(crate) fn is_address(target: &str) -> bool {
        target.contains("://")
    }

    /// The lines of the log; none if the server does not have it yet.
    pub(crate) async fn fetch(&self) -> Result<Vec<RawJson>, RemoteLogError> {
        let lines = self.load(&client(&self.url)?).await?;
        *self.last.lock() = newest(&lines);
        Ok(lines)
    }

    async fn load(&self, client: &Client) -> Result<Vec<RawJson>, RemoteLogError> {
        let request = self.request(client, Method::GET);
        let fetched = timeout(FETCH_TIMEOUT, async {
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            match response.status() {
                StatusCode::NOT_FOUND => Ok(None),
                status if status.is_success() => self.read(response).await.map(Some),
                _ => Err(self.refused(response).await),
            }
        });
        let fetched = fetched.await.unwrap_or_else(|_| Err(self.timed_out()))?;
        let Some(body) = fetched else { return Ok(Vec::new()) };
        let log: Log =
            serde_json::from_slice(&body).map_err(|_| RemoteLogError::NoLog(self.display_url()))?;
        Ok(log.loglines)
    }

    /// Stores lines, in order; returns when the server has them. Lines without a uuid are local notes
    /// and are not sent.
    async fn append(&self, client: &Client, lines: &[RawJson]) -> Result<(), RemoteLogError> {
        for line in lines {
            let Some(uuid) = uuid_of(line) else { continue };
            let mut waits = RETRY_DELAYS.iter();
            let mut tried_before = false;
            loop {
                let failed = match self.put(client, line).await {
                    Ok(()) => break,
                    // If the line is there, only the response to the previous attempt was lost.
                    Err(RemoteLogError::Conflict(_))
                        if tried_before && self.newest(client).await? == Some(uuid.clone()) =>
                    {
                        break;
                    }
                    Err(error) => error,
                };
                tried_before = true;
                match waits.next().filter(|_| failed.is_transient()) {
                    Some(wait) => sleep(*wait).await,
                    None => return Err(failed),
                }
            }
            *self.last.lock() = Some(uuid);
        }
        Ok(())
    }

    /// Fetches the uuid of the newest line that the server has.
    async fn newest(&self, client: &Client) -> Result<Option<String>, RemoteLogError> {
        self.load(client).await.map(|lines| newest(&lines))
    }

    async fn put(&self, client: &Client, line: &RawJson) -> Result<(), RemoteLogError> {
        let mut request = self
            .request(client, Method::PUT)
            .header("content-type", "application/json")
            .body(line.get().to_owned());
        let last = self.last.lock().clone();
        if let Some(last) = last {
            request = request.header("last-uuid", last);
        }
        let stored = timeout(STORE_TIMEOUT, async {
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            match response.status() {
                StatusCode::CONFLICT => Err(RemoteLogError::Conflict(self.display_url())),
                status if status.is_success() => Ok(()),
                _ => Err(self.refused(response).await),
            }
        });
        stored.await.unwrap_or_else(|_| Err(self.timed_out()))
    }

    fn request(&self, client: &Client, method: Method) -> RequestBuilder {
        let request = client.request(method, self.url.clone());
        match &self.token {
            Some(token) => request.bearer_auth(token.reveal()),
            None => request,
        }
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, RemoteLogError> {
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.unreachable(error))? {
            if body.len() + part.len() > LONGEST_LOG {
                return Err(RemoteLogError::NoLog(self.display_url()));
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    async fn refused(&self, mut response: Response) -> RemoteLogError {
        let status = response.status();
        let quote = response.chunk().await.ok().flatten().unwrap_or_default();
        let quote = String::from_utf8_lossy(&quote);
        let quote: String = quote.trim().chars().take(LONGEST_QUOTE).collect();
        let quote = if quote.is_empty() { quote } else { format!(": {quote}") };
        RemoteLogError::Refused { url: self.display_url(), status, quote }
    }

    fn unreachable(&self, error: reqwest::Error) -> RemoteLogError {
        let mut why = error.without_url().to_string();
        if why.is_empty() {
            why = "the connection broke".to_owned();
        }
        RemoteLogError::Unreachable { url: self.display_url(), why }
    }

    fn timed_out(&self) -> RemoteLogError {
        RemoteLogError::Unreachable { url: self.display_url(), why: "timeout".to_owned() }
    }

    /// The URL without credentials and query.
    fn display_url(&self) -> String {
        let mut url = self.url.clone();
        // Fails for URLs that cannot have credentials.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url.set_query(None);
        url.to_string()
    }
}

impl RemoteLogError {
    /// Whether a retry may succeed.
    fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            Self::BadAddress(_) | Self::NoLog(_) | Self::Conflict(_) => false,
        }
    }
}

fn uuid_of(line: &RawJson) -> Option<String> {
    line.parse::<LineId>().ok()?.uuid
}

/// The uuid of the newest line that has one.
fn newest(lines: &[RawJson]) -> Option<String> {
    lines.iter().rev().find_map(uuid_of)
}

fn client(url: &Url) -> Result<Client, RemoteLogError> {
    // Fails if a provider is installed already, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("bowline/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect would send the token to a server that is not configured.
        .redirect(redirect::Policy::none());
    // Reading the system's certificates takes longer than everything else here.
    let built = match url.scheme() {
        "http" => builder.tls_certs_only([]).build(),
        _ => builder.build(),
    };
    built.map_err(|error| RemoteLogError::Unreachable {
        url: url.host_str().unwrap_or_default().to_owned(),
        why: error.to_string(),
    })
}
