//! MCP over two pipes: a message per line, in both directions.
//!
//! Every line is answered, also one that is no message: a client that waits for the answer to a
//! request which could not be read would wait for ever. Only what was meant as an answer is not; the
//! question that it was meant for fails.
//!
//! The service behind it starts a task for each message and each response, however many there are, so
//! the bounds are here: a flood waits in the client's pipe, and calls beyond a number are refused as
//! they are read.

use std::{collections::VecDeque, io, sync::Arc};

use bowline_engine::BoxFuture;
use bowline_protocol::{LineDecoder, LineFault, RawJson};
use rmcp::{
    ErrorData, RoleServer,
    model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::Transport,
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
    task::yield_now,
};
use tokio_util::sync::CancellationToken;

use crate::{
    bounds::{Bounds, Refused},
    values,
};

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Messages in one batch: more than any client has to say at once, and few enough to keep in memory.
const MAX_BATCH: usize = 1_000;

/// Messages after which the tasks that they were given to have a turn.
const TURN: usize = 64;

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
    /// Messages handed out since the tasks had a turn.
    handed: usize,
    bounds: Bounds,
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
            handed: 0,
            bounds: Bounds::default(),
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
        let queued = self.bounds.queue();
        async move {
            let _queued = queued;
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
                if let Err(error) = answered {
                    tracing::debug!(%error, "nobody reads what we write");
                    self.hung_up.cancel();
                    return None;
                }
            }
            if self.handed >= TURN {
                yield_now().await;
                self.handed = 0;
            }
            // A client that says no more cannot be kept waiting.
            if !self.hung_up.is_cancelled() {
                self.bounds.wait_for_reader().await;
            }
            let next = self.ready.front().and_then(|next| next.as_ref().ok());
            self.bounds.wait_for(next).await;
            match self.ready.pop_front() {
                Some(Ok(message)) => match self.bounds.admit(message) {
                    Ok(message) => {
                        self.handed += 1;
                        return Some(message);
                    }
                    Err(Refused { id, error }) => {
                        self.ready.push_front(Err(Complaint { error, id: Some(id) }));
                    }
                },
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
    let json = line.map_err(|fault| fault.to_string()).and_then(|text| {
        values::check(text.as_bytes())?;
        serde_json::from_str::<RawJson>(text).map_err(|error| error.to_string())
    });
    let json = match json {
        Ok(json) => json,
        Err(why) => return ready.push_back(Err(nameless(ErrorData::parse_error(why, None)))),
    };
    if !json.get().starts_with('[') {
        return ready.extend(read_message(&json));
    }
    // Counting them takes no memory.
    let why = match json.parse::<Vec<IgnoredAny>>().unwrap_or_default().len() {
        0 => "an empty batch".to_owned(),
        1..=MAX_BATCH => {
            let batch: Vec<RawJson> = json.parse().unwrap_or_default();
            return ready.extend(batch.iter().filter_map(read_message));
        }
        many => format!("a batch of {many} messages; at most {MAX_BATCH} are taken"),
    };
    ready.push_back(Err(nameless(ErrorData::invalid_request(why, None))));
}

/// Reads a message, or says what is wrong with it. `None` if that must not be said: a notification
/// has no answer.
fn read_message(json: &RawJson) -> Option<Read> {
    #[derive(Default, Deserialize)]
    struct Head {
        id: Option<RawJson>,
        method: Option<RawJson>,
        #[serde(default, deserialize_with = "present")]
        result: bool,
        #[serde(default, deserialize_with = "present")]
        error: bool,
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
    if head.method.is_none() && (head.result || head.error) {
        // An error under this id could be taken for the answer to the client's own request.
        return Some(Ok(ClientJsonRpcMessage::error(error, id)));
    }
    Some(Err(Complaint { error, id }))
}

/// That a field is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}
