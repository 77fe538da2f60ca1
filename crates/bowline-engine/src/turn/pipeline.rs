//! Pipeline of one tool call: schema check, hooks, permission, run, hooks.

use std::{pin::pin, sync::Arc};

use bowline_model::UNPARSED_INPUT;
use bowline_protocol::{
    Content, EventInput, HookEvent, HookPermissionDecision, McpServerRef, Message,
    NonExecutionKind, PermissionDecision, PostToolUseFailureInput, PostToolUseInput,
    PreToolUseInput, RawJson, ToolResultMeta, ToolUseBlock,
};
use bowline_sandbox::Confinement;
use bowline_tools::{FailureStage, Tool, ToolCall, ToolFailure, ToolOutput, Workspace};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    call_slot::CallSlot, listed_task, machine::AfterCall, outcome::CallOutcome, permit, structured,
};
use crate::{
    agent::Agent,
    clock::millis,
    config::PermissionPrompts,
    hook::{BlockKind, HookReport},
    identity::Identity,
    permission::HookOpinion,
    session_context::SessionContext,
    toolset::Toolset,
};

/// The context that the calls of one agent share.
pub(crate) struct CallContext {
    pub(crate) session: Arc<SessionContext>,
    pub(crate) identity: Identity,
    pub(crate) tools: Arc<Toolset>,
    pub(crate) workspace: Arc<Workspace>,
    /// The destination of permission requests.
    pub(crate) prompts: PermissionPrompts,
    /// The slot of a direct call; in a turn, the schedule orders calls instead.
    pub(crate) slot: Option<CallSlot>,
}

impl CallContext {
    pub(crate) fn of(agent: &Agent) -> Self {
        Self {
            session: Arc::clone(&agent.session),
            identity: agent.identity.clone(),
            tools: Arc::clone(&agent.tools),
            workspace: Arc::clone(&agent.workspace),
            prompts: agent.session.config.permission_prompts.clone(),
            slot: None,
        }
    }
}

/// A call that is being checked.
pub(crate) struct Proposed {
    pub(crate) call: Arc<ToolUseBlock>,
    pub(crate) tool: Arc<dyn Tool>,
    /// The input, as hooks and the host have changed it.
    pub(crate) input: Value,
    pub(crate) server: Option<McpServerRef>,
    pub(crate) opinion: Option<HookOpinion>,
    /// The sandbox for a call that is allowed only because it reads and does not write.
    pub(crate) confinement: Option<Confinement>,
}

impl Proposed {
    /// The input as hooks and the host see it: file paths are absolute.
    pub(crate) fn shown(&self, workspace: &Workspace) -> Value {
        let mut input = self.input.clone();
        if !matches!(&*self.call.name, "Read" | "Write" | "Edit" | "NotebookEdit") {
            return input;
        }
        for field in ["file_path", "notebook_path"] {
            if let Some(Value::String(path)) = input.get_mut(field).filter(|path| **path != "") {
                *path = workspace.resolve(path).display().to_string();
            }
        }
        input
    }

    /// Replaces the input with one from hooks or the host, unless it is the one that they were shown.
    pub(crate) fn change(&mut self, input: Value, workspace: &Workspace) {
        if input != self.shown(workspace) {
            self.input = input;
        }
    }
}

/// Runs one call with its parsed `input`, the tool itself only after `before` fires. Every path
/// returns an outcome.
pub(crate) async fn run(
    context: Arc<CallContext>,
    call: Arc<ToolUseBlock>,
    input: Value,
    before: Option<CancellationToken>,
    cancel: CancellationToken,
) -> Box<CallOutcome> {
    tracing::debug!(tool = call.name, id = call.id.0, "a call begins");
    let admitted = {
        let admitting = pin!(async {
            let admitted = admit(&context, call.clone(), input, &cancel).await;
            if let Some(before) = before {
                before.cancelled().await;
            }
            admitted
        });
        tokio::select! {
            biased;
            admitted = admitting => admitted,
            // Before the tool runs nothing needs to be cleaned up: dropped requests cancel themselves.
            () = cancel.cancelled() => return Box::new(CallOutcome::interrupted(call.clone())),
        }
    };
    match admitted {
        Ok(admitted) => Box::new(perform(&context, admitted, &cancel).await),
        Err(mut outcome) => {
            structured::note_rejection(&mut outcome);
            outcome
        }
    }
}

/// A call that may run.
struct Admitted {
    proposed: Proposed,
    decision: Option<PermissionDecision>,
    /// Texts of hooks for the model.
    context: Vec<String>,
    /// Whether a hook ends the turn after this call.
    stop: bool,
}

