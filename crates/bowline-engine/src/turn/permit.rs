//! Permission of a call: the rules decide; where they do not, hooks and the host race.

use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

use bowline_protocol::{
    CanUseTool, DecisionClassification, DecisionReasonType, DecisionSource, EventInput, HookEvent,
    HookPermissionResult, NonExecutionKind, NotificationInput, PermissionAllow, PermissionDecision,
    PermissionDeniedInput, PermissionDeniedMessage, PermissionDeny, PermissionRequestInput,
    PermissionResult, PermissionUpdate, PermissionVerdict, RawJson, StatusMessage,
};
use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    machine::AfterCall,
    outcome::CallOutcome,
    pipeline::{CallContext, Proposed},
    prompt_tool::call_prompt_tool,
};
use crate::{
    config::PermissionPrompts,
    host::HostError,
    permission::{ApprovalRequest, Denial, NoApproval, ProposedCall, Verdict},
};

/// How long a permission request is pending before a notification.
const REMIND_AFTER: Duration = Duration::from_secs(6);
/// The most updates of one response.
const MAX_UPDATES: usize = 4096;

/// The message to the model when the user refuses the call and the whole turn.
const TURN_REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use \
    was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what \
    you are doing and wait for the user to tell you how to proceed.";
/// Appended to a denial that a `PermissionDenied` hook allows to be retried.
const MAY_RETRY: &str = " A hook has noted this; the call may be tried again.";
/// Returned to the caller when another call changed the working directory while permission was pending.
const MOVED: &str = "Another call has changed the working directory while permission for this \
    one was pending, so it did not run. Call it again if it is to run in the new directory.";
/// The message to the model when the host's response is invalid. SDKs know this text.
const INVALID_RESPONSE: &str = "The canUseTool callback returned an invalid permission result. Expected \
    {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}. \
    updatedPermissions may hold at most 4096 updates, rules and directories in all.";

/// Decides about a call, and changes its input if the host or a hook does.
///
/// Cancel safety: dropping the future cancels every request.
pub(crate) async fn permit(
    context: &CallContext,
    proposed: &mut Proposed,
    cancel: &CancellationToken,
) -> Result<Option<PermissionDecision>, Box<CallOutcome>> {
    match evaluate(context, proposed) {
        Verdict::Allow(reason) => {
            let decision = reason.accepted();
            proposed.confinement = reason.confinement;
            Ok(Some(decision))
        }
        // Most calls are allowed by rules: boxed, the rarer futures do not enlarge this one.
        Verdict::Deny(denial) => {
            let denial = Box::pin(run_denied_hooks(context, proposed, denial, cancel)).await;
            Err(deny(context, proposed, denial))
        }
        Verdict::Ask(request) => {
            Box::pin(request_approval(context, proposed, *request, cancel)).await
        }
    }
}

fn evaluate(context: &CallContext, proposed: &Proposed) -> Verdict {
    let workspace = &context.workspace;
    let access = proposed.tool.access(&proposed.input, workspace);
    let current = workspace.current_dir();
    let call = ProposedCall {
        tool: &proposed.call.name,
        input: &proposed.input,
        access: &access,
        current_directory: &current,
        hook: proposed.opinion.as_ref(),
        needs_person: needs_person(&proposed.call.name),
    };
    context.session.permissions.judge(&call, proposed.server.as_ref(), &context.identity)
}

/// Runs the hooks of a call that the mode denied without a request; they may let the model retry.
async fn run_denied_hooks(
    context: &CallContext,
    proposed: &Proposed,
    mut denial: Denial,
    cancel: &CancellationToken,
) -> Denial {
    let by_mode = denial.reason.kind == Some(DecisionReasonType::Classifier);
    if by_mode && context.session.hooks.has(HookEvent::PermissionDenied) {
        let event = EventInput::PermissionDenied(PermissionDeniedInput {
            tool_name: proposed.call.name.clone(),
            tool_input: RawJson::from(proposed.input.clone()),
            tool_use_id: proposed.call.id.clone(),
            reason: denial.message.clone(),
            mcp_server: proposed.server.clone(),
            ..PermissionDeniedInput::default()
        });
        if context.session.hooks.run(&context.identity, event, cancel).await.retry {
            denial.message.push_str(MAY_RETRY);
        }
    }
    denial
}

/// Whether the tool is itself a prompt to the user, so that no rule may allow it.
fn needs_person(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "ExitPlanMode")
}

/// The source and reason type of a [`PermissionDecision`] made by a hook.
pub(crate) fn by_hook() -> (DecisionSource, Option<DecisionReasonType>) {
    (DecisionSource::Hook, Some(DecisionReasonType::Hook))
}

