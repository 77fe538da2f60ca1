//! Services for hooks that are not programs: HTTP, models, agents, MCP tools, permission rules.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use bowline_mcp::McpServers;
use bowline_protocol::{
    AgentHook, HookInput, HttpHook, McpToolHook, PermissionRule, PromptHook, RawJson,
};
use bowline_tools::Workspace;
use serde_json::Value;

use super::{agent, judge, template};
use crate::{
    hook::{BoxFuture, HookCallError, HookServices},
    instructions::ContextState,
    permission::ProposedCall,
    side::SideModel,
    state::{MainTools, Permissions},
    toolset::Toolset,
};

/// The services of a session for its hooks.
///
/// The weak references break cycles: servers report to hooks, and tools come from servers.
pub(crate) struct SessionServices {
    pub(crate) side: Arc<SideModel>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) mcp: Weak<McpServers>,
    pub(crate) main_tools: Weak<MainTools>,
    pub(crate) context: Weak<ContextState>,
}

impl SessionServices {
    pub(super) fn main_tools(&self) -> Result<Arc<Toolset>, HookCallError> {
        self.main_tools.upgrade().map(|tools| tools.get()).ok_or(HookCallError::Closed)
    }
}

impl HookServices for SessionServices {
    fn http(&self, hook: &HttpHook, json: RawJson) -> BoxFuture<'_, Result<String, HookCallError>> {
        let hook = hook.clone();
        Box::pin(async move {
            let headers = headers(&hook, &self.workspace);
            let answer = bowline_tools::post_json(&hook.url, &headers, json.get().to_owned());
            let answer = answer.await.map_err(HookCallError::Refused)?;
            match answer.is_success() {
                true => Ok(answer.body),
                false => Err(HookCallError::Refused(format!("HTTP {}", answer.status))),
            }
        })
    }

    fn prompt(
        &self,
        hook: &PromptHook,
        input: &HookInput,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let (hook, event) = (hook.clone(), input.event_name());
        Box::pin(async move { judge::judge(self, &hook, &event, &json).await })
    }

    fn agent(
        &self,
        hook: &AgentHook,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let hook = hook.clone();
        Box::pin(async move { agent::investigate(self, &hook, &json).await })
    }

    fn mcp_tool(
        &self,
        hook: &McpToolHook,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let hook = hook.clone();
        Box::pin(async move {
            let mcp = self.mcp.upgrade().ok_or(HookCallError::Closed)?;
            let tool = bowline_mcp::tool_name(&hook.server, &hook.tool);
            let arguments = hook
                .input
                .map(|input| RawJson::from(template::filled(input.to_value(), &json.to_value())));
            let result = mcp.call(&tool, arguments.as_ref(), None).await;
            let result = result.map_err(|error| HookCallError::Refused(error.to_string()))?;
            Ok(text_of(&result.to_value()))
        })
    }

    fn fits_rule(&self, rule: &PermissionRule, tool_name: &str, tool_input: &RawJson) -> bool {
        let tool = self.main_tools().ok().and_then(|tools| tools.find(tool_name).ok());
        let Some(tool) = tool else { return rule.tool_name == tool_name };
        let input = tool_input.to_value();
        let access = tool.access(&input, &self.workspace);
        let current_directory = self.workspace.current_dir();
        let call = ProposedCall {
            tool: tool_name,
            input: &input,
            access: &access,
            current_directory: &current_directory,
            hook: None,
            needs_person: false,
        };
        self.permissions.policy().rule_matches(rule, &call)
    }
}

/// The headers of a request. Only variables that the hook names may leave this machine.
fn headers(hook: &HttpHook, workspace: &Workspace) -> BTreeMap<String, String> {
    let allowed = hook.allowed_env_vars.as_deref().unwrap_or_default();
    let variable = |name: &str| {
        let is_allowed = allowed.iter().any(|allowed| allowed == name);
        is_allowed.then(|| workspace.variable(name)).flatten()
    };
    let headers = hook.headers.iter().flatten();
    headers.map(|(name, text)| (name.clone(), template::expanded(text, variable))).collect()
}

/// The text of a tool's result.
fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
