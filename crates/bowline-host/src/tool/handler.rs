//! What does a tool's work.

use bowline_protocol::ToolUseId;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::{IntoToolResult, ToolResult};

/// What a handler may know of its call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolContext {
    /// The server under which the tool was called.
    pub server: String,
    /// The model's call, if the agent said which.
    pub tool_use_id: Option<ToolUseId>,
    /// Fires when the result is no longer wanted. The handler is dropped then; this is for work
    /// that outlives it.
    pub cancel: CancellationToken,
}

/// An async closure that does a tool's work: `async |arguments| …` or
/// `async |arguments, context| …`.
///
/// `Shape` tells the two apart; the compiler finds it.
pub trait ToolHandler<Shape>: Send + Sync + 'static {
    /// What the tool is called with.
    type Arguments: DeserializeOwned + Send + 'static;

    /// Does the work.
    fn call(&self, arguments: Self::Arguments, context: ToolContext) -> BoxFuture<'_, ToolResult>;
}

impl<F, A, Fut> ToolHandler<(A,)> for F
where
    F: Fn(A) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    type Arguments = A;

    fn call(&self, arguments: A, _: ToolContext) -> BoxFuture<'_, ToolResult> {
        let result = self(arguments);
        Box::pin(async move { result.await.into_tool_result() })
    }
}

impl<F, A, Fut> ToolHandler<(A, ToolContext)> for F
where
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    Fut: Future<Output: IntoToolResult> + Send + 'static,
{
    type Arguments = A;

    fn call(&self, arguments: A, context: ToolContext) -> BoxFuture<'_, ToolResult> {
        let result = self(arguments, context);
        Box::pin(async move { result.await.into_tool_result() })
    }
}
