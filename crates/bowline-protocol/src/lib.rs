//! What travels between an agent and its host.
//!
//! One JSON object per line, in two planes over one pipe: **messages** (prompts,
//! answers, tool results, status) and **control** (questions that either end asks
//! the other, each with exactly one answer). This crate has a type for everything
//! on both planes, reads and writes them, and knows nothing of pipes, processes
//! or runtimes.
//!
//! # Nothing is lost
//!
//! - An unknown message, subtype or content block is kept byte for byte in an
//!   `Unknown` variant and written back unchanged.
//! - Every struct that is an object on the wire ends with an `extra` map of the
//!   fields it does not know, so that reading and writing a message of a newer
//!   peer loses none of them. (Their values survive; the spelling of numbers and
//!   the order of keys may change. Who must forward the bytes as they are reads
//!   a [`Head`] and forwards the line.)
//! - A *known* tag whose body does not fit is a [`ReadError`] that names the tag
//!   and the field.

mod agent;
mod codec;
mod content;
mod control;
mod effort;
mod extra;
mod head;
mod hook;
mod id;
mod maybe;
mod mcp;
mod message;
mod permission;
mod printable;
mod raw;
mod schema;
mod stream;
mod surrogate;
mod wire;

pub use agent::*;
pub use codec::{DEFAULT_LINE_LIMIT, Line, LineDecoder, LineFault, LineProblem};
pub use content::*;
pub use control::*;
pub use effort::{Effort, UnknownEffort};
pub use extra::Extra;
pub use head::Head;
pub use hook::*;
pub use id::*;
pub use maybe::Maybe;
pub use mcp::*;
pub use message::*;
pub use permission::*;
pub use printable::{printable, printable_json};
pub use raw::RawJson;
pub use schema::{agent_schema, host_schema};
pub use stream::*;
pub use surrogate::whole_characters;
pub use wire::ReadError;
