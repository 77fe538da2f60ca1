//! The control plane: questions that either end asks the other.

mod call;
mod envelope;
mod from_agent;
mod from_host;
mod opaque;

pub use call::{Ack, Call};
pub use envelope::*;
pub use from_agent::*;
pub use from_host::*;
pub use opaque::OpaqueRequest;
