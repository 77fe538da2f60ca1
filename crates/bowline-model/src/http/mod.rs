//! One HTTP server that models live on: a client built on first use, one POST per
//! attempt, and every way it can fail as a [`ModelError`](crate::ModelError).

mod endpoint;
mod events;
mod failure;
mod limits;
mod response;

pub(crate) use endpoint::Endpoint;
pub(crate) use events::{Decoder, events};
pub(crate) use failure::ErrorText;
pub(crate) use response::HttpResponse;

use std::time::Duration;

/// Timeouts of HTTP requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// Until the response starts. A local server may load its model first.
    pub begin: Duration,
    /// Until the next piece of a response that has started. Also a local server that reads
    /// a long prompt is silent for a while.
    pub silence: Duration,
}

impl Timeouts {
    /// Ten minutes is what the API itself allows a request.
    pub const BEGIN: Duration = Duration::from_secs(600);
    /// A connection takes milliseconds; a proxy that wakes up takes seconds.
    pub const CONNECT: Duration = Duration::from_secs(30);
    /// The API pings every few seconds; slow local servers do not.
    pub const SILENCE: Duration = Duration::from_secs(300);
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Self::CONNECT, begin: Self::BEGIN, silence: Self::SILENCE }
    }
}
