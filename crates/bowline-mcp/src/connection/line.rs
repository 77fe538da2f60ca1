//! Messages as lines over a pair of pipes.

use std::{collections::VecDeque, io, sync::Arc};

use bowline_protocol::{LineDecoder, LineProblem, MAX_LINE_BYTES};
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
};

use super::message::read_message;

/// What a pipe holds, so that one read takes all there is.
const CHUNK: usize = 64 * 1024;

/// One message per line, in both directions. Lines that are no messages are skipped; one that is
/// too long ends the connection, because it may have been a response that a caller waits for.
pub(super) struct LineTransport<R, W> {
    reader: R,
    writer: Arc<Mutex<Option<W>>>,
    decoder: LineDecoder,
    chunk: Vec<u8>,
    /// Messages of the last chunk that have not been taken yet.
    ready: VecDeque<ServerJsonRpcMessage>,
    ended: bool,
}

impl<R, W> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            writer: Arc::new(Mutex::new(Some(writer))),
            decoder: LineDecoder::new(MAX_LINE_BYTES),
            chunk: vec![0; CHUNK],
            ready: VecDeque::new(),
            ended: false,
        }
    }

    fn take_lines(&mut self, read: usize) {
        let mut bytes = &self.chunk[..read];
        while let Some(line) = self.decoder.next(&mut bytes) {
            match line {
                Ok(line) => self.ready.extend(read_message(line.text)),
                Err(fault) => {
                    tracing::warn!(%fault, "a server sent a line that cannot be read");
                    if matches!(fault.problem, LineProblem::TooLong { .. }) {
                        self.ended = true;
                        return;
                    }
                }
            }
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    /// Nothing is lost when this is dropped: what was read is kept in `ready`.
    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.ended {
                return None;
            }
            match self.reader.read(&mut self.chunk).await {
                Ok(0) | Err(_) => self.ended = true,
                Ok(read) => self.take_lines(read),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.ended = true;
        // A send that is stuck holds the lock; it is dropped with everything else.
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
        Ok(())
    }
}
