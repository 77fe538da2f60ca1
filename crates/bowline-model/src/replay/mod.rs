//! Recordings: every exchange with a model written down, and played back.
//!
//! A recording is lines of JSON, written as things happen, so that one that breaks
//! off is still good for what it holds:
//!
//! ```text
//! {"type":"request","exchange":1,"at_ms":0,"request":{…}}
//! {"type":"begin","exchange":1,"at_ms":211,"request_id":"req_1"}
//! {"type":"event","exchange":1,"at_ms":212,"event":{"type":"message_start",…}}
//! {"type":"end","exchange":1,"at_ms":260}
//! {"type":"end","exchange":2,"at_ms":300,"error":{"kind":"status","status":529,…}}
//! ```
//!
//! Keys and headers are never part of it: it holds [`ModelRequest`](crate::ModelRequest)s,
//! and those have none.
//!
//! # Matching requests
//!
//! By content: the messages, the names of the tools and the tool choice have to be
//! the same. What differs from machine to machine and from day to day is not
//! compared: the system prompt, the texts in `<system-reminder>` tags, the model's
//! name, limits and metadata. Exchanges with equal requests (retries) are played in the
//! order they were recorded; failures are played too.

mod difference;
mod file;
mod player;
mod recorder;
mod redact;

pub use file::RecordFile;
pub use player::{Pace, ReplayModel};
pub use recorder::Recorder;
