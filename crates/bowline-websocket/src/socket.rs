//! One connection, and how its end is noticed.

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
    pub(crate) stream: WebSocketStream<Watched>,
    pub(crate) activity: Activity,
    /// What the other end named as the last message it has.
    pub(crate) last_heard: Option<String>,
}

impl Socket {
    /// When bytes last came, also once the connection is no more.
    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("last_heard", &self.last_heard).finish_non_exhaustive()
    }
}

/// How a connection is kept alive.
#[derive(Debug, Clone, Copy)]
pub struct KeepAlive {
    /// How often to ask for a sign of life.
    pub ping: Duration,
    /// How long there may be none.
    pub silence: Duration,
}

impl Default for KeepAlive {
    fn default() -> Self {
        Self { ping: Duration::from_secs(10), silence: Duration::from_secs(30) }
    }
}

/// How a connection was lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// It broke, or the other end does not keep to the rules.
    #[error("the connection broke: {0}")]
    Broken(#[source] Box<tungstenite::Error>),
    /// The other end closed it without a word, or with one that does not end the session.
    #[error("the other end closed the connection{}", Code(*.0))]
    Closed(Option<u16>),
    /// There was no sign of life.
    #[error("no sign of life for {0:?}")]
    Silent(Duration),
}

impl From<tungstenite::Error> for Lost {
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

/// How the WebSocket itself is set up.
pub(crate) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        // Sessions are many and mostly idle; a large line still comes in one piece.
        .read_buffer_size(16 * 1024)
        .max_message_size(Some(MESSAGE_LIMIT))
        .max_frame_size(Some(MESSAGE_LIMIT))
}

/// When bytes last came over a connection.
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

    fn note(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Ordering::Relaxed);
    }

    /// How long there were signs of life: from the dial to the last bytes.
    pub fn lasted(&self) -> Duration {
        Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    /// Waits until nothing came for so long.
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

/// A stream that notes when bytes come.
pub(crate) struct Watched {
    pub(crate) wire: Box<dyn Wire>,
    pub(crate) activity: Activity,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.wire).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.note();
        }
        polled
    }
}

impl AsyncWrite for Watched {
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