/// Checks a call: schema, `PreToolUse` hooks, permission.
async fn admit(
    context: &CallContext,
    call: Arc<ToolUseBlock>,
    input: Value,
    cancel: &CancellationToken,
) -> Result<Admitted, Box<CallOutcome>> {
    let failed = |failure| Box::new(CallOutcome::failure(call.clone(), failure));
    let (tool, input) = check(context, &call, input).await.map_err(failed)?;
    let server = context.tools.server_of(&call.name);
    let mut proposed = Proposed { call, tool, input, server, opinion: None, confinement: None };
    let report = pre_hooks(context, &proposed, cancel).await;
    if cancel.is_cancelled() {
        return Err(Box::new(CallOutcome::interrupted(proposed.call)));
    }
    if let Some(refusal) = report.tool_refusal() {
        return Err(Box::new(refused(&proposed, &report, &refusal)));
    }
    if let Some(updated) = &report.updated_input {
        proposed.change(updated.to_value(), &context.workspace);
        check_rewritten(context, &mut proposed)?;
    }
    if let Some(verdict) = &report.verdict {
        if verdict.decision == HookPermissionDecision::Defer {
            return Err(Box::new(CallOutcome::deferred(proposed.call)));
        }
        proposed.opinion = Some(HookOpinion {
            decision: verdict.decision.clone(),
            reason: verdict.reason.clone(),
            source: "settings".to_owned(),
        });
    }
    let decision = permit::permit(context, &mut proposed, cancel).await?;
    let context = report.model_texts().collect();
    Ok(Admitted { proposed, decision, context, stop: report.stop.is_some() })
}

/// Checks that the tool exists and that the input is valid for it.
async fn check(
    context: &CallContext,
    call: &ToolUseBlock,
    input: Value,
) -> Result<(Arc<dyn Tool>, Value), ToolFailure> {
    let tool = context.tools.find(&call.name)?;
    if let Some(unparsed) = input.get(UNPARSED_INPUT) {
        let raw = unparsed.get("raw").and_then(Value::as_str).unwrap_or_default();
        return Err(ToolFailure::not_json(&call.name, raw));
    }
    let input = context.tools.check(&call.name, input)?;
    tool.check(&input, &context.workspace).await?;
    Ok((tool, context.session.permissions.with_plan(&call.name, input)))
}

async fn pre_hooks(
    context: &CallContext,
    proposed: &Proposed,
    cancel: &CancellationToken,
) -> HookReport {
    if !context.session.hooks.has(HookEvent::PreToolUse) {
        return HookReport::default();
    }
    let event = EventInput::PreToolUse(PreToolUseInput {
        tool_name: proposed.call.name.clone(),
        tool_input: RawJson::from(proposed.shown(&context.workspace)),
        tool_use_id: proposed.call.id.clone(),
        mcp_server: proposed.server.clone(),
        ..PreToolUseInput::default()
    });
    context.session.hooks.run(&context.identity, event, cancel).await
}

/// Checks an input that a hook has changed. The error names the hook, because the model cannot fix it.
fn check_rewritten(context: &CallContext, proposed: &mut Proposed) -> Result<(), Box<CallOutcome>> {
    match context.tools.check(&proposed.call.name, proposed.input.clone()) {
        Ok(input) => proposed.input = input,
        Err(failure) => {
            let text = format!(
                "PreToolUse hook for {} returned updatedInput that failed schema validation: {}\nThe \
                 model's own input was valid; what the hook made of it is not.",
                proposed.call.name,
                failure.complaint()
            );
            let mut outcome = CallOutcome::denied(proposed.call.clone(), &text);
            let (source, kind) = permit::by_hook();
            outcome.rejected(NonExecutionKind::PermissionRule, source, kind);
            return Err(Box::new(outcome));
        }
    }
    Ok(())
}

/// The outcome of a call that a hook blocked.
fn refused(proposed: &Proposed, report: &HookReport, refusal: &str) -> CallOutcome {
    let mut outcome = CallOutcome::denied(proposed.call.clone(), refusal);
    let objected = report.blocks.first().is_some_and(|block| block.kind == BlockKind::Objection);
    if objected {
        let (source, kind) = permit::by_hook();
        outcome.rejected(NonExecutionKind::PermissionRule, source, kind);
    } else {
        // The hook failed rather than decided: this is an error, not a denial.
        outcome.denial = None;
        outcome.meta = None;
    }
    if report.blocks.first().is_some_and(|block| block.kind == BlockKind::HostGone) {
        outcome.structured = Some(Value::String(refusal.to_owned()));
        outcome.meta = Some(ToolResultMeta {
            id: outcome.call.id.clone(),
            non_execution_kind: Some("cancelled".into()),
            ..ToolResultMeta::default()
        });
    }
    outcome.context = report.model_texts().collect();
    if report.stop.is_some() {
        outcome.then = AfterCall::HookStopped;
    }
    outcome
}

