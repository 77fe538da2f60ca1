//! Lines from the client.

use std::{collections::VecDeque, io};

use bowline_protocol::{Line, LineDecoder, LineFault};
use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Cuts what a client writes into lines.
pub(crate) struct Lines {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    decoder: LineDecoder,
    chunk: Vec<u8>,
    /// Lines that came with the last read.
    read: VecDeque<Result<String, LineFault>>,
    ended: bool,
}

impl Lines {
    pub(crate) fn new(reader: impl AsyncRead + Send + Unpin + 'static) -> Self {
        Self {
            reader: Box::new(reader),
            decoder: LineDecoder::default(),
            chunk: vec![0; CHUNK],
            read: VecDeque::new(),
            ended: false,
        }
    }

    /// The next line; `None` at the end.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Result<String, LineFault>>> {
        loop {
            if let Some(line) = self.read.pop_front() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            let count = self.reader.read(&mut self.chunk).await?;
            let owned = |line: Line<&str>| line.text.to_owned();
            let mut bytes = &self.chunk[..count];
            while let Some(line) = self.decoder.next(&mut bytes) {
                self.read.push_back(line.map(owned));
            }
            if count == 0 {
                self.ended = true;
                self.read.extend(self.decoder.finish().map(|line| line.map(owned)));
            }
        }
    }
}
