//! Ordered output of lines to the client.

use bowline_protocol::{
    RawJson,
    jsonrpc::{ErrorObject, Id, Notification, Request},
};
use serde::Serialize;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::wire::internal_error;

/// A response of the door.
pub(crate) type Response = bowline_protocol::jsonrpc::Response<RawJson>;

/// Lines that wait to be written. A client that does not read stalls the senders.
const WAITING: usize = 64;

/// The way to the client. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    lines: mpsc::Sender<String>,
    /// Fires when nobody reads what we write.
    gone: CancellationToken,
}

impl Output {
    /// Starts the writer. It ends when every [`Output`] is dropped.
    pub(crate) fn start(
        mut writer: Box<dyn AsyncWrite + Send + Unpin>,
    ) -> (Self, AbortOnDropHandle<()>) {
        let (lines, mut waiting) = mpsc::channel::<String>(WAITING);
        let gone = CancellationToken::new();
        let ended = gone.clone();
        let task = tokio::spawn(async move {
            while let Some(mut line) = waiting.recv().await {
                line.push('\n');
                let written = async {
                    writer.write_all(line.as_bytes()).await?;
                    writer.flush().await
                };
                if let Err(error) = written.await {
                    tracing::debug!(%error, "nobody reads what we write");
                    break;
                }
            }
            ended.cancel();
        });
        (Self { lines, gone }, AbortOnDropHandle::new(task))
    }

    /// Waits until nobody reads any more.
    pub(crate) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Sends a response.
    pub(crate) async fn respond(&self, response: &Response) {
        self.line(response).await;
    }

    /// Sends the responses of a batch. One of notifications only has none.
    pub(crate) async fn respond_all(&self, responses: &[Response]) {
        if !responses.is_empty() {
            self.line(&responses).await;
        }
    }

    /// Asks the client something.
    pub(crate) async fn request(&self, id: &str, method: &str, params: &impl Serialize) {
        self.line(&Request::new(id, method, params)).await;
    }

    /// Tells the client something.
    pub(crate) async fn notify(&self, method: &str, params: &impl Serialize) {
        self.line(&Notification::new(method, Some(params))).await;
    }

    /// The same, from where nobody can wait. It is lost if the client is far behind.
    pub(crate) fn notify_in_passing(&self, method: &str, params: &impl Serialize) {
        if let Ok(line) = serde_json::to_string(&Notification::new(method, Some(params))) {
            self.lines.try_send(line).ok();
        }
    }

    async fn line(&self, message: &impl Serialize) {
        match serde_json::to_string(message) {
            // That nobody listens is noticed elsewhere.
            Ok(line) => self.lines.send(line).await.unwrap_or_default(),
            Err(error) => tracing::error!(%error, "a message is lost"),
        }
    }
}

/// A response with a result.
pub(crate) fn result(id: Id, result: &impl Serialize) -> Response {
    match RawJson::from_value(result) {
        Ok(result) => Response { id: Some(id), outcome: Ok(result) },
        Err(error) => failure(id, internal_error(error)),
    }
}

/// A response that says what went wrong.
pub(crate) fn failure(id: Id, error: ErrorObject) -> Response {
    Response { id: Some(id), outcome: Err(error) }
}
