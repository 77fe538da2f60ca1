//! Sessions on disk: transcripts that can be resumed, listed, forked and mirrored.
//!
//! A session is one file of JSON lines that only grows, in the layout that the
//! official CLI and SDKs read and write, so that sessions move between them and
//! Bowline in both directions. Lines are never moved, and changed in one respect
//! only: those of a response have blanks for its stop reason and usage.
//!
//! | subject | where |
//! |---|---|
//! | layout of files | [`ConfigHome`], [`ProjectKey`], [`SessionFiles`] |
//! | lines | [`TranscriptLine`] |
//! | writing | [`TranscriptWriter`], [`SessionLock`] |
//! | starting and resuming | [`StartOptions`]; [`resume`], which gives a [`LiveContext`] |
//! | listing, finding, searching | [`list`], [`info`], [`find`], [`newest`], [`search`] |
//! | reading | [`messages`], [`subagents`], [`subagent_messages`] |
//! | changing | [`rename`], [`tag`], [`archive`], [`fork`], [`branch`], [`delete`] |
//! | keeping sessions elsewhere | [`SessionStore`], [`MirrorBuffer`], [`SessionSummary`] |
//! | undoing edits of files | [`Checkpoints`] |
//!
//! ```
//! use bowline_sessions::{ConfigHome, LineOrigin, ProjectKey, ResumeAt, TranscriptWriter, UserLine};
//!
//! # let folder = tempfile::tempdir()?;
//! # let (home, directory) = (folder.path().join("home"), folder.path());
//! let home = ConfigHome::new(home);
//! let files = home.session(&ProjectKey::for_directory(directory), &bowline_sessions::new_id());
//! let mut writer = TranscriptWriter::create(files, LineOrigin::default())?;
//! writer.push(UserLine::new("hello"));
//! let _ = writer.flush();
//!
//! let context = bowline_sessions::resume(writer.path(), &ResumeAt::End)?;
//! assert_eq!(context.messages[0].content[0].as_text(), Some("hello"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything here is plain blocking file work without a runtime; an engine
//! calls it from the task that owns its writer. This crate reads no environment
//! variable and knows no model, tool or transport.

mod archive;
mod archive_mark;
mod branch_name;
mod checkpoint;
mod clock;
mod context;
mod edit;
mod error;
mod find;
mod fork;
mod head;
mod info;
mod line;
mod list;
mod lock;
mod lock_holder;
mod mirror;
mod names;
mod parallel;
mod project;
mod read;
mod resume;
mod scan;
mod search;
mod start;
mod store;
mod summary;
mod writer;

pub use archive::{archive, unarchive};
pub use branch_name::git_branch;
pub use checkpoint::{Checkpoints, Rewind, RewindReport};
pub use clock::now;
pub use context::{
    ContextMessage, KnownLines, LiveContext, MessageKind, NO_RESPONSE, PlacedAttachment, Unfinished,
};
pub use edit::{delete, rename, tag};
pub use error::SessionError;
pub use find::{Target, find, newest};
pub use fork::{ForkOptions, branch, fork, new_id};
pub use info::SessionInfo;
pub use line::*;
pub use list::{ListOptions, info, list};
pub use lock::SessionLock;
pub use lock_holder::LockHolder;
pub use mirror::{Drained, MirrorBuffer, MirrorFlush, RETRY_DELAYS, SEND_TIMEOUT, StoreBatch};
pub use project::{ConfigHome, ProjectKey, SessionFiles, is_session_id, tasks_folder};
pub use read::{
    MessageAuthor, Page, SessionMessage, messages, messages_in, subagent_messages,
    subagent_messages_in, subagents,
};
pub use resume::{ResumeAt, resume, resume_subagent};
pub use search::{SearchHit, search};
pub use start::{StartFrom, StartOptions, StartedSession};
pub use store::{
    BrokenContract, FileStore, MOST_PENDING_BYTES, MOST_PENDING_ENTRIES, MemoryStore, SessionStore,
    StoreCheck, StoreError, StoreFuture, StoreKey, StoredSession, Transcripts, import, materialize,
};
pub use summary::{SessionSummary, SummaryData};
pub use writer::{
    Flushed, LineOrigin, MirrorBatch, Mirroring, SubagentMetadata, Sync, TranscriptWriter,
    WriteFailure,
};
