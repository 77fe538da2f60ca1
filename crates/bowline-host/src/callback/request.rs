//! Callback for requests of the agent that have no typed callback.

use bowline_protocol::RawJson;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::IntoAnswer;

/// Responds to one kind of request with raw JSON.
///
/// ```
/// use bowline_host::{Options, OtherRequest};
/// use serde_json::json;
///
/// let options = Options::default()
///     .on_request("oauth_token_refresh", async |_: OtherRequest| json!({"accessToken": "fresh"}));
/// ```
pub trait OnRequest: Send + Sync + 'static {
    /// Responds. An error is sent to the agent.
    fn answer(&self, request: OtherRequest) -> BoxFuture<'_, Result<Value, String>>;
}

impl<F, Fut> OnRequest for F
where
    F: Fn(OtherRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer<Value>> + Send + 'static,
{
    fn answer(&self, request: OtherRequest) -> BoxFuture<'_, Result<Value, String>> {
        let response = self(request);
        Box::pin(async move { response.await.into_answer() })
    }
}

/// A request of the agent, as it came.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OtherRequest {
    /// The whole request, with its `subtype`.
    pub body: RawJson,
    /// Fires when the response is no longer wanted.
    pub cancel: CancellationToken,
}

impl OtherRequest {
    pub(crate) fn new(body: RawJson, cancel: CancellationToken) -> Self {
        Self { body, cancel }
    }
}
