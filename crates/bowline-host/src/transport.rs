//! Connection to a running agent, wherever it runs: the operations that every transport has.

use std::time::Duration;

use bowline_peer::CallError;
use bowline_protocol::{Call, HostRequest, Message, RawJson, UserMessage};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;

use crate::{error::Error, run::Run};

/// A running agent: in a process, in this program, over streams or a WebSocket.
pub(crate) trait Transport: Send + Sync {
    /// Sends a control request and waits for the body of its response, which an acknowledgement does not
    /// have. `subtype` names the request in errors.
    fn request(
        &self,
        request: HostRequest,
        subtype: &'static str,
        limit: Duration,
    ) -> BoxFuture<'_, Result<Option<RawJson>, Error>>;

    /// Sends a prompt. Waits until it is on its way, not for a response.
    fn prompt(&self, prompt: UserMessage) -> BoxFuture<'_, Result<(), Error>>;

    /// The next message, if it has arrived. In a flood that is nearly every one, and none of them costs a
    /// boxed future.
    fn try_next(&self) -> Option<Result<Message, Error>>;

    /// The next message; `None` after the last.
    ///
    /// Cancel safety: no message is lost when the future is dropped.
    fn next(&self) -> BoxFuture<'_, Option<Result<Message, Error>>>;

    /// Announces that no more prompts follow.
    fn end_input(&self) -> BoxFuture<'_, ()>;

    /// The agent owes no result and runs nothing in the background. A link that cannot be closed in one
    /// direction is closed now, if its input has ended.
    fn work_done(&self) {}

    /// Ends the agent: lets it finish for a while, then stops it. Always returns.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Waits until the agent has exited.
    fn gone(&self) -> BoxFuture<'_, ()>;

    /// The error that the agent's end amounts to, once it has ended. `run` has whether a result was owed.
    fn end_error<'a>(&'a self, run: &'a Mutex<Run>) -> BoxFuture<'a, Option<Error>>;
}

impl dyn Transport {
    /// Sends a typed control request and reads its response.
    pub(crate) async fn call<C>(&self, call: C, limit: Duration) -> Result<C::Response, Error>
    where
        C: Call<Request = HostRequest>,
    {
        let subtype = C::SUBTYPE;
        let response = self.request(call.into(), subtype, limit).await?;
        C::read_response(response.as_ref()).map_err(|error| Error::Control {
            subtype,
            message: CallError::Unreadable(error).to_string(),
            code: None,
        })
    }
}
