//! One end of a session. The host and the agent run this same code.
//!
//! A session is two ends and a [`Link`] of lines between them. Each end tells the
//! other things (messages) and asks it things (control requests), many at a time
//! and in both directions at once. [`connect`] gives an end three things: a [`Peer`]
//! to speak through, an [`Inbox`] of what the other end says, and the session itself,
//! a future that lives as long as it is polled. What the other end asks is answered
//! by a [`Service`].
//!
//! ```
//! use bowline_peer::{Link, Options, Request, Service, connect};
//! use bowline_protocol::{Failure, Success};
//! use serde_json::json;
//! use tokio_util::sync::CancellationToken;
//!
//! /// Says back whatever it is asked.
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
//!     host.tell(&json!({"type": "user"})).await?;
//!     let answer = host.ask_raw(&json!({"subtype": "interrupt"})).await?;
//!     assert_eq!(answer.unwrap().get(), r#"{"subtype":"interrupt"}"#);
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
//! - **Reading never waits for anybody.** Control is routed apart from messages, and
//!   before anybody has read the messages in front of it. Messages that nobody reads
//!   wait in memory up to a limit and then on disk, or hold the other end back, if that
//!   is asked for: [`Overflow`].
//! - **Every question gets exactly one answer**, also when its handler panics, is too
//!   slow at the end of the session, or the question cannot be read. Only a question
//!   that the asker withdrew gets none.
//! - **Every asker learns its fate**: an answer, a refusal, the end of its time, or the
//!   end of the session, whichever comes first. Dropping [`Peer::ask`] withdraws the
//!   question.
//! - **Lines leave in the order in which they were said**, from one writer. Speakers
//!   wait for room and readers do not, so two ends that flood each other cannot
//!   block each other.
//! - **Bad lines do not end a session.** They are reported to [`Service::fault`], and
//!   the next line is read.

mod batch;
mod frame;
mod inbox;
mod link;
mod outbox;
mod peer;
mod pending;
mod requests;
mod service;
mod session;
mod spill;

pub use frame::Request;
pub use inbox::{Inbox, Overflow};
pub use link::{Arrival, Link};
pub use peer::{AskError, Peer, TellError};
pub use pending::Stray;
pub use service::{Fault, Service};
pub use session::{
    DEFAULT_DRAIN_LIMIT, DEFAULT_INBOX_LIMIT, DEFAULT_REQUEST_LIMIT, DEFAULT_TIME_LIMIT, Options,
    Questions, SessionError, SessionFuture, connect, connect_with,
};
pub use spill::Spill;
