//! The door over stdin and stdout: lines of JSON in, lines of JSON out.
//!
//! The official SDKs start the program and talk to it over its pipes. Lines end with a newline,
//! the last one may do without, and the end of the input says that no more prompts follow. All
//! else is as at every door over lines: [`bowline_doorway`].

pub use bowline_doorway::{Claims, Door, InputError, Opening, Silencer, Spare};
use bowline_peer::Link;
use tokio::io::{AsyncRead, AsyncWrite};

/// Connects to a host on the other end of two pipes. Nothing is read before [`Door::serve`] runs.
pub fn open(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    opening: Opening,
) -> Door {
    Door::over(Link::stream(reader, writer), opening)
}
