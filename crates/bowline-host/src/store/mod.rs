//! Sessions kept by this program: in memory, in files, in a database, wherever a
//! [`SessionStore`] puts them.
//!
//! With [`Options::session_store`](crate::Options::session_store) the agent still writes its
//! transcript where it always does, and everything it writes is appended to the store as well.
//! Resuming looks into the store, so that a session can be resumed on another machine.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bowline_host::{Client, Embedded, Options, Sessions, store::MemoryStore};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let store = Arc::new(MemoryStore::new());
//! let options =
//!     Options::default().embedded(Embedded::script(folder)).session_store(store.clone());
//! let client = Client::connect(options.clone()).await?;
//! client.query("SAY hello").await?;
//! client.receive_response().text().await?;
//! client.disconnect().await;
//!
//! let sessions = Sessions::in_store(store).for_directory(folder);
//! let known = sessions.list(&Default::default()).await?;
//! let again = Client::connect(options.resume(known[0].session_id.as_str())).await?;
//! # again.disconnect().await;
//! # Ok(())
//! # }
//! ```
//!
//! A store needs two methods; the others offer more. [`StoreCheck`] checks, in a test of yours,
//! whether it keeps what it promises:
//!
//! ```
//! use std::{collections::HashMap, sync::Mutex};
//!
//! use bowline_host::{
//!     protocol::RawJson,
//!     store::{StoreFuture, SessionStore, StoreCheck, StoreError, StoreKey},
//! };
//!
//! #[derive(Debug, Default)]
//! struct Shelf(Mutex<HashMap<StoreKey, Vec<RawJson>>>);
//!
//! impl SessionStore for Shelf {
//!     fn append(&self, key: &StoreKey, entries: Vec<RawJson>) -> StoreFuture<'_, ()> {
//!         let key = key.clone();
//!         Box::pin(async move {
//!             let mut shelf = self.0.lock().map_err(|_| StoreError("it fell over".to_owned()))?;
//!             for entry in entries {
//!                 let kept = shelf.entry(key.clone()).or_default();
//!                 // One that has a name may come twice, and is kept once.
//!                 if entry.to_value().get("uuid").is_none() || !kept.contains(&entry) {
//!                     kept.push(entry);
//!                 }
//!             }
//!             Ok(())
//!         })
//!     }
//!
//!     fn load(&self, key: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
//!         let key = key.clone();
//!         Box::pin(async move {
//!             let shelf = self.0.lock().map_err(|_| StoreError("it fell over".to_owned()))?;
//!             Ok(shelf.get(&key).cloned())
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), bowline_host::store::BrokenContract> {
//! StoreCheck::default().without_deleting().run(Shelf::default).await?;
//! # Ok(())
//! # }
//! ```

mod link;
mod mirror;
mod resume;

pub use bowline_sessions::{
    BrokenContract, FileStore, MemoryStore, MirrorFlush, ProjectKey, SessionStore, SessionSummary,
    StoreCheck, StoreError, StoreFuture, StoreKey, StoredSession, SummaryData,
};

pub(crate) use link::StoreLink;
