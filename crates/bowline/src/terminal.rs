//! Output to the user's terminal, with control characters escaped.
//!
//! Stdout is exact when it is a pipe or a file; stderr is for people and always escaped.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, IsTerminal, Write},
    pin::Pin,
    sync::LazyLock,
    task::{Context, Poll, ready},
};

use bowline_protocol::{printable, printable_json};
use tokio::io::AsyncWrite;

static STDOUT_IS_TERMINAL: LazyLock<bool> = LazyLock::new(|| io::stdout().is_terminal());

/// Kind of a text, which decides how its characters are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

/// Prints to stdout, with a line break.
pub(crate) fn print(text: &str, form: Form) -> io::Result<()> {
    let shown = match (*STDOUT_IS_TERMINAL, form) {
        (false, _) => Cow::Borrowed(text),
        (true, Form::Text) => printable(text),
        (true, Form::Json) => printable_json(text),
    };
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{shown}")?;
    stdout.flush()
}

/// Writes to stderr for the user. Write errors are ignored: stderr may be closed.
pub(crate) fn complain(text: impl Display) {
    writeln!(io::stderr(), "{}", printable(&text.to_string())).ok();
}

/// Standard error for text in pieces, each of whole characters.
#[derive(Debug)]
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        io::stderr().write_all(printable(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Lines of JSON to a terminal.
#[derive(Debug)]
pub(crate) struct JsonTerminal<W> {
    terminal: W,
    /// Bytes of an incomplete character.
    begun: Vec<u8>,
    /// Escaped bytes to write, and how many are written.
    shown: Vec<u8>,
    written: usize,
}

impl<W: AsyncWrite + Unpin> JsonTerminal<W> {
    pub(crate) fn new(terminal: W) -> Self {
        Self { terminal, begun: Vec::new(), shown: Vec::new(), written: 0 }
    }

    /// Buffers bytes; they are not written yet.
    fn take(&mut self, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Invalid UTF-8, replaced below.
            Err(_) => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = String::from_utf8_lossy(&self.begun);
        self.shown.extend_from_slice(printable_json(&text).as_bytes());
        self.begun = rest;
    }

    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.shown.len() {
            let terminal = Pin::new(&mut self.terminal);
            match ready!(terminal.poll_write(context, &self.shown[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        self.shown.clear();
        self.written = 0;
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for JsonTerminal<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_written(context))?;
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_written(context))?;
        Pin::new(&mut self.terminal).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_written(context))?;
        Pin::new(&mut self.terminal).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn characters_split_across_writes_are_escaped() {
        let text = "{\"a\":\"\u{9b}2J \u{7f} \u{202e} é\"}\n";
        for size in 1..=text.len() {
            let mut terminal = JsonTerminal::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                terminal.write_all(piece).await.unwrap();
            }
            terminal.flush().await.unwrap();
            let shown = String::from_utf8(terminal.terminal).unwrap();
            assert_eq!(shown, "{\"a\":\"\\u009b2J \\u007f \\u202e é\"}\n", "in pieces of {size}");
        }
    }
}