fn deny(context: &CallContext, proposed: &Proposed, denial: Denial) -> Box<CallOutcome> {
    let mut outcome = CallOutcome::denied(proposed.call.clone(), &denial.message);
    if denial.announced {
        let session = &context.session;
        let mut frame = PermissionDeniedMessage {
            tool_name: proposed.call.name.clone(),
            tool_use_id: proposed.call.id.clone(),
            agent_id: context.identity.agent_id(),
            decision_reason_type: denial.reason.kind.clone(),
            decision_reason: denial.reason.text.clone(),
            message: denial.message.clone(),
            ..PermissionDeniedMessage::default()
        };
        frame.uuid = crate::sink::new_uuid();
        frame.session_id = session.sink.session_id();
        outcome.notices.push(frame.into());
    }
    let mut meta = outcome.decided(denial.rejected());
    meta.non_execution_kind = Some(denial.non_execution_kind.clone());
    outcome.meta = Some(meta);
    Box::new(outcome)
}

/// Requests approval from hooks and the host.
async fn request_approval(
    context: &CallContext,
    proposed: &mut Proposed,
    approval: ApprovalRequest,
    cancel: &CancellationToken,
) -> Result<Option<PermissionDecision>, Box<CallOutcome>> {
    let no_approver = match &context.prompts {
        PermissionPrompts::Nobody => Some(NoApproval::NoSurface),
        PermissionPrompts::Disabled => Some(NoApproval::PromptsOff),
        PermissionPrompts::Host | PermissionPrompts::McpTool(_) => None,
    };
    if context.session.hooks.has(HookEvent::PermissionRequest) {
        // Queued messages are sent before a hook receives what follows from them.
        context.session.sink.flush().await;
    }
    let decision = match no_approver {
        Some(why) => {
            let decided = request_from_hooks(context, proposed, &approval, cancel).await;
            decided.map_or(Decision::NoApproval(why), Decision::Hook)
        }
        None => {
            let host = request_from_host(context, proposed, &approval, cancel);
            let hooks = request_from_hooks(context, proposed, &approval, cancel);
            with_slot_released(context, race(host, hooks, cancel)).await
        }
    };
    match decision {
        Decision::Host(PermissionResult::Allow(allow)) => {
            accept(context, proposed, &allow).await.map(Some)
        }
        Decision::Host(PermissionResult::Deny(deny)) => Err(reject(proposed, &deny)),
        Decision::Hook(HookPermissionResult::Allow(allow)) => {
            accept(context, proposed, &allow).await?;
            let (source, reason_type) = by_hook();
            Ok(Some(permission_decision(PermissionVerdict::Accept, source, reason_type)))
        }
        Decision::Hook(HookPermissionResult::Deny(deny)) => {
            let message = deny.message.unwrap_or_else(|| "Permission denied by hook".to_owned());
            let deny = PermissionDeny { message, interrupt: deny.interrupt, ..Default::default() };
            let mut outcome = reject(proposed, &deny);
            let (source, reason_type) = by_hook();
            outcome.rejected(NonExecutionKind::PermissionRule, source, reason_type);
            Err(outcome)
        }
        Decision::NoApproval(why) => Err(deny(context, proposed, approval.unapproved(why))),
        Decision::Failed(message) => Err(failed(proposed, &message)),
        Decision::Cancelled => {
            let mut outcome = CallOutcome::interrupted(proposed.call.clone());
            outcome.denial = CallOutcome::denied(proposed.call.clone(), "").denial;
            Err(Box::new(outcome))
        }
    }
    .map_err(|mut outcome| {
        if let Some(denial) = &mut outcome.denial {
            denial.tool_input = RawJson::from(proposed.shown(&context.workspace));
        }
        outcome
    })
}

/// Waits for a decision with the call's slot released. A denied call needs no slot any more; an
/// allowed one was permitted for the working directory of that moment only.
async fn with_slot_released(
    context: &CallContext,
    decision: impl Future<Output = Decision>,
) -> Decision {
    let Some(slot) = &context.slot else { return decision.await };
    let directory = context.workspace.current_dir();
    slot.release();
    let decision = decision.await;
    if !decision.allows() {
        return decision;
    }
    slot.acquire_again().await;
    match context.workspace.current_dir() == directory {
        true => decision,
        false => Decision::Failed(MOVED.to_owned()),
    }
}

