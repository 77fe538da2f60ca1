//! Sessions on disk: what was said, kept so that it can be taken up again.
//!
//! A session is one append-only file of JSON lines, in the layout that the
//! official CLI and SDKs read and write, so that sessions move between them and
//! Bowline in both directions.
//!
//! | subject | where |
//! |---|---|
//! | where files live | [`ConfigHome`], [`ProjectKey`], [`SessionFiles`] |
//! | what a line is | [`TranscriptLine`] |
//! | writing | [`TranscriptWriter`], [`SessionLock`] |
//! | taking a session up again | [`LiveContext`] |
//!
//! Everything here is plain blocking file work without a runtime; an engine
//! calls it from the task that owns its writer. This crate reads no environment
//! variable and knows no model, tool or transport.

mod clock;
mod context;
mod error;
mod line;
mod lock;
mod project;
mod writer;

pub use clock::now;
pub use context::{
    ContextMessage, LiveContext, MessageKind, NO_RESPONSE, PlacedAttachment, Unfinished,
};
pub use error::SessionError;
pub use line::*;
pub use lock::{LockHolder, SessionLock};
pub use project::{ConfigHome, ProjectKey, SessionFiles, is_session_id, task_output};
pub use writer::{Flushed, LineOrigin, MirrorBatch, Sync, TranscriptWriter, WriteFailure};
