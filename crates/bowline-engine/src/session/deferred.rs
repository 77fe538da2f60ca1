//! Deferred tool calls: run when the session is resumed.
//!
//! Hooks are asked once more, and may put them off once more. They come before any prompt, and the
//! model goes on with their results.

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

/// Makes the calls and has the model go on.
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
    let Made { outcomes, denials, deferred, then } = make(agent, &context, calls, &cancel).await;
    let stops = take_up(agent, outcomes, &cancel).await;
    let mut report = if !deferred.is_empty() {
        write_down(&session, &deferred).await;
        Box::new(Report { deferred, ..ended(Ending::Deferred) })
    } else {
        session.sink.send(catalog::init(agent, &[])).await;
        match then {
            _ if stops => Box::new(ended(Ending::HookStopped)),
            AfterCall::HookStopped => Box::new(ended(Ending::HookStopped)),
            AfterCall::Refused => Box::new(ended(Ending::AbortedTools)),
            _ => prompt::go_on(agent, Vec::new(), cancel).await,
        }
    };
    report.denials.splice(0..0, denials);
    let joined = agent.take_joined();
    TurnOutcome::new(result::of_turn(&session, *report, None), joined)
}

/// Records deferred calls, so that they are found when the session is resumed.
pub(super) async fn write_down(session: &SessionContext, calls: &[DeferredToolUse]) {
    for call in calls {
        session.sink.emit_notice(session.journal.write(AttachmentLine::deferred(call))).await;
    }
}

/// What the calls came to.
struct Made {
    /// Of those that were not put off again.
    outcomes: Vec<CallOutcome>,
    denials: Vec<PermissionDenial>,
    deferred: Vec<DeferredToolUse>,
    /// What the last one that has a say wants of the turn.
    then: AfterCall,
}

/// Makes the calls one after the other, and shows their results.
async fn make(
    agent: &mut Agent,
    context: &Arc<CallContext>,
    calls: Vec<DeferredToolUse>,
    cancel: &CancellationToken,
) -> Made {
    let mut made = Made {
        outcomes: Vec::new(),
        denials: Vec::new(),
        deferred: Vec::new(),
        then: AfterCall::Continue,
    };
    for DeferredToolUse { id, name, input, .. } in calls {
        let read = input.to_value();
        let call = Arc::new(ToolUseBlock { id, name, input, ..ToolUseBlock::default() });
        let mut outcome = match made.then {
            // After a refusal of the whole turn there is no request for the next call.
            AfterCall::Refused => Box::new(CallOutcome::interrupted(call)),
            _ => pipeline::run(Arc::clone(context), call, read, None, cancel.clone()).await,
        };
        if let Some(call) = outcome.deferred.take() {
            made.deferred.push(call);
            continue;
        }
        for notice in outcome.notices.drain(..) {
            agent.session.sink.emit(notice).await;
        }
        agent.emit_user(outcome.frame(&agent.identity)).await;
        agent.conversation.replace_result(outcome.block());
        if outcome.then != AfterCall::Continue {
            made.then = outcome.then;
        }
        made.denials.extend(outcome.denial.take());
        made.outcomes.push(*outcome);
    }
    made
}

/// What the model reads beside the results. Tells whether hooks want the turn to end.
async fn take_up(
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

/// A turn that ended before the model was asked.
fn ended(ending: Ending) -> Report {
    Report { ending: Some(ending), ..Report::new() }
}

/// The tool does not exist any more, so that the outcome of the call is unknown.
fn unavailable(session: &SessionContext, call: DeferredToolUse) -> ResultMessage {
    let why = format!("The tool {} of the call that was put off is not available", call.name);
    ResultMessage {
        terminal_reason: Some(TerminalReason::ToolDeferredUnavailable),
        stop_reason: Some(StopReason::from("tool_deferred_unavailable")),
        deferred_tool_use: Some(call),
        ..result::failed(session, why)
    }
}
