//! The door over stdin and stdout: lines of JSON in, lines of JSON out.
//!
//! The official SDKs start the program and talk to it over its pipes. Lines end with a newline,
//! which the last one may omit; the end of the input means that no more prompts follow.

use bowline_peer::Link;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Door, Opening};

impl Door {
    /// Connects to a host on the other end of two pipes. Nothing is read before
    /// [`serve`](Self::serve) runs.
    pub fn stdio(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        opening: Opening,
    ) -> Self {
        Self::over(Link::stream(reader, writer), opening)
    }
}
