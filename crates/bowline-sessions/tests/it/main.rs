//! What sessions on disk must do.

mod checkpoint;
mod edit;
mod golden;
mod list;
mod lock;
mod project;
mod resume;
mod store;
mod torn;
mod transcript;
mod writer;
