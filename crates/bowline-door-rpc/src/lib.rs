//! The door for scripts: newline-delimited JSON-RPC 2.0 over two pipes.
//!
//! A client says `run` and gets the messages of a session as responses with that id; the last is
//! the result. What the engine asks, the client is asked by a request of ours. The door opens its
//! sessions through [`Sessions`] and knows nothing of how they are set up.
//!
//! | from the client | answer |
//! |---|---|
//! | `run {prompt, session_id?, stream?, delivery?}` | messages, then a result |
//! | `cancel` | `{"cancelled": true}` |
//! | `status` | what runs, and in which session |
//!
//! | to the client | answer |
//! |---|---|
//! | `permission/request` | `{"behavior": "allow"}` or `{"behavior": "deny", "message": …}` |
//! | `permission/cancelled` | none: a notification that an answer is no longer wanted |
//! | `run/message` | none: a message, for clients that want one response per request |

mod host;
mod lines;
mod output;
mod run;
mod serve;
mod wire;

use std::{fmt, sync::Arc};

use bowline_engine::Sessions;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::lines::Lines;

/// A client on the other end of two pipes.
pub struct Door {
    lines: Lines,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    sessions: Arc<dyn Sessions>,
}

impl Door {
    /// Connects to a client. Nothing is read before [`serve`](Self::serve) runs.
    pub fn open(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        sessions: Arc<dyn Sessions>,
    ) -> Self {
        Self { lines: Lines::new(reader), writer: Box::new(writer), sessions }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").finish_non_exhaustive()
    }
}
