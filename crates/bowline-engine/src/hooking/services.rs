//! What hooks that are no programs need of the session: web servers, models, MCP servers, rules.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, Weak},
};

use bowline_protocol::{
    AgentHook, HookInput, HttpHook, McpToolHook, PermissionRule, PromptHook, RawJson,
};
use serde_json::Value;

use super::{agent, judge, template};
use crate::{
    hook::{BoxFuture, HookCallError, HookServices},
    permission::ProposedCall,
    session::Shared,
};

/// The services of one session.
#[derive(Default)]
pub(crate) struct SessionServices {
    session: OnceLock<Weak<Shared>>,
}

impl SessionServices {
    /// From now on, hooks can use the session.
    pub(crate) fn belongs_to(&self, session: &Arc<Shared>) {
        // Called once, when the session is set up.
        self.session.set(Arc::downgrade(session)).ok();
    }

    fn session(&self) -> Result<Arc<Shared>, HookCallError> {
        self.session.get().and_then(Weak::upgrade).ok_or(HookCallError::Closed)
    }
}

impl HookServices for SessionServices {
    fn http(&self, hook: &HttpHook, json: RawJson) -> BoxFuture<'_, Result<String, HookCallError>> {
        let hook = hook.clone();
        Box::pin(async move {
            let headers = headers(&hook, &*self.session()?);
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
        Box::pin(async move { judge::judge(&*self.session()?, &hook, &event, &json).await })
    }

    fn agent(
        &self,
        hook: &AgentHook,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let hook = hook.clone();
        Box::pin(async move { agent::investigate(&self.session()?, &hook, &json).await })
    }

    fn mcp_tool(
        &self,
        hook: &McpToolHook,
        json: RawJson,
    ) -> BoxFuture<'_, Result<String, HookCallError>> {
        let hook = hook.clone();
        Box::pin(async move {
            let session = self.session()?;
            let tool = bowline_mcp::tool_name(&hook.server, &hook.tool);
            let arguments = hook
                .input
                .map(|input| RawJson::from(template::filled(input.to_value(), &json.to_value())));
            let result = session.mcp.call(&tool, arguments.as_ref(), None).await;
            let result = result.map_err(|error| HookCallError::Refused(error.to_string()))?;
            Ok(text_of(&result.to_value()))
        })
    }

    fn fits_rule(&self, rule: &PermissionRule, tool_name: &str, tool_input: &RawJson) -> bool {
        let Ok(session) = self.session() else { return rule.tool_name == tool_name };
        let Ok(tool) = session.main_tools().find(tool_name) else {
            return rule.tool_name == tool_name;
        };
        let input = tool_input.to_value();
        let access = tool.access(&input, &session.workspace);
        let current_directory = session.workspace.current_dir();
        let call = ProposedCall {
            tool: tool_name,
            input: &input,
            access: &access,
            current_directory: &current_directory,
            hook: None,
            needs_person: false,
        };
        session.policy().fits(rule, &call)
    }
}

/// The headers of a request. Only variables that the hook names may leave this machine.
fn headers(hook: &HttpHook, session: &Shared) -> BTreeMap<String, String> {
    let allowed = hook.allowed_env_vars.as_deref().unwrap_or_default();
    let variable = |name: &str| {
        let is_allowed = allowed.iter().any(|allowed| allowed == name);
        is_allowed.then(|| session.workspace.variable(name)).flatten()
    };
    let headers = hook.headers.iter().flatten();
    headers.map(|(name, text)| (name.clone(), template::expanded(text, variable))).collect()
}

/// The words in a tool's result.
fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
