//! One WebSocket connection, with detection of silence and loss.

use std::{
    fmt, io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{self, Instant},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, protocol::WebSocketConfig},
};

use crate::framing::MESSAGE_LIMIT;

/// Anything that carries bytes both ways.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// An open connection.
pub struct Socket {
    pub(crate) stream: WebSocketStream<MonitoredStream>,
    pub(crate) activity: Activity,
    /// The last message that the other end has, as it named it in the handshake.
    pub(crate) last_received: Option<String>,
}

impl Socket {
    /// When bytes last arrived; usable after the connection has ended.
    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("last_received", &self.last_received).finish_non_exhaustive()
    }
}

/// Keep-alive intervals of a connection.
#[derive(Debug, Clone, Copy)]
pub struct KeepAlive {
    /// How often to ping.
    pub ping: Duration,
    /// How long nothing may arrive before the connection counts as lost.
    pub silence: Duration,
}

impl Default for KeepAlive {
    fn default() -> Self {
        Self { ping: Duration::from_secs(10), silence: Duration::from_secs(30) }
    }
}

/// Why a connection was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionLost {
    /// An I/O or protocol error.
    #[error("the connection broke: {0}")]
    Broken(#[source] Box<tungstenite::Error>),
    /// The other end closed it without a close code, or with one that does not end the session.
    #[error("the other end closed the connection{}", Code(*.0))]
    Closed(Option<u16>),
    /// Nothing arrived in time.
    #[error("nothing was received for {0:?}")]
    Silent(Duration),
}

impl From<tungstenite::Error> for ConnectionLost {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => {
                Self::Closed(None)
            }
            error => Self::Broken(Box::new(error)),
        }
    }
}

struct Code(Option<u16>);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |code| write!(f, " with code {code}"))
    }
}

/// Buffer sizes and limits of the WebSocket.
pub(crate) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        // Sessions are many and mostly idle; a large line still comes in one piece.
        .read_buffer_size(16 * 1024)
        .max_message_size(Some(MESSAGE_LIMIT))
        .max_frame_size(Some(MESSAGE_LIMIT))
}

/// When bytes last arrived over a connection.
#[derive(Debug, Clone)]
pub struct Activity {
    start: Instant,
    /// Milliseconds from the start to the last bytes.
    last: Arc<AtomicU64>,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), last: Arc::default() }
    }

    fn record(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// The time from the start of the connection to the last bytes.
    pub fn lasted(&self) -> Duration {
        Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    /// Waits until nothing has arrived for `limit`.
    pub(crate) async fn silent_for(&self, limit: Duration) {
        loop {
            let last = self.start + Duration::from_millis(self.last.load(Ordering::Relaxed));
            if last.elapsed() >= limit {
                return;
            }
            time::sleep_until(last + limit).await;
        }
    }
}

/// A stream that records when bytes arrive.
pub(crate) struct MonitoredStream {
    pub(crate) wire: Box<dyn Wire>,
    pub(crate) activity: Activity,
}

impl AsyncRead for MonitoredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.wire).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.record();
        }
        polled
    }
}

impl AsyncWrite for MonitoredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.wire).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}
