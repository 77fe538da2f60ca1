//! The control plane: requests that either end sends to the other.

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
