//! Listener for agents that connect.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use bowline_websocket::{KeepAlive, accept};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, ToSocketAddrs},
    sync::{Mutex, mpsc},
    task::JoinSet,
    time,
};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::{registry::AgentRegistry, remote_agent::RemoteAgent};
use crate::error::Error;

/// Timeout of an agent's handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Concurrent handshakes. More wait in the system's queue.
const HANDSHAKES: usize = 256;

/// A moment of rest when the system has no connection left to give.
const OUT_OF_CONNECTIONS: Duration = Duration::from_millis(50);

/// Whom a [`Listener`] lets in, and how long it waits for them.
#[derive(Clone)]
#[non_exhaustive]
pub struct ListenerOptions {
    /// Token that an agent must send: `Authorization: Bearer …`. If it is `None`, one is generated:
    /// [`Listener::token`].
    pub token: Option<String>,
    /// Let agents in without a token, which every program of every user of this machine can be then:
    /// it is given prompts and calls tools. For addresses that only this machine can reach.
    pub no_token: bool,
    /// Admit only agents that were [expected](Listener::expect).
    pub only_expected: bool,
    /// How long an agent may be away before its session is given up.
    pub patience: Duration,
    /// Interval of pings to an agent.
    pub ping: Duration,
    /// How long there may be none before its connection is given up.
    pub silence: Duration,
}

impl Default for ListenerOptions {
    fn default() -> Self {
        let KeepAlive { ping, silence } = KeepAlive::default();
        Self {
            token: None,
            no_token: false,
            only_expected: false,
            patience: Duration::from_secs(120),
            ping,
            silence,
        }
    }
}

impl fmt::Debug for ListenerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenerOptions")
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("only_expected", &self.only_expected)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// Where agents dial in: `bowline --sdk-url ws://…`, or the official CLI 2.1.7.
///
/// Each path is a separate session. An agent that loses its connection and dials the same path
/// again is back in its session: lines that either side missed are sent again, and duplicates
/// are dropped. Pages in browsers are not admitted.
///
/// ```no_run
/// use bowline_host::{Client, Listener, ListenerOptions, Options};
///
/// # async fn run() -> Result<(), bowline_host::Error> {
/// let listener = Listener::bind("127.0.0.1:0", ListenerOptions::default()).await?;
/// let agent = listener.expect("/sessions/42")?;
/// let token = listener.token().unwrap_or_default();
/// println!("CLAUDE_CODE_SESSION_ACCESS_TOKEN={token}");
/// println!("bowline --sdk-url {}", listener.url("/sessions/42"));
/// let client = Client::connect(Options::default().websocket(agent)).await?;
/// client.query("What is in this folder?").await?;
/// let response = client.receive_response().text().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    registry: Arc<AgentRegistry>,
    arriving: Mutex<mpsc::Receiver<RemoteAgent>>,
    /// Dropping it stops listening. Sessions continue, but their agents cannot reconnect.
    _door: AbortOnDropHandle<()>,
}

impl Listener {
    /// Listens at an address; port 0 is any that is free.
    pub async fn bind(
        address: impl ToSocketAddrs + fmt::Debug,
        mut options: ListenerOptions,
    ) -> Result<Self, Error> {
        let failed = |error| Error::connection(format!("listening at {address:?}"), error);
        let listener = TcpListener::bind(&address).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        match (options.no_token, options.token.is_some()) {
            (true, true) => {
                let what = "`ListenerOptions` has both a `token` and `no_token`";
                return Err(Error::Options(what.to_owned()));
            }
            (true, false) if !local.ip().is_loopback() => {
                let what = "agents from other machines must know a token: \
                            `ListenerOptions::no_token` is for addresses of this machine";
                return Err(Error::Options(what.to_owned()));
            }
            (true, false) | (false, true) => {}
            (false, false) => options.token = Some(made_token()),
        }
        let (registry, arriving) = AgentRegistry::new(options);
        let door = tokio::spawn(let_in(listener, registry.clone()));
        Ok(Self {
            address: local,
            registry,
            arriving: Mutex::new(arriving),
            _door: AbortOnDropHandle::new(door),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to dial for a path, which begins with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.address)
    }

    /// What an agent must know: `CLAUDE_CODE_SESSION_ACCESS_TOKEN` in its environment.
    pub fn token(&self) -> Option<&str> {
        self.registry.token()
    }

    /// The agent that will dial in under this path, now or later.
    pub fn expect(&self, path: &str) -> Result<RemoteAgent, Error> {
        let taken = || Error::Options(format!("{path} belongs to another session"));
        self.registry.reserve(path).ok_or_else(taken)
    }

    /// The next agent that dials in under a path that it chose.
    ///
    /// Cancel safety: no agent is lost when the future is dropped.
    pub async fn accept(&self) -> Result<RemoteAgent, Error> {
        self.arriving.lock().await.recv().await.ok_or(Error::Closed)
    }

    /// Lets an agent in over a connection that other code has accepted, such as a TLS server.
    pub async fn admit(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), Error> {
        admit(&self.registry, stream).await
    }
}

/// 244 random bits.
fn made_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

async fn let_in(listener: TcpListener, registry: Arc<AgentRegistry>) {
    let mut guests = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = guests.join_next() => {}
            accepted = listener.accept(), if guests.len() < HANDSHAKES => match accepted {
                Ok((stream, from)) => {
                    let registry = registry.clone();
                    guests.spawn(async move { greet(&registry, stream, from).await });
                }
                Err(error) => {
                    tracing::warn!(%error, "an agent could not be let in");
                    time::sleep(OUT_OF_CONNECTIONS).await;
                }
            },
        }
    }
}

async fn greet(registry: &Arc<AgentRegistry>, stream: TcpStream, from: SocketAddr) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, %from, "cannot disable Nagle's algorithm; responses may be late");
    }
    if let Err(error) = admit(registry, stream).await {
        tracing::info!(%error, %from, "an agent was not let in");
    }
}

async fn admit(
    registry: &Arc<AgentRegistry>,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Error> {
    let what = || "an agent that dialed in".to_owned();
    let handshake = accept(stream, |handshake| registry.admit(handshake));
    let accepted = match time::timeout(HANDSHAKE_LIMIT, handshake).await {
        Ok(Ok(accepted)) => accepted,
        Ok(Err(error)) => {
            return Err(Error::Connection { what: what(), source: Some(error.into()) });
        }
        Err(_) => {
            let late = io::Error::from(io::ErrorKind::TimedOut);
            return Err(Error::connection(what(), late));
        }
    };
    registry.deliver(accepted);
    Ok(())
}
