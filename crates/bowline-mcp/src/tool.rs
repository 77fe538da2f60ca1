//! A tool of a server.

use std::sync::{Arc, Weak};

use bowline_protocol::RawJson;
use bowline_tools::{
    Access, FailureStage, Tool, ToolCall, ToolDisplayName, ToolFailure, ToolOutput, ToolSpec,
    Workspace,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::{
    call::McpToolCall,
    catalog::ListedTool,
    connection::RequestError,
    name::{spoken, tool_name},
    result,
    server::Core,
    told::bounded,
};

/// About how many characters a token has.
const CHARS_PER_TOKEN: usize = 4;

/// What is said of a call whose connection ended before the answer came.
const INTERRUPTED: &str = "The tool call was interrupted before a result was received. \
    It may or may not have completed on the server — verify before assuming it succeeded, and \
    retry if needed.";

/// Under which key of its `_meta` a tool says how large its results may be.
const MAX_RESULT_CHARS: &str = "anthropic/maxResultSizeChars";

/// A tool of a server.
pub(crate) struct McpTool {
    spec: ToolSpec,
    listed: ListedTool,
    /// The server holds its tools, not the other way round.
    server: Weak<Core>,
}

impl McpTool {
    /// The tools of a server's list. Of two with one name the first counts.
    pub(crate) fn all(server: &Arc<Core>, listed: &[ListedTool]) -> Vec<Arc<Self>> {
        let mut tools: Vec<Arc<Self>> = Vec::with_capacity(listed.len());
        for listed in listed {
            let tool = Self::new(server, listed.clone());
            match tools.iter().any(|known| known.spec.name == tool.spec.name) {
                true => tracing::warn!(tool = %tool.spec.name, "two tools have one name"),
                false => tools.push(Arc::new(tool)),
            }
        }
        tools
    }

    fn new(server: &Arc<Core>, listed: ListedTool) -> Self {
        let mut schema = listed.input_schema.clone();
        schema.entry("type").or_insert(json!("object"));
        let mut spec = ToolSpec::new(
            tool_name(&server.name, &listed.name),
            listed.description.as_deref().map(bounded).unwrap_or_default(),
            RawJson::from(Value::Object(schema)),
        )
        .unchecked();
        spec.hints.read_only = listed.annotations.read_only_hint.unwrap_or(false);
        spec.hints.destructive = listed.annotations.destructive_hint.unwrap_or(false);
        spec.hints.idempotent = listed.annotations.idempotent_hint.unwrap_or(false);
        spec.hints.open_world = listed.annotations.open_world_hint.unwrap_or(false);
        let own_limit = listed.meta.get(MAX_RESULT_CHARS).and_then(Value::as_u64);
        let own_limit = own_limit.and_then(|chars| usize::try_from(chars).ok());
        let limit = server.shared.options.max_output_tokens.saturating_mul(CHARS_PER_TOKEN);
        spec.max_result_chars = own_limit.unwrap_or(limit);
        Self { spec, listed, server: Arc::downgrade(server) }
    }

    /// Its name on the server.
    pub(crate) fn own_name(&self) -> &str {
        &self.listed.name
    }

    /// What a person calls it and its server.
    pub(crate) fn display_name(&self) -> Option<ToolDisplayName> {
        let listed = &self.listed;
        let title = listed.title.as_ref().or(listed.annotations.title.as_ref());
        let server = self.server.upgrade()?;
        let live = server.live();
        let info = live.as_ref().and_then(|live| live.hello.server_info.as_ref());
        let server_title = info.map(|info| {
            let title = info.extra.get("title").and_then(Value::as_str);
            title.unwrap_or(&info.name).to_owned()
        });
        Some(ToolDisplayName {
            tool: title.cloned().unwrap_or_else(|| spoken(&listed.name)),
            tool_name: listed.name.clone(),
            server: server_title.unwrap_or_else(|| server.name.clone()),
        })
    }

    async fn call(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let arguments = match call.input {
            Value::Object(arguments) => arguments,
            _ => serde_json::Map::new(),
        };
        let live = self.server.upgrade().and_then(|server| Some((server.live()?, server)));
        let Some((live, server)) = live else {
            let name = &self.spec.name;
            return Err(ToolFailure::running(format!("The MCP server of {name} is not connected")));
        };
        let name = self.listed.name.clone();
        let asked = McpToolCall { name, arguments, tool_use_id: Some(call.id) };
        match live.connection.call(asked, server.call_timeout()).await {
            Ok(answer) => {
                let results_dir = call.workspace.results_dir();
                result::output(answer, &server.name, results_dir, self.spec.max_result_chars).await
            }
            Err(RequestError::Unauthorized(wanted)) => {
                server.note_scopes(&wanted);
                let name = &server.name;
                let error = RequestError::Unauthorized(wanted);
                Err(ToolFailure::running(format!("{error}: `bowline mcp login {name}`")))
            }
            Err(error) => Err(failure(&error, &server.name, &self.listed.name)),
        }
    }
}

/// What the model is told of a call without an answer.
fn failure(error: &RequestError, server: &str, tool: &str) -> ToolFailure {
    match error {
        RequestError::Closed => {
            let mut failure = ToolFailure::running(INTERRUPTED);
            failure.stage = FailureStage::Interrupted;
            failure
        }
        RequestError::Timeout(limit) => ToolFailure::running(format!(
            "MCP server \"{server}\" tool \"{tool}\" timed out after {}s",
            limit.as_secs_f64()
        )),
        _ => ToolFailure::running(error.to_string()),
    }
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Other
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(self.call(call))
    }
}
