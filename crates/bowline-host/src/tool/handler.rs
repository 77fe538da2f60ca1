//! Handlers of tools: async closures, or types of yours.

use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::{IntoToolResult, ToolContext, ToolResult};

/// A type that does a tool's work, for tools that hold something.
///
/// ```
/// use bowline_host::{HandleTool, Tool, ToolContext};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// #[derive(Default)]
/// struct Counter(AtomicU64);
///
/// impl HandleTool for Counter {
///     type Arguments = Nothing;
///     type Answer = String;
///
///     async fn handle(&self, _: Nothing, _: ToolContext) -> String {
///         self.0.fetch_add(1, Ordering::Relaxed).to_string()
///     }
/// }
///
/// let count = Tool::new("count", "Counts its calls", Counter::default());
/// ```
pub trait HandleTool: Send + Sync + 'static {
    /// What the tool is called with.
    type Arguments: DeserializeOwned + Send + 'static;
    /// What it returns.
    type Answer: IntoToolResult;

    /// Does the work. Dropped when the result is no longer wanted.
    fn handle(
        &self,
        arguments: Self::Arguments,
        context: ToolContext,
    ) -> impl Future<Output = Self::Answer> + Send;
}

/// All that can do a tool's work: `async |arguments| …`, `async |arguments, context| …`, and
/// every [`HandleTool`].
///
/// `Shape` distinguishes them; the compiler infers it.
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

/// The shape of a type, as opposed to that of a closure.
#[derive(Debug)]
pub enum OwnType {}

impl<T: HandleTool> ToolHandler<OwnType> for T {
    type Arguments = T::Arguments;

    fn call(&self, arguments: T::Arguments, context: ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move { self.handle(arguments, context).await.into_tool_result() })
    }
}
