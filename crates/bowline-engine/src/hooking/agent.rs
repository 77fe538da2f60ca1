//! Agent hooks: an agent checks a condition with read-only tools.
//!
//! Its tools need no permission request, and the host does not see its
//! calls. They run no hooks, or a hook on tool calls would call itself. Because guards are
//! bypassed, it must not change anything, whatever the rules allow.

use std::sync::Arc;

use bowline_model::ModelMessage;
use bowline_protocol::{AgentHook, Content, ContentBlock, RawJson, ToolResultBlock, ToolUseBlock};
use bowline_tools::{Registry, ToolCall, ToolFailure, ToolOutput, Workspace, schema_of};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::judge::{Judgment, asked};
use crate::{
    hook::HookCallError,
    hooking::SessionServices,
    identity::Identity,
    permission::{ProposedCall, Verdict},
    side::{self, SideRequest},
    structured_output,
    toolset::{Toolset, definition},
};

/// The maximum number of model requests; more do not fit into the timeout of hooks.
const MAX_ROUNDS: u32 = 30;
/// The output limit of one response, in tokens.
const MAX_ANSWER: u64 = 8_192;
/// Its tools, unless a rule forbids one.
const TOOLS: &[&str] = &["Bash", "Glob", "Grep", "Read"];

const INSTRUCTIONS: &str = "You check a condition for an agent at work. Find out with your tools \
    whether it holds; you can look at everything and change nothing. Then call StructuredOutput \
    with ok true, or with ok false and one sentence as the reason.";

/// Runs an agent; returns the output of a hook.
///
/// Cancel safety: dropping the future ends what the agent does.
pub(super) async fn investigate(
    services: &SessionServices,
    hook: &AgentHook,
    input: &RawJson,
) -> Result<String, HookCallError> {
    let refused = |text: &str| HookCallError::Refused(text.to_owned());
    let tools = tools(&*services.main_tools()?);
    let mut request = SideRequest::new(INSTRUCTIONS, asked(&hook.prompt, input), MAX_ANSWER);
    request.model = hook.model.clone();
    request.tools = tools.iter().map(definition).collect();
    // A fork of the workspace: a `cd` of a hook must not change the session's directory.
    let workspace = services.workspace.fork();
    for _ in 0..MAX_ROUNDS {
        let answer = services.side.request(request.clone()).await;
        let answer = answer.map_err(|error| refused(&error.to_string()))?;
        let mut results = Vec::new();
        for block in &answer.content {
            let ContentBlock::ToolUse(call) = block else { continue };
            match run(services, &tools, &workspace, call).await {
                Ok(Outcome::Judged(judgment)) => return Ok(told(&judgment)),
                Ok(Outcome::Found(output)) => results.push(result(call, output.content, None)),
                Err(failure) => {
                    results.push(result(call, Content::Text(failure.content), Some(true)));
                }
            }
        }
        if results.is_empty() {
            let judgment = Judgment::read(&side::text_of(&answer));
            return judgment
                .map(|it| told(&it))
                .ok_or_else(|| refused("the agent gave no verdict"));
        }
        request.messages.push(Arc::new(ModelMessage::assistant(answer.content)));
        request.messages.push(Arc::new(ModelMessage::user(results)));
    }
    Err(refused("the agent came to no verdict"))
}

/// The outcome of one call.
enum Outcome {
    Judged(Judgment),
    Found(ToolOutput),
}

async fn run(
    services: &SessionServices,
    tools: &Registry,
    workspace: &Arc<Workspace>,
    call: &ToolUseBlock,
) -> Result<Outcome, ToolFailure> {
    let tool = Arc::clone(tools.find(&call.name)?);
    let input = tools.check_schema(&call.name, call.input.to_value())?;
    if tool.spec().name == structured_output::NAME {
        let judgment = serde_json::from_value(input);
        let judgment = judgment.map_err(|error| ToolFailure::input(error.to_string()))?;
        return Ok(Outcome::Judged(judgment));
    }
    tool.check(&input, workspace).await?;
    let access = tool.access(&input, workspace);
    let proposed = ProposedCall {
        tool: &call.name,
        input: &input,
        access: &access,
        current_directory: &workspace.current_dir(),
        hook: None,
        needs_person: false,
    };
    if input["run_in_background"] == true || !services.permissions.policy().is_read_only(&proposed)
    {
        return Err(ToolFailure::running(
            "You can look at everything, but change nothing and leave nothing running.",
        ));
    }
    let Verdict::Allow(reason) = services.permissions.judge(&proposed, None, &Identity::Main)
    else {
        return Err(ToolFailure::running(
            "This is not allowed without a permission request, which a hook cannot make.",
        ));
    };
    let (id, workspace) = (call.id.clone(), Arc::clone(workspace));
    let (cancel, confinement) = (CancellationToken::new(), reason.confinement);
    let call = ToolCall { id, input, workspace, cancel, confinement };
    bowline_tools::run(&*tool, call).await.map(Outcome::Found)
}

fn tools(all: &Toolset) -> Registry {
    let mut registry = all.own().clone();
    registry.choose(TOOLS);
    registry.insert(structured_output::tool(&schema_of::<Judgment>().to_value()));
    registry
}

fn result(call: &ToolUseBlock, content: Content, is_error: Option<bool>) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: call.id.clone(),
        content: Some(content),
        is_error,
        ..ToolResultBlock::default()
    })
}

fn told(judgment: &Judgment) -> String {
    if judgment.ok {
        return String::new();
    }
    let reason = format!("Agent hook condition was not met: {}", judgment.reason());
    let output: Value = json!({"decision": "block", "reason": reason});
    output.to_string()
}
