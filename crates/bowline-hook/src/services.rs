//! Services that hooks need: callbacks of the host, HTTP, models, MCP servers, permission rules.

use bowline_protocol::{
    AgentHook, CallbackId, HookInput, HttpHook, McpToolHook, PermissionRule, PromptHook, RawJson,
    ToolUseId,
};

pub use futures_util::future::BoxFuture;

/// Why a hook gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookCallError {
    /// The host has disconnected.
    #[error("the host has closed its end")]
    Closed,
    /// The reply was an error.
    #[error("{0}")]
    Refused(String),
    /// This kind of hook cannot run here.
    #[error("hooks of type `{0}` are not supported here")]
    Unsupported(&'static str),
}

/// The host's callbacks.
pub trait HookCallbacks: Send + Sync {
    /// Calls one and returns its reply. Dropping the future cancels the request.
    fn call(
        &self,
        callback_id: &CallbackId,
        input: &HookInput,
        tool_use_id: ToolUseId,
    ) -> BoxFuture<'_, Result<RawJson, HookCallError>>;
}

/// The kinds of hooks that need more than a process. Each answers with text, as a program would
/// print it, and dropping its future ends whatever it began.
pub trait HookServices: Send + Sync {
    /// Posts the input and returns the body.
    fn http(&self, hook: &HttpHook, json: RawJson) -> BoxFuture<'_, Result<String, HookCallError>> {
        let _ = (hook, json);
        unsupported("http")
    }

    /// Asks a model. `json` is the input as it is sent.
    fn prompt(
        &self,
        hook: &PromptHook,
        input: &HookInput,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let _ = (hook, input, json);
        unsupported("prompt")
    }

    /// Gives a subagent a task.
    fn agent(
        &self,
        hook: &AgentHook,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let _ = (hook, json);
        unsupported("agent")
    }

    /// Calls a tool of an MCP server.
    fn mcp_tool(
        &self,
        hook: &McpToolHook,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let _ = (hook, json);
        unsupported("mcp_tool")
    }

    /// Whether a tool call fits a hook's `if`.
    ///
    /// Without knowledge of what the specifier of a rule means, every call of its tool
    /// does: a hook that runs too often is better than a guard that does not run.
    fn fits_rule(&self, rule: &PermissionRule, tool_name: &str, tool_input: &RawJson) -> bool {
        let _ = tool_input;
        rule.tool_name == tool_name
    }
}

fn unsupported(kind: &'static str) -> BoxFuture<'static, Result<String, HookCallError>> {
    Box::pin(std::future::ready(Err(HookCallError::Unsupported(kind))))
}

/// No callbacks and no services.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServices;

impl HookServices for NoServices {}

impl HookCallbacks for NoServices {
    fn call(
        &self,
        _: &CallbackId,
        _: &HookInput,
        _: ToolUseId,
    ) -> BoxFuture<'_, Result<RawJson, HookCallError>> {
        Box::pin(std::future::ready(Err(HookCallError::Closed)))
    }
}
