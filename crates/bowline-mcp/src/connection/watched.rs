//! Transport wrapper that signals the end of input and records list changes in order.

use std::{borrow::Cow, sync::Arc};

use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio_util::sync::CancellationToken;

use super::changes::{Changed, Changes};

/// Fires `closed` at the end of input, so that no request waits for what `rmcp` still finishes then.
/// Records changes before the messages after them are passed on: `rmcp` handles each notification in
/// its own task, and then a change may be noticed after the response that followed it.
pub(super) struct Watched<T> {
    pub(super) inner: T,
    pub(super) closed: CancellationToken,
    pub(super) changes: Arc<Changes>,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = self.inner.receive().await;
        match &message {
            None => self.closed.cancel(),
            Some(message) => {
                if let Some(change) = Changed::from_message(message) {
                    self.changes.add(change);
                }
            }
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.closed.cancel();
        self.inner.close().await
    }
}
