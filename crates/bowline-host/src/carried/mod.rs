//! An agent that is reached in a way of the program's own.

mod connection;

use std::{collections::BTreeMap, ffi::OsString, fmt, io, path::PathBuf, pin::Pin, sync::Arc};

use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use connection::CarriedConnection;

/// Reaches agents in a way of its own: over a channel of ssh, a socket of a virtual machine, a pipe in
/// memory. A closure that gives two halves of a stream is one.
///
/// It is asked once for each session. What the halves carry is what an agent's stdin and stdout would;
/// when the session is over they are dropped, and whatever is behind them is for the carrier to end. Why
/// an agent left early only the carrier knows: there is no exit code and no stderr.
///
/// ```
/// use bowline_host::{AgentSetup, Options};
/// use tokio::net::UnixStream;
///
/// let options = Options::default().carried_by(async |_: AgentSetup| {
///     Ok(UnixStream::connect("/run/agents.sock").await?.into_split())
/// });
/// ```
pub trait Carrier: Send + Sync + 'static {
    /// Reaches an agent that is set up as the options say.
    fn reach(&self, setup: AgentSetup) -> Reaching;
}

/// A stream to an agent, on the way.
pub type Reaching = Pin<Box<dyn Future<Output = io::Result<Streams>> + Send>>;

/// What options say to an agent before it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSetup {
    /// The flags it is to be started with.
    pub arguments: Vec<OsString>,
    /// The variables it is to be started with; `None` removes one.
    pub variables: BTreeMap<String, Option<String>>,
    /// The folder it is to work in.
    pub cwd: Option<PathBuf>,
}

/// What an agent says, and what is said to it.
pub struct Streams {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Streams {
    /// Lines of the agent come from `reader`; lines for it go into `writer`.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self { reader: Box::new(reader), writer: Box::new(writer) }
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streams")
    }
}

impl<F, R, W, Fut> Carrier for F
where
    F: Fn(AgentSetup) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = io::Result<(R, W)>> + Send + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn reach(&self, setup: AgentSetup) -> Reaching {
        let reaching = self(setup);
        Box::pin(async { reaching.await.map(|(reader, writer)| Streams::new(reader, writer)) })
    }
}

/// The carrier of [`Transport::Carried`](crate::Transport::Carried).
#[derive(Clone)]
pub struct SharedCarrier(pub(crate) Arc<dyn Carrier>);

impl<C: Carrier> From<C> for SharedCarrier {
    fn from(carrier: C) -> Self {
        Self(Arc::new(carrier))
    }
}

impl fmt::Debug for SharedCarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCarrier")
    }
}
