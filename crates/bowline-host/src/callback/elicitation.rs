//! Callback for elicitations: input that an MCP server wants from the user.

use std::ops::Deref;

use bowline_protocol::{Elicitation, ElicitationResponse};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::IntoAnswer;

/// Responds to elicitations of MCP servers on behalf of the user.
///
/// ```
/// use bowline_host::{ElicitationRequest, ElicitationResponse, Options};
/// use serde_json::json;
///
/// let options = Options::default().on_elicitation(async |request: ElicitationRequest| {
///     match request.mcp_server_name.as_str() {
///         "library" => ElicitationResponse::accept(json!({"name": "Ada"}).into()),
///         _ => ElicitationResponse::decline(),
///     }
/// });
/// ```
pub trait OnElicitation: Send + Sync + 'static {
    /// Responds. An error is sent to the agent.
    fn answer(
        &self,
        request: ElicitationRequest,
    ) -> BoxFuture<'_, Result<ElicitationResponse, String>>;
}

impl<F, Fut> OnElicitation for F
where
    F: Fn(ElicitationRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer<ElicitationResponse>> + Send + 'static,
{
    fn answer(
        &self,
        request: ElicitationRequest,
    ) -> BoxFuture<'_, Result<ElicitationResponse, String>> {
        let response = self(request);
        Box::pin(async move { response.await.into_answer() })
    }
}

/// An elicitation of an MCP server. It derefs to the request on the wire.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The request.
    pub request: Elicitation,
    /// Fires when the response is no longer wanted.
    pub cancel: CancellationToken,
}

impl ElicitationRequest {
    pub(crate) fn new(request: Elicitation, cancel: CancellationToken) -> Self {
        Self { request, cancel }
    }
}

impl Deref for ElicitationRequest {
    type Target = Elicitation;

    fn deref(&self) -> &Elicitation {
        &self.request
    }
}