/// The first decision wins; the other request is cancelled by being dropped. Both begin before either
/// is awaited, so that a host which responds at once does not keep hooks from running.
async fn race(
    host: impl Future<Output = Decision>,
    hooks: impl Future<Output = Option<HookPermissionResult>>,
    cancel: &CancellationToken,
) -> Decision {
    let (mut host, mut hooks) = (pin!(host), pin!(hooks.fuse()));
    let decided = poll_fn(|context| {
        let (host, hooks) = (host.as_mut().poll(context), hooks.as_mut().poll(context));
        match (host, hooks) {
            (Poll::Ready(decision), _) => Poll::Ready(decision),
            (Poll::Pending, Poll::Ready(Some(decision))) => Poll::Ready(Decision::Hook(decision)),
            // Hooks without an opinion leave it to the host.
            (Poll::Pending, Poll::Ready(None) | Poll::Pending) => Poll::Pending,
        }
    });
    tokio::select! {
        biased;
        decision = decided => decision,
        () = cancel.cancelled() => Decision::Cancelled,
    }
}

/// A decision about a permission request.
enum Decision {
    Host(PermissionResult),
    Hook(HookPermissionResult),
    NoApproval(NoApproval),
    Failed(String),
    /// The turn was cancelled while permission was pending.
    Cancelled,
}

impl Decision {
    fn allows(&self) -> bool {
        matches!(
            self,
            Self::Host(PermissionResult::Allow(_)) | Self::Hook(HookPermissionResult::Allow(_))
        )
    }
}

async fn request_from_host(
    context: &CallContext,
    proposed: &Proposed,
    approval: &ApprovalRequest,
    cancel: &CancellationToken,
) -> Decision {
    let session = &context.session;
    let response = match &context.prompts {
        PermissionPrompts::McpTool(tool) => call_prompt_tool(context, tool, proposed).await,
        _ => {
            let request = request(context, proposed, approval);
            let _pending = session.approvals.opened().await;
            let mut response = std::pin::pin!(session.sink.host().can_use_tool(request));
            tokio::select! {
                response = &mut response => response,
                () = tokio::time::sleep(REMIND_AFTER) => {
                    remind(context, proposed, cancel).await;
                    response.await
                }
            }
        }
    };
    match response {
        Ok(result) => Decision::Host(result),
        Err(HostError::Malformed(_)) => Decision::Failed(INVALID_RESPONSE.to_owned()),
        Err(HostError::Closed) => Decision::Failed(
            "Tool permission request failed: AbortError: Tool permission stream closed before \
             response received"
                .to_owned(),
        ),
        Err(error) => Decision::Failed(format!("Tool permission request failed: Error: {error}")),
    }
}

fn request(context: &CallContext, proposed: &Proposed, approval: &ApprovalRequest) -> CanUseTool {
    let display = context.tools.display_name(&proposed.call.name);
    let mut request = CanUseTool {
        tool_name: proposed.call.name.clone(),
        input: RawJson::from(proposed.shown(&context.workspace)),
        tool_use_id: proposed.call.id.clone(),
        agent_id: context.identity.agent_id(),
        mcp_server: proposed.server.clone(),
        display_name: Some(display.map_or_else(|| proposed.call.name.clone(), |name| name.tool)),
        description: describe(context, proposed),
        ..CanUseTool::default()
    };
    approval.describe(&mut request);
    if proposed.server.is_some()
        || matches!(&*proposed.call.name, "Read" | "Write" | "Edit" | "NotebookEdit")
    {
        request.extra.entry("server_policy_ask_only".to_owned()).or_insert(true.into());
    }
    request
}

/// Describes a call for the user who decides on it.
fn describe(context: &CallContext, proposed: &Proposed) -> Option<String> {
    let field = |name: &str| proposed.input.get(name).and_then(Value::as_str);
    let words = ["description", "command", "pattern", "url", "query"].into_iter().find_map(field);
    let file = || {
        let path = field("file_path").or_else(|| field("notebook_path"))?;
        Some(context.workspace.display(&context.workspace.resolve(path)))
    };
    words.map(str::to_owned).or_else(file)
}

/// Runs the `Notification` hooks for a permission request that has been pending for a while.
async fn remind(context: &CallContext, proposed: &Proposed, cancel: &CancellationToken) {
    if context.session.hooks.has(HookEvent::Notification) {
        let event = EventInput::Notification(NotificationInput {
            message: format!("Permission is needed to use {}", proposed.call.name),
            notification_type: "permission_prompt".to_owned(),
            ..NotificationInput::default()
        });
        context.session.hooks.run(&context.identity, event, cancel).await;
    }
}

/// The decision of the `PermissionRequest` hooks; `None` if they make none.
async fn request_from_hooks(
    context: &CallContext,
    proposed: &Proposed,
    approval: &ApprovalRequest,
    cancel: &CancellationToken,
) -> Option<HookPermissionResult> {
    if !context.session.hooks.has(HookEvent::PermissionRequest) {
        return None;
    }
    let suggestions = &approval.suggestions;
    let event = EventInput::PermissionRequest(PermissionRequestInput {
        tool_name: proposed.call.name.clone(),
        tool_input: RawJson::from(proposed.shown(&context.workspace)),
        permission_suggestions: (!suggestions.is_empty()).then(|| suggestions.clone()),
        mcp_server: proposed.server.clone(),
        ..PermissionRequestInput::default()
    });
    let about = Some(&proposed.call.id);
    context.session.hooks.race(&context.identity, event, about, cancel).await.permission
}

