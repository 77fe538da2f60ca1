//! A session whose log is kept by a server (`--resume URL`, `--teleport ID`).
//!
//! The log is fetched once, with `GET`. From then on every line of the conversation is sent with
//! `PUT` before the message it stands for is said ([`stored`]), so that whoever takes the session
//! up elsewhere knows all that anybody has heard.

mod stored;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline_engine::Host;
use bowline_model::Secret;
use bowline_protocol::RawJson;
use bowline_sessions::RETRY_WAITS;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url, redirect};
use serde::Deserialize;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::stored::Stored;
use crate::{args::RunArgs, signals::Signals};

/// A server that does not take a connection for so long is not there.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// How long a whole log may take to arrive.
const FETCH_TIME: Duration = Duration::from_secs(60);

/// How long one line may take to be stored. The conversation waits for it.
const STORE_TIME: Duration = Duration::from_secs(30);

/// A log beyond this is no conversation that a model could go on with.
const LONGEST_LOG: usize = 512 << 20;

/// How much of a server's complaint is repeated.
const LONGEST_COMPLAINT: usize = 200;

/// The log of one session on a server.
#[derive(Debug)]
pub(crate) struct RemoteLog {
    url: Url,
    token: Option<Secret>,
    /// The line stored last, which the server compares with its own.
    last: Mutex<Option<String>>,
}

/// Why a log could not be fetched or added to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteLogError {
    #[error("{0:?} is not the address of a session's log: it must begin with http:// or https://")]
    BadAddress(String),
    #[error("the session's log at {place} cannot be reached: {why}")]
    Unreachable { place: String, why: String },
    #[error("the session's log at {place} was refused: {status}{said}")]
    Refused { place: String, status: StatusCode, said: String },
    #[error("what {0} answers is not the log of a session")]
    NoLog(String),
    #[error("the session's log at {0} was continued by somebody else")]
    Conflict(String),
}

#[derive(Deserialize)]
struct Log {
    loglines: Vec<RawJson>,
}

/// The host of a session whose log is kept elsewhere hears only what is stored; the session ends
/// when its log does.
pub(crate) fn watch(
    host: Arc<dyn Host>,
    log: Option<RemoteLog>,
    args: &RunArgs,
    signals: &mut Signals,
) -> Arc<dyn Host> {
    let Some(log) = log else { return host };
    let lost = CancellationToken::new();
    signals.stop_when(lost.clone());
    Arc::new(Stored::new(host, log, args.session.session_mirror, lost))
}

/// The name of a line.
#[derive(Deserialize)]
struct Named {
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
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = newest(&lines);
        Ok(lines)
    }

    async fn load(&self, client: &Client) -> Result<Vec<RawJson>, RemoteLogError> {
        let request = self.request(client, Method::GET);
        let fetched = timeout(FETCH_TIME, async {
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            match response.status() {
                StatusCode::NOT_FOUND => Ok(None),
                status if status.is_success() => self.read(response).await.map(Some),
                _ => Err(self.refused(response).await),
            }
        });
        let fetched = fetched.await.unwrap_or_else(|_| Err(self.silent()))?;
        let Some(body) = fetched else { return Ok(Vec::new()) };
        let log: Log =
            serde_json::from_slice(&body).map_err(|_| RemoteLogError::NoLog(self.place()))?;
        Ok(log.loglines)
    }

    /// Stores lines, in order; returns when the server has them. Lines without a name are notes
    /// beside the conversation and stay here.
    async fn append(&self, client: &Client, lines: &[RawJson]) -> Result<(), RemoteLogError> {
        for line in lines {
            let Some(name) = name_of(line) else { continue };
            let mut waits = RETRY_WAITS.iter();
            let mut tried_before = false;
            loop {
                let failed = match self.put(client, line).await {
                    Ok(()) => break,
                    // Only the answer to the attempt before was lost, if the line is there.
                    Err(RemoteLogError::Conflict(_))
                        if tried_before && self.newest(client).await? == Some(name.clone()) =>
                    {
                        break;
                    }
                    Err(error) => error,
                };
                tried_before = true;
                match waits.next().filter(|_| failed.may_pass()) {
                    Some(wait) => sleep(*wait).await,
                    None => return Err(failed),
                }
            }
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
        }
        Ok(())
    }

    /// The name of the newest line that the server has.
    async fn newest(&self, client: &Client) -> Result<Option<String>, RemoteLogError> {
        self.load(client).await.map(|lines| newest(&lines))
    }

    async fn put(&self, client: &Client, line: &RawJson) -> Result<(), RemoteLogError> {
        let mut request = self
            .request(client, Method::PUT)
            .header("content-type", "application/json")
            .body(line.get().to_owned());
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(last) = last {
            request = request.header("last-uuid", last);
        }
        let stored = timeout(STORE_TIME, async {
            let response = request.send().await.map_err(|error| self.unreachable(error))?;
            match response.status() {
                StatusCode::CONFLICT => Err(RemoteLogError::Conflict(self.place())),
                status if status.is_success() => Ok(()),
                _ => Err(self.refused(response).await),
            }
        });
        stored.await.unwrap_or_else(|_| Err(self.silent()))
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
                return Err(RemoteLogError::NoLog(self.place()));
            }
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    async fn refused(&self, mut response: Response) -> RemoteLogError {
        let status = response.status();
        let said = response.chunk().await.ok().flatten().unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let said: String = said.trim().chars().take(LONGEST_COMPLAINT).collect();
        let said = if said.is_empty() { said } else { format!(": {said}") };
        RemoteLogError::Refused { place: self.place(), status, said }
    }

    fn unreachable(&self, error: reqwest::Error) -> RemoteLogError {
        let mut why = error.without_url().to_string();
        if why.is_empty() {
            why = "the connection broke".to_owned();
        }
        RemoteLogError::Unreachable { place: self.place(), why }
    }

    fn silent(&self) -> RemoteLogError {
        RemoteLogError::Unreachable { place: self.place(), why: "no answer".to_owned() }
    }

    /// The address without what could be secret in it.
    fn place(&self) -> String {
        let mut url = self.url.clone();
        // An address that has neither keeps what it has.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url.set_query(None);
        url.to_string()
    }
}

impl RemoteLogError {
    /// Whether it may go better the next time.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            Self::BadAddress(_) | Self::NoLog(_) | Self::Conflict(_) => false,
        }
    }
}

fn name_of(line: &RawJson) -> Option<String> {
    line.parse::<Named>().ok()?.uuid
}

/// The name of the newest line that has one.
fn newest(lines: &[RawJson]) -> Option<String> {
    lines.iter().rev().find_map(name_of)
}

fn client(url: &Url) -> Result<Client, RemoteLogError> {
    // Fails if a provider is installed already, and then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("bowline/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIME)
        // A redirected request would carry the token somewhere nobody configured.
        .redirect(redirect::Policy::none());
    // Reading the system's certificates takes longer than everything else here.
    let built = match url.scheme() {
        "http" => builder.tls_certs_only([]).build(),
        _ => builder.build(),
    };
    built.map_err(|error| RemoteLogError::Unreachable {
        place: url.host_str().unwrap_or_default().to_owned(),
        why: error.to_string(),
    })
}
