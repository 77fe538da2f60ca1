//! Transport of a session: lines in, lines out. Knows nothing of their contents.

use std::{borrow::Cow, fmt, io};

use bowline_protocol::{Line, LineDecoder, LineFault};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

/// What arrives: a line, or word of one that could not be read.
pub type Arrival<T = String> = Result<Line<T>, LineFault>;

/// Bytes that [`Link::pair`] holds in each direction: what a pipe of the system holds.
const PAIR_CAPACITY: usize = 64 * 1024;

/// A read begins this small, because most sessions are idle most of the time, …
const SMALLEST_READ: usize = 8 * 1024;

/// … and grows, first to what a pipe holds and then to what a wide one does, while the other end has
/// much to say.
const LARGER_READS: [usize; 2] = [64 * 1024, 128 * 1024];

/// Lines taken from a channel at once.
const CHANNEL_BATCH: usize = 64;

/// Both directions of a connection, as lines.
pub struct Link {
    pub(crate) source: Source,
    pub(crate) sink: Sink,
}

impl Link {
    /// Over a pipe, a socket, a process: anything that carries bytes.
    pub fn stream(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let source = Source::Stream {
            reader: Box::new(reader),
            chunk: vec![0; SMALLEST_READ],
            filled: 0,
            decoder: LineDecoder::default(),
        };
        Self { source, sink: Sink::Stream { writer: Box::new(writer), buffer: Vec::new() } }
    }

    /// Over whatever carries whole lines already, such as the frames of a WebSocket.
    ///
    /// Lines come and go without their newline. The other direction is closed when
    /// `incoming` ends and when `outgoing` is dropped.
    pub fn channels(incoming: mpsc::Receiver<Arrival>, outgoing: mpsc::Sender<String>) -> Self {
        let source = Source::Channel { incoming, batch: Vec::new() };
        Self { source, sink: Sink::Channel(outgoing) }
    }

    /// Two ends in memory, connected to each other.
    pub fn pair() -> (Self, Self) {
        let (one_out, other_in) = tokio::io::duplex(PAIR_CAPACITY);
        let (other_out, one_in) = tokio::io::duplex(PAIR_CAPACITY);
        (Self::stream(one_in, one_out), Self::stream(other_in, other_out))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = match &self.source {
            Source::Stream { .. } => "stream",
            Source::Channel { .. } => "channels",
        };
        f.debug_tuple("Link").field(&over).finish()
    }
}

/// Where lines come from.
pub(crate) enum Source {
    Stream {
        reader: Box<dyn AsyncRead + Send + Unpin>,
        chunk: Vec<u8>,
        filled: usize,
        decoder: LineDecoder,
    },
    Channel {
        incoming: mpsc::Receiver<Arrival>,
        batch: Vec<Arrival>,
    },
}

/// Whether more may come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Input {
    Open,
    Ended,
}

impl Source {
    pub(crate) fn limit_lines(&mut self, limit: usize) {
        if let Self::Stream { decoder, .. } = self {
            *decoder = LineDecoder::new(limit);
        }
    }

    /// Waits until there is something for [`drain`](Self::drain).
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn fill(&mut self) -> io::Result<Input> {
        match self {
            Self::Stream { reader, chunk, filled, .. } => {
                let larger = LARGER_READS.into_iter().find(|larger| *larger > chunk.len());
                if *filled == chunk.len()
                    && let Some(larger) = larger
                {
                    chunk.resize(larger, 0);
                }
                *filled = 0;
                *filled = reader.read(chunk).await?;
                Ok(if *filled == 0 { Input::Ended } else { Input::Open })
            }
            Self::Channel { incoming, batch } => {
                let count = incoming.recv_many(batch, CHANNEL_BATCH).await;
                Ok(if count == 0 { Input::Ended } else { Input::Open })
            }
        }
    }

    /// Hands out everything that has come so far; at the end also a line without a newline.
    pub(crate) fn drain(&mut self, input: Input, mut each: impl FnMut(Arrival<Cow<'_, str>>)) {
        match self {
            Self::Stream { chunk, filled, decoder, .. } => {
                let mut bytes = &chunk[..*filled];
                while let Some(arrival) = decoder.next(&mut bytes) {
                    each(arrival.map(|line| line.map(Cow::Borrowed)));
                }
                if input == Input::Ended
                    && let Some(arrival) = decoder.finish()
                {
                    each(arrival.map(|line| line.map(Cow::Borrowed)));
                }
            }
            Self::Channel { batch, .. } => {
                batch.drain(..).for_each(|arrival| each(arrival.map(|line| line.map(Cow::Owned))));
            }
        }
    }
}

/// Where lines go.
pub(crate) enum Sink {
    Stream { writer: Box<dyn AsyncWrite + Send + Unpin>, buffer: Vec<u8> },
    Channel(mpsc::Sender<String>),
}

impl Sink {
    /// Writes whole lines, in as few writes as they allow.
    pub(crate) async fn write(&mut self, lines: &mut Vec<String>) -> io::Result<()> {
        match self {
            Self::Stream { writer, buffer } => {
                if let [line] = &mut lines[..] {
                    // A line by itself may be huge: it is not copied once more.
                    line.push('\n');
                    writer.write_all(line.as_bytes()).await?;
                } else {
                    buffer.clear();
                    for line in lines.iter() {
                        buffer.extend_from_slice(line.as_bytes());
                        buffer.push(b'\n');
                    }
                    writer.write_all(buffer).await?;
                }
                lines.clear();
            }
            Self::Channel(outgoing) => {
                for line in lines.drain(..) {
                    outgoing.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream { writer, .. } => writer.flush().await,
            Self::Channel(_) => Ok(()),
        }
    }

    /// Says that no more lines follow.
    pub(crate) async fn close(self) -> io::Result<()> {
        match self {
            Self::Stream { mut writer, .. } => {
                // Some writers, such as tokio's stdout, do not flush when they are shut down.
                writer.flush().await?;
                writer.shutdown().await
            }
            Self::Channel(_) => Ok(()),
        }
    }
}