/// Applies an allow: changed input and permission updates.
async fn accept(
    context: &CallContext,
    proposed: &mut Proposed,
    allow: &PermissionAllow,
) -> Result<PermissionDecision, Box<CallOutcome>> {
    let updates = allow.updated_permissions.as_deref().unwrap_or_default();
    if weight(updates) > MAX_UPDATES {
        return Err(failed(proposed, INVALID_RESPONSE));
    }
    if let Some(input) = &allow.updated_input {
        let input = input.to_value();
        match input.as_object() {
            None => return Err(failed(proposed, INVALID_RESPONSE)),
            // Some hosts send an empty object for an unchanged input.
            Some(fields) if fields.is_empty() => {}
            Some(_) => {
                proposed.change(input, &context.workspace);
                check_changed(context, proposed)?;
            }
        }
    }
    apply(context, updates).await;
    let source = match allow.decision_classification {
        Some(DecisionClassification::UserPermanent) => DecisionSource::UserPermanent,
        _ => DecisionSource::UserTemporary,
    };
    Ok(permission_decision(PermissionVerdict::Accept, source, None))
}

/// Checks a changed input against the schema of the tool.
fn check_changed(context: &CallContext, proposed: &Proposed) -> Result<(), Box<CallOutcome>> {
    let checked = context.tools.check(&proposed.call.name, proposed.input.clone());
    checked.map(drop).map_err(|failure| {
        let mut outcome = CallOutcome::failure(proposed.call.clone(), failure);
        let source = DecisionSource::from("permission_updated_input_invalid");
        let rejected = permission_decision(PermissionVerdict::Reject, source, None);
        outcome.meta = Some(outcome.decided(rejected));
        Box::new(outcome)
    })
}

/// Changes the rules, in memory and, where the update's destination is a file, on disk.
pub(crate) async fn apply(context: &CallContext, updates: &[PermissionUpdate]) {
    let session = &context.session;
    let before = session.permissions.mode();
    for update in updates {
        if let Some(path) = session.permissions.apply_update(update, &session.workspace) {
            session.watch.note_settings_file(&path);
        }
    }
    let mode = session.permissions.mode();
    if mode != before {
        let permission_mode = Some(mode);
        session.sink.send(StatusMessage { permission_mode, ..StatusMessage::default() }).await;
    }
}

/// The outcome of a denied call.
fn reject(proposed: &Proposed, deny: &PermissionDeny) -> Box<CallOutcome> {
    let call = proposed.call.clone();
    if deny.interrupt == Some(true) {
        let mut outcome = CallOutcome::denied(call, TURN_REFUSED);
        outcome.structured = Some(Value::String("User rejected tool use".to_owned()));
        outcome.meta = CallOutcome::interrupted(proposed.call.clone()).meta;
        outcome.then = AfterCall::Refused;
        return Box::new(outcome);
    }
    let mut outcome = CallOutcome::denied(call, &deny.message);
    outcome.rejected(NonExecutionKind::PermissionRule, DecisionSource::UserReject, None);
    Box::new(outcome)
}

/// The outcome of a call whose permission request failed: it is denied.
fn failed(proposed: &Proposed, message: &str) -> Box<CallOutcome> {
    let mut outcome = CallOutcome::denied(proposed.call.clone(), message);
    outcome.rejected(
        NonExecutionKind::PermissionRule,
        DecisionSource::Config,
        Some(DecisionReasonType::Other("other".to_owned())),
    );
    Box::new(outcome)
}

fn permission_decision(
    decision: PermissionVerdict,
    source: DecisionSource,
    reason_type: Option<DecisionReasonType>,
) -> PermissionDecision {
    PermissionDecision { decision, source, reason_type, extra: Default::default() }
}

/// How many updates, rules and directories a list of updates has.
fn weight(updates: &[PermissionUpdate]) -> usize {
    let inside = |update: &PermissionUpdate| match update {
        PermissionUpdate::AddRules(update)
        | PermissionUpdate::ReplaceRules(update)
        | PermissionUpdate::RemoveRules(update) => update.rules.len(),
        PermissionUpdate::AddDirectories(update) | PermissionUpdate::RemoveDirectories(update) => {
            update.directories.len()
        }
        _ => 0,
    };
    updates.len() + updates.iter().map(inside).sum::<usize>()
}
