//! One end of a session. The host and the agent run this same code.
//!
//! A session is two ends and a [`Link`] of lines between them. Each end sends the other messages
//! and control requests, many at a time and in both directions at once. [`connect`] gives an end
//! three things: a [`Peer`] to send through, an [`Inbox`] of received messages, and the session
//! itself, a future that makes progress while it is polled. Requests of the other end are handled
//! by a [`Service`] or, in order with the messages, by a [`Dispatcher`].
//!
//! ```
//! use bowline_peer::{Link, Options, Request, Service, connect};
//! use bowline_protocol::{Failure, Success};
//! use serde_json::json;
//! use tokio_util::sync::CancellationToken;
//!
//! /// Responds with the request itself.
//! struct Echo;
//!
//! impl Service for Echo {
//!     async fn request(
//!         &self,
//!         request: Request,
//!         _cancel: CancellationToken,
//!     ) -> Result<Success, Failure> {
//!         Ok(Success { response: Some(request.body), ..Success::default() })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (here, there) = Link::pair();
//! let (host, _, host_session) = connect(here, Echo, Options::default());
//! let (_, mut messages, agent_session) = connect(there, Echo, Options::default());
//!
//! let conversation = async {
//!     host.send(&json!({"type": "user"})).await?;
//!     let response = host.request_raw(&json!({"subtype": "interrupt"})).await?;
//!     assert_eq!(response.unwrap().get(), r#"{"subtype":"interrupt"}"#);
//!     assert_eq!(messages.next().await.unwrap().text, r#"{"type":"user"}"#);
//!     host.close();
//!     Ok::<(), Box<dyn std::error::Error>>(())
//! };
//! let (conversation, host_end, agent_end) =
//!     tokio::join!(conversation, host_session, agent_session);
//! conversation?;
//! host_end?;
//! agent_end?;
//! # Ok(())
//! # }
//! ```
//!
//! # What is promised
//!
//! - **Reading never waits.** Control frames are routed apart from messages, ahead of unread ones.
//!   Unread messages wait in memory up to a limit and then on disk, or put back-pressure on the
//!   other end: [`Overflow`].
//! - **Every request gets exactly one response**, also when its handler panics, is too
//!   slow at the end of the session, or the request cannot be read. Only a request
//!   that the caller cancelled may get none.
//! - **Every caller gets an outcome**: a response, a refusal, a timeout, or the
//!   end of the session, whichever comes first. Dropping [`Peer::request`] cancels the
//!   request.
//! - **Lines leave in the order in which they were sent**, from one writer. Senders
//!   wait for capacity and readers do not, so two ends that flood each other cannot
//!   deadlock.
//! - **Bad lines do not end a session.** They are reported to [`Service::fault`], and
//!   the next line is read.

mod batch;
mod dispatch;
mod frame;
mod inbox;
mod incoming;
mod link;
mod outbox;
mod outgoing;
mod peer;
mod service;
mod session;
mod spill;

pub use dispatch::{Dispatcher, Response};
pub use frame::Request;
pub use inbox::{Inbox, Overflow};
pub use link::{Arrival, Link};
pub use outgoing::StrayResponse;
pub use peer::{CallError, Peer, SendError};
pub use service::{Fault, Service};
pub use session::{
    DEFAULT_DRAIN_LIMIT, DEFAULT_INBOX_LIMIT, DEFAULT_REQUEST_LIMIT, DEFAULT_TIME_LIMIT, Options,
    RequestRouting, SessionError, SessionFuture, connect, connect_with,
};
pub use spill::Spill;
