//! Agents over streams that the program supplies.

mod connection;

use std::{fmt, io};

use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

use self::connection::ConnectCarried;
use crate::options::{AgentSetup, AgentTransport, Options};

/// Custom way to reach agents: over a channel of ssh, a socket of a virtual machine, a pipe in
/// memory. A closure that gives two halves of a stream is one.
///
/// It is called once for each session. The halves carry what an agent's stdin and stdout would;
/// when the session is over they are dropped, and the carrier ends the agent at their other end. Why
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
    /// Reaches an agent that is set up according to the options.
    fn reach(&self, setup: AgentSetup) -> Reaching;
}

/// A future of the streams to an agent.
pub type Reaching = BoxFuture<'static, io::Result<Streams>>;

/// Output and input of an agent.
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

impl Options {
    /// Reaches the agent by `carrier`.
    #[must_use]
    pub fn carried_by(mut self, carrier: impl Carrier) -> Self {
        self.transport = AgentTransport::by(ConnectCarried(carrier));
        self
    }
}
