//! Sessions kept by this program: in memory, in files, in a database, wherever a
//! [`SessionStore`] puts them.
//!
//! With [`Options::session_store`](crate::Options::session_store) the agent still writes its
//! transcript where it always does, and everything it writes is appended to the store as well.
//! Resuming looks into the store, so that a session can be taken up on another machine.

mod mirror;
mod resume;

pub use bowline_sessions::{
    Answer, BoxFuture, FileStore, MemoryStore, MirrorFlush, ProjectKey, SessionStore,
    SessionSummary, StoreError, StoreKey, StoredSession, SummaryData,
};

pub(crate) use mirror::Mirror;
pub(crate) use resume::{ResumedHome, from_store};
