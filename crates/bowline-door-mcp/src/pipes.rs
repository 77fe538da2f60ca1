//! MCP over two pipes: a message per line, in both directions.
//!
//! Every line is answered, also one that is no message: a client that waits for the answer to a
//! request which could not be read would wait for ever.

use std::{collections::VecDeque, io, sync::Arc};

use bowline_engine::BoxFuture;
use bowline_protocol::{LineDecoder, LineFault, RawJson};
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use serde::Deserialize;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
};
use tokio_util::sync::CancellationToken;

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// A message, or what is wrong with something that should be one.
type Read = Result<ClientJsonRpcMessage, Complaint>;

/// What is wrong with a message, and its name if that can be read.
struct Complaint {
    error: ErrorData,
    id: Option<RequestId>,
}

/// A client on the other end of two pipes.
pub(crate) struct Pipes<R, W> {
    reader: R,
    decoder: LineDecoder,
    chunk: Vec<u8>,
    /// What came with the last read.
    ready: VecDeque<Read>,
    /// The answer to what was no message, on its way.
    answering: Option<BoxFuture<'static, io::Result<()>>>,
    writer: Arc<Mutex<Option<W>>>,
    /// Fires when the client says no more.
    hung_up: CancellationToken,
}

impl<R, W> Pipes<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(reader: R, writer: W, hung_up: CancellationToken) -> Self {
        Self {
            reader,
            decoder: LineDecoder::default(),
            chunk: vec![0; CHUNK],
            ready: VecDeque::new(),
            answering: None,
            writer: Arc::new(Mutex::new(Some(writer))),
            hung_up,
        }
    }

    /// Takes the lines of what was read; nothing was at the end.
    fn take_lines(&mut self, count: usize) {
        let mut bytes = &self.chunk[..count];
        while let Some(line) = self.decoder.next(&mut bytes) {
            read_line(line.map(|line| line.text), &mut self.ready);
        }
        if count == 0 {
            if let Some(line) = self.decoder.finish() {
                read_line(line.map(|line| line.text), &mut self.ready);
            }
            self.hung_up.cancel();
        }
    }
}

impl<R, W> Transport<RoleServer> for Pipes<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
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

    /// Cancel safety: nothing is lost, and no line is left half written.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(answering) = &mut self.answering {
                let answered = answering.await;
                self.answering = None;
                answered.ok()?;
            }
            match self.ready.pop_front() {
                Some(Ok(message)) => return Some(message),
                Some(Err(Complaint { error, id })) => {
                    let answer = ServerJsonRpcMessage::error(error, id);
                    self.answering = Some(Box::pin(self.send(answer)));
                }
                None if self.hung_up.is_cancelled() => return None,
                None => {
                    let read = self.reader.read(&mut self.chunk).await;
                    self.take_lines(read.unwrap_or_else(|error| {
                        tracing::debug!(%error, "the client cannot be read");
                        0
                    }));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A send that is stuck holds the lock; it is dropped with everything else.
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take();
        }
        Ok(())
    }
}

/// Reads a line: a message, several in a batch, or something that is answered at once.
fn read_line(line: Result<&str, LineFault>, ready: &mut VecDeque<Read>) {
    let nameless = |error: ErrorData| Complaint { error, id: None };
    let json = line
        .map_err(|fault| fault.to_string())
        .and_then(|text| serde_json::from_str::<RawJson>(text).map_err(|error| error.to_string()));
    let json = match json {
        Ok(json) => json,
        Err(why) => return ready.push_back(Err(nameless(ErrorData::parse_error(why, None)))),
    };
    if !json.get().starts_with('[') {
        return ready.extend(read_message(&json));
    }
    let batch: Vec<RawJson> = json.parse().unwrap_or_default();
    if batch.is_empty() {
        ready.push_back(Err(nameless(ErrorData::invalid_request("an empty batch", None))));
    }
    ready.extend(batch.iter().filter_map(read_message));
}

/// Reads a message, or says what is wrong with it. `None` if that must not be said: a notification
/// has no answer.
fn read_message(json: &RawJson) -> Option<Read> {
    #[derive(Default, Deserialize)]
    struct Head {
        id: Option<RawJson>,
        method: Option<RawJson>,
    }
    let error = match json.parse() {
        Ok(message) => return Some(Ok(message)),
        Err(error) => error,
    };
    let head: Head = json.parse().unwrap_or_default();
    if head.id.is_none() && head.method.is_some() {
        tracing::debug!(%error, "a notification cannot be read");
        return None;
    }
    let id = head.id.and_then(|id| id.parse::<RequestId>().ok());
    let error = ErrorData::invalid_request(error.to_string(), None);
    Some(Err(Complaint { error, id }))
}
