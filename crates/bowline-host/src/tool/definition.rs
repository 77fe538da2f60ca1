//! A tool: its name, its description for the model, and its handler.

use std::{fmt, marker::PhantomData, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bowline_protocol::{McpPermissionPolicy, ToolAnnotations, ToolListing, ToolResult};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::time;

#[cfg(feature = "schema")]
use super::schema::{Check, Field, schema_of};
use super::{ToolContext, ToolHandler, arguments::Arguments, type_schema::schema_of_type};
use crate::{Error, callback::panic_text};

/// A tool that this program lends to its agent.
///
/// ```
/// use bowline_host::Tool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     /// The numbers to add.
///     numbers: Vec<f64>,
/// }
///
/// let add = Tool::new("add", "Adds numbers", async |sum: Sum| {
///     sum.numbers.iter().sum::<f64>().to_string()
/// });
/// assert_eq!(add.name(), "add");
/// ```
#[derive(Clone)]
pub struct Tool {
    listing: ToolListing,
    work: Arc<dyn Work>,
    time_limit: Option<Duration>,
    pub(super) policy: Option<McpPermissionPolicy>,
    /// Checks arguments against a schema that was written by hand, if the schema itself is right.
    #[cfg(feature = "schema")]
    check: Option<Arc<Result<Check, String>>>,
}

impl Tool {
    /// A tool whose arguments are of a type of yours, whose JSON schema the model receives.
    ///
    /// Arguments that do not fit, errors and panics become results that the model can read.
    pub fn new<Shape, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: ToolHandler<Shape>,
        H::Arguments: JsonSchema,
        Shape: Send + Sync + 'static,
    {
        let schema = schema_of_type::<H::Arguments>();
        Self::listed_as(name.into(), description.into(), schema, handler)
    }

    /// A tool whose arguments are of simple types, all required. The handler gets them as any
    /// type that can be read from them, as a JSON value for example.
    ///
    /// ```
    /// use bowline_host::{Field, Tool};
    /// use serde_json::Value;
    ///
    /// let fields = [("a", Field::Number), ("b", Field::Number)];
    /// let add = Tool::with_fields("add", "Adds two numbers", fields, async |it: Value| {
    ///     let number = |name: &str| it[name].as_f64().unwrap_or_default();
    ///     (number("a") + number("b")).to_string()
    /// });
    /// ```
    #[cfg(feature = "schema")]
    pub fn with_fields<Name, Shape, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        fields: impl IntoIterator<Item = (Name, Field)>,
        handler: H,
    ) -> Self
    where
        Name: Into<String>,
        H: ToolHandler<Shape>,
        Shape: Send + Sync + 'static,
    {
        Self::with_schema(name, description, schema_of(fields), handler)
    }

    /// A tool whose JSON schema you write yourself. Arguments that do not satisfy it become a
    /// result that explains why; an invalid schema is an error when the agent is started.
    #[cfg(feature = "schema")]
    pub fn with_schema<Shape, H>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
        handler: H,
    ) -> Self
    where
        H: ToolHandler<Shape>,
        Shape: Send + Sync + 'static,
    {
        let check = Check::against(&input_schema);
        let tool = Self::listed_as(name.into(), description.into(), input_schema, handler);
        Self { check: Some(Arc::new(check)), ..tool }
    }

    fn listed_as<Shape, H>(
        name: String,
        description: String,
        input_schema: Value,
        handler: H,
    ) -> Self
    where
        H: ToolHandler<Shape>,
        Shape: Send + Sync + 'static,
    {
        let input_schema = match input_schema {
            Value::Object(schema) => schema,
            // `problem` reports it, because it has no type.
            _ => Default::default(),
        };
        let description = Some(description);
        let listing = ToolListing { name, description, input_schema, ..ToolListing::default() };
        Self {
            listing,
            work: Arc::new(Handled { handler, shape: PhantomData }),
            time_limit: None,
            policy: None,
            #[cfg(feature = "schema")]
            check: None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.listing.name
    }

    /// The tool as the model and hosts are shown it.
    pub(crate) fn listing(&self) -> &ToolListing {
        &self.listing
    }

    /// Declares that it changes nothing, so that calls may run concurrently.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.listing.annotations.read_only_hint = Some(true);
        self
    }

    /// Declares the effects of its calls.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.listing.annotations = annotations;
        self
    }

    /// Adds something that only some agents understand, as in `anthropic/alwaysLoad`.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.listing.meta.insert(key.into(), value.into());
        self
    }

    /// Has the model always see it, also where tools are otherwise searched for
    /// (`anthropic/alwaysLoad`).
    #[must_use]
    pub fn always_load(self) -> Self {
        self.meta("anthropic/alwaysLoad", true)
    }

    /// Words by which the model finds it, where tools are searched for (`anthropic/searchHint`).
    #[must_use]
    pub fn search_hint(self, words: impl Into<String>) -> Self {
        self.meta("anthropic/searchHint", words.into())
    }

    /// How long its results may be before the agent puts them into a file
    /// (`anthropic/maxResultSizeChars`).
    #[must_use]
    pub fn max_result_chars(self, characters: u64) -> Self {
        self.meta("anthropic/maxResultSizeChars", characters)
    }

    /// Aborts a call that takes longer; the model receives an error result.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Has the user prompted before each call, even where a rule or the permission mode allows it:
    /// `always_ask` in `sdkMcpServerConfigs` of `initialize`.
    #[must_use]
    pub fn always_ask(mut self) -> Self {
        self.policy = Some(McpPermissionPolicy::AlwaysAsk);
        self
    }

    /// Has every call refused, though the model sees the tool: `always_deny` in
    /// `sdkMcpServerConfigs` of `initialize`.
    #[must_use]
    pub fn always_deny(mut self) -> Self {
        self.policy = Some(McpPermissionPolicy::AlwaysDeny);
        self
    }

    /// Why the definition is invalid, if it is.
    pub(super) fn problem(&self) -> Option<String> {
        if self.listing.input_schema.get("type") != Some(&Value::from("object")) {
            return Some(format!("`{}`: input schema must have type `object`", self.name()));
        }
        #[cfg(feature = "schema")]
        if let Some(Err(error)) = self.check.as_deref() {
            return Some(format!("`{}`: invalid JSON Schema: {error}", self.name()));
        }
        None
    }

    /// Checks the arguments against a schema that was written by hand.
    fn violations(&self, arguments: &Arguments) -> Option<String> {
        #[cfg(feature = "schema")]
        if let Some(Ok(check)) = self.check.as_deref() {
            return check.violations(&arguments.value());
        }
        #[cfg(not(feature = "schema"))]
        let _ = arguments;
        None
    }

    /// Calls it as an agent would, without an agent: for tests of tools. What the model would read as a
    /// failure is an [`Error::Tool`].
    ///
    /// ```
    /// use bowline_host::{Tool, ToolContent};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Pair {
    ///     a: i64,
    ///     b: i64,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let divide = Tool::new("divide", "Divides", async |it: Pair| {
    ///     it.a.checked_div(it.b).map(|c| c.to_string()).ok_or("division by zero")
    /// });
    /// let result = divide.call(&serde_json::json!({"a": 6, "b": 2})).await?;
    /// assert_eq!(result.content, [ToolContent::Text { text: "3".to_owned() }]);
    /// let error = divide.call(&serde_json::json!({"a": 6, "b": 0})).await.unwrap_err();
    /// assert_eq!(error.code(), "tool_execution");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call(&self, arguments: &impl Serialize) -> Result<ToolResult, Error> {
        let failed = |message| Error::Tool { tool: self.name().to_owned(), message };
        let arguments =
            serde_json::to_value(arguments).map_err(|error| failed(error.to_string()))?;
        let result = self.respond(Arguments::Value(arguments), ToolContext::detached()).await;
        match result.is_error {
            true => Err(failed(result.to_text())),
            false => Ok(result),
        }
    }

    /// Performs a call. Invalid arguments, panics and timeouts become results as well.
    pub(super) async fn respond(&self, arguments: Arguments, context: ToolContext) -> ToolResult {
        if let Some(violations) = self.violations(&arguments) {
            return ToolResult::error(format!("Input validation error: {violations}"));
        }
        let cancel = context.cancel.clone();
        // The handler itself may panic before it returns a future.
        let work =
            AssertUnwindSafe(async { self.work.run(arguments, context).await }).catch_unwind();
        tokio::select! {
            result = work => result.unwrap_or_else(|panic| {
                let text = panic_text(&*panic);
                ToolResult::error(format!("the tool {} panicked: {text}", self.name()))
            }),
            () = cancel.cancelled() => ToolResult::error("the call was cancelled"),
            limit = self.deadline() => {
                ToolResult::error(format!("the tool {} took longer than {limit:?}", self.name()))
            }
        }
    }

    /// Completes when a call has reached the time limit, and returns the limit.
    async fn deadline(&self) -> Duration {
        match self.time_limit {
            Some(limit) => {
                time::sleep(limit).await;
                limit
            }
            None => std::future::pending().await,
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.listing.name).finish()
    }
}

/// A handler whose type is forgotten.
trait Work: Send + Sync {
    fn run(&self, arguments: Arguments, context: ToolContext) -> BoxFuture<'_, ToolResult>;
}

struct Handled<Shape, H> {
    handler: H,
    shape: PhantomData<Shape>,
}

impl<Shape: Send + Sync, H: ToolHandler<Shape>> Work for Handled<Shape, H> {
    fn run(&self, arguments: Arguments, context: ToolContext) -> BoxFuture<'_, ToolResult> {
        match arguments.read() {
            Ok(arguments) => self.handler.call(arguments, context),
            Err(error) => {
                let result = ToolResult::error(format!("Input validation error: {error}"));
                Box::pin(std::future::ready(result))
            }
        }
    }
}