/// Runs a call that may run.
async fn perform(
    context: &CallContext,
    admitted: Admitted,
    cancel: &CancellationToken,
) -> CallOutcome {
    let Admitted { proposed, decision, context: mut texts, stop } = admitted;
    if let Some(refusal) = listed_task::completion_refused(context, &proposed, cancel).await {
        return CallOutcome::failure(proposed.call, ToolFailure::running(refusal));
    }
    let began = Instant::now();
    let directory = context.workspace.current_dir();
    let call = ToolCall {
        id: proposed.call.id.clone(),
        input: proposed.input.clone(),
        workspace: Arc::clone(&context.workspace),
        cancel: cancel.clone(),
        confinement: proposed.confinement.clone(),
    };
    let result = bowline_tools::run(&*proposed.tool, call).await;
    context.session.usage.ledger().times_mut().tools += began.elapsed();
    if cancel.is_cancelled() && result.is_err() {
        return CallOutcome::interrupted(proposed.call);
    }
    context
        .session
        .watch
        .directory_changed(&context.identity, &context.workspace, &directory, cancel)
        .await;
    if let Ok(output) = &result {
        listed_task::run_created_hooks(context, &proposed, output.structured.as_ref(), cancel)
            .await;
    }
    let mut report = post_hooks(context, &proposed, &result, began, cancel).await;
    texts.extend(report.model_texts());
    texts.extend(report.objections());
    let interrupted =
        result.as_ref().is_err_and(|failure| failure.stage == FailureStage::Interrupted);
    let mut outcome = match result {
        Ok(output) => CallOutcome::success(proposed.call.clone(), updated(output, &report)),
        Err(failure) => CallOutcome::failure(proposed.call.clone(), failure),
    };
    outcome.meta = decision.map(|decision| outcome.decided(decision));
    if let Some(meta) = outcome.meta.as_mut().filter(|_| interrupted) {
        meta.non_execution_kind = Some("interrupted".into());
    }
    outcome.context = texts;
    // Failures of hooks are sent before the result, their messages after it.
    let notices = std::mem::take(&mut report.notices).into_iter();
    let (failed, remarks): (Vec<_>, Vec<_>) = notices.partition(|notice| notice.tag.is_some());
    outcome.notices.extend(failed.into_iter().map(Message::from));
    outcome.remarks = remarks;
    structured::note(&context.session.output, &proposed, &mut outcome);
    // A `PostToolUse` stop applies only to successful calls: the model handles a failure itself.
    if stop || (report.stop.is_some() && !outcome.failed()) {
        outcome.then = AfterCall::HookStopped;
    }
    outcome
}

async fn post_hooks(
    context: &CallContext,
    proposed: &Proposed,
    result: &Result<ToolOutput, ToolFailure>,
    began: Instant,
    cancel: &CancellationToken,
) -> HookReport {
    let event = match result {
        Ok(_) => HookEvent::PostToolUse,
        Err(_) => HookEvent::PostToolUseFailure,
    };
    if !context.session.hooks.has(event) {
        return HookReport::default();
    }
    let tool_name = proposed.call.name.clone();
    let tool_input = RawJson::from(proposed.shown(&context.workspace));
    let tool_use_id = proposed.call.id.clone();
    let duration_ms = Some(millis(began.elapsed()));
    let event = match result {
        Ok(output) => EventInput::PostToolUse(PostToolUseInput {
            tool_name,
            tool_input,
            tool_use_id,
            tool_response: response(output),
            duration_ms,
            mcp_server: proposed.server.clone(),
            ..PostToolUseInput::default()
        }),
        Err(failure) => EventInput::PostToolUseFailure(PostToolUseFailureInput {
            tool_name,
            tool_input,
            tool_use_id,
            error: failure.content.clone(),
            is_interrupt: Some(false),
            duration_ms,
            mcp_server: proposed.server.clone(),
            ..PostToolUseFailureInput::default()
        }),
    };
    context.session.hooks.run_silently(&context.identity, event, None, cancel).await
}

/// The `tool_response` of hook inputs: structured where the tool has it, else text.
fn response(output: &ToolOutput) -> RawJson {
    let structured = output.structured.clone();
    let value = structured.unwrap_or_else(|| Value::String(output.content.to_text()));
    RawJson::from(value)
}

/// The output as hooks have changed it.
fn updated(mut output: ToolOutput, report: &HookReport) -> ToolOutput {
    let updated = report.updated_output.as_ref().or(report.updated_mcp_output.as_ref());
    let Some(updated) = updated.map(RawJson::to_value) else { return output };
    // A replacement must have the shape of the tool's output: hosts read its fields.
    let fits = match &output.structured {
        Some(Value::Object(own)) => updated.as_object().is_some_and(|updated| {
            let is_flag = |value: &Value| matches!(value, Value::Bool(_) | Value::Null);
            own.iter().all(|(key, value)| is_flag(value) || updated.contains_key(key))
        }),
        Some(own) => std::mem::discriminant(own) == std::mem::discriminant(&updated),
        None => updated.is_string(),
    };
    if fits {
        let blocks = updated.is_array().then(|| serde_json::from_value(updated.clone()).ok());
        output.content = match blocks.flatten() {
            Some(blocks) => Content::Blocks(blocks),
            None => Content::Text(text_of(&updated)),
        };
        output.structured = Some(updated);
    }
    output
}

/// The text of a structured output: of a command, its stdout.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match fields.get("stdout").and_then(Value::as_str) {
            Some(stdout) => stdout.to_owned(),
            None => value.to_string(),
        },
        other => other.to_string(),
    }
}
