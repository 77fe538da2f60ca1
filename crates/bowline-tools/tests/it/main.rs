//! Behavior of the tools on real files, processes and sockets.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod background;
mod bash;
mod confinement;
mod edit;
mod glob;
mod grep;
mod guardian;
mod lists;
mod notebook;
mod private;
mod read;
mod registry;
mod rig;
mod web_fetch;
mod write;
