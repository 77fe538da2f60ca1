//! Deferred tool calls: run when the session is resumed.
//!
//! Hooks decide again, and may defer them again. The calls run before any prompt, and the model
//! continues with their results.

use std::sync::Arc;

use bowline_protocol::{
    ContentBlock, DeferredToolUse, PermissionDenial, ResultMessage, StopReason, TerminalReason,
    ToolUseBlock,
};
use bowline_sessions::AttachmentLine;
use tokio_util::sync::CancellationToken;

use super::prompt::{self, TurnOutcome};
use crate::{
    agent::Agent,
    catalog, result,
    session_context::SessionContext,
    turn::{
        batch_hooks::BatchVerdict,
        machine::{AfterCall, Ending},
        outcome::{CallOutcome, successful_calls},
        pipeline::{self, CallContext},
        report::Report,
    },
};

/// Runs the calls and continues the turn with their results.
pub(super) async fn run(
    agent: &mut Agent,
    calls: Vec<DeferredToolUse>,
    cancel: CancellationToken,
) -> TurnOutcome {
    let session = Arc::clone(&agent.session);
    prompt::begin(agent, &cancel).await;
    let context = Arc::new(CallContext::of(agent));
    if let Some(call) = calls.iter().find(|call| context.tools.find(&call.name).is_err()) {
        return unavailable(&session, call.clone()).into();
    }
    let DeferredRun { outcomes, denials, deferred, then } =
        run_calls(agent, &context, calls, &cancel).await;
    let stops = deliver_context(agent, outcomes, &cancel).await;
    let mut report = if !deferred.is_empty() {
        record(&session, &deferred).await;
        Box::new(Report { deferred, ..ended(Ending::Deferred) })
    } else {
        session.sink.send(catalog::init(agent, &[])).await;
        match then {
            _ if stops => Box::new(ended(Ending::HookStopped)),
            AfterCall::HookStopped => Box::new(ended(Ending::HookStopped)),
            AfterCall::Refused => Box::new(ended(Ending::AbortedTools)),
            _ => prompt::run_model_turn(agent, Vec::new(), cancel).await,
        }
    };
    report.denials.splice(0..0, denials);
    let joined = agent.take_joined();
    TurnOutcome::new(result::of_turn(&session, *report, None), joined)
}

/// Records deferred calls, so that they are found when the session is resumed.
pub(super) async fn record(session: &SessionContext, calls: &[DeferredToolUse]) {
    for call in calls {
        session.sink.emit_notice(session.journal.write(AttachmentLine::deferred(call))).await;
    }
}

/// The outcomes of the deferred calls.
struct DeferredRun {
    /// The calls that were not deferred again.
    outcomes: Vec<CallOutcome>,
    denials: Vec<PermissionDenial>,
    deferred: Vec<DeferredToolUse>,
    /// The last effect on the turn other than to continue.
    then: AfterCall,
}

/// Runs the calls sequentially and sends their results.
async fn run_calls(
    agent: &mut Agent,
    context: &Arc<CallContext>,
    calls: Vec<DeferredToolUse>,
    cancel: &CancellationToken,
) -> DeferredRun {
    let mut run = DeferredRun {
        outcomes: Vec::new(),
        denials: Vec::new(),
        deferred: Vec::new(),
        then: AfterCall::Continue,
    };
    for DeferredToolUse { id, name, input, .. } in calls {
        let parsed = input.to_value();
        let call = Arc::new(ToolUseBlock { id, name, input, ..ToolUseBlock::default() });
        let mut outcome = match run.then {
            // A refusal ends the whole turn, so the next call must not request permission.
            AfterCall::Refused => Box::new(CallOutcome::interrupted(call)),
            _ => pipeline::run(Arc::clone(context), call, parsed, None, cancel.clone()).await,
        };
        if let Some(call) = outcome.deferred.take() {
            run.deferred.push(call);
            continue;
        }
        for notice in outcome.notices.drain(..) {
            agent.session.sink.emit(notice).await;
        }
        agent.emit_user(outcome.frame(&agent.identity)).await;
        agent.conversation.replace_result(outcome.block());
        if outcome.then != AfterCall::Continue {
            run.then = outcome.then;
        }
        run.denials.extend(outcome.denial.take());
        run.outcomes.push(*outcome);
    }
    run
}

/// Adds follow-up blocks and texts of hooks to the conversation. Returns whether hooks end the turn.
async fn deliver_context(
    agent: &mut Agent,
    outcomes: Vec<CallOutcome>,
    cancel: &CancellationToken,
) -> bool {
    if outcomes.is_empty() {
        return false;
    }
    let BatchVerdict { context, stops } = agent.batch_hooks(&outcomes, cancel).await;
    let mut blocks = agent.reminders(successful_calls(&outcomes), cancel).await;
    for outcome in outcomes {
        blocks.extend(outcome.follow_up);
        blocks.extend(outcome.context.into_iter().map(ContentBlock::text));
    }
    blocks.extend(context.into_iter().map(ContentBlock::text));
    agent.conversation.push_user(blocks);
    stops
}

/// The report of a turn that ended before a request to the model.
fn ended(ending: Ending) -> Report {
    Report { ending: Some(ending), ..Report::new() }
}

/// The result if the tool of a deferred call does not exist any more.
fn unavailable(session: &SessionContext, call: DeferredToolUse) -> ResultMessage {
    let why = format!("The tool {} of the call that was put off is not available", call.name);
    ResultMessage {
        terminal_reason: Some(TerminalReason::ToolDeferredUnavailable),
        stop_reason: Some(StopReason::from("tool_deferred_unavailable")),
        deferred_tool_use: Some(call),
        ..result::failed(session, why)
    }
}
