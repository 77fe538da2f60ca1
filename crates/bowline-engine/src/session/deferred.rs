//! A call that a hook had put off: it is made anew when the session is taken up again.
//!
//! Hooks are asked once more, and may put it off once more. It comes before any prompt, and the
//! model goes on with its result.

use std::sync::Arc;

use bowline_protocol::{
    ContentBlock, DeferredToolUse, ResultMessage, StopReason, TerminalReason, ToolUseBlock,
};
use bowline_sessions::AttachmentLine;
use tokio_util::sync::CancellationToken;

use super::{
    Shared, catalog,
    prompt::{self, TurnOutcome},
    result,
};
use crate::{
    agent::{Agent, BatchVerdict},
    turn::{
        machine::{Ending, Then},
        outcome::CallOutcome,
        pipeline::{self, CallContext},
        report::Report,
    },
};

/// Makes the call and has the model go on.
pub(super) async fn run(
    agent: &mut Agent,
    call: DeferredToolUse,
    cancel: CancellationToken,
) -> TurnOutcome {
    let session = Arc::clone(&agent.session);
    prompt::begin(agent, &cancel).await;
    let context = Arc::new(CallContext::of(agent));
    if context.tools.find(&call.name).is_err() {
        let result = unavailable(&session, call);
        return TurnOutcome { result, joined: Vec::new() };
    }
    let DeferredToolUse { id, name, input, .. } = call;
    let call = ToolUseBlock { id, name, input, ..ToolUseBlock::default() };
    let mut outcome = pipeline::run(context, call, None, cancel.clone()).await;
    let report = match outcome.deferred.take() {
        Some(call) => {
            session.tell(session.journal.write(AttachmentLine::deferred(&call))).await;
            Report { deferred: Some(call), ..ended(Ending::Deferred) }
        }
        None => go_on(agent, outcome, cancel).await,
    };
    let joined = agent.take_joined();
    TurnOutcome { result: result::of_turn(&session, report, None), joined }
}

/// Shows the result to the host, and to the model if the turn goes on.
async fn go_on(agent: &mut Agent, mut outcome: CallOutcome, cancel: CancellationToken) -> Report {
    let session = Arc::clone(&agent.session);
    for notice in outcome.notices.drain(..) {
        session.outlet.emit(notice).await;
    }
    agent.say_user(outcome.frame(&agent.identity)).await;
    agent.conversation.answer_anew(outcome.block());
    let (then, denial) = (outcome.then, outcome.denial.take());
    let batch = [outcome];
    let BatchVerdict { context, stops } = agent.batch_hooks(&batch, &cancel).await;
    let mut blocks = agent.reminders(&batch, &cancel).await;
    let [outcome] = batch;
    blocks.extend(outcome.follow_up);
    blocks.extend(outcome.context.into_iter().chain(context).map(ContentBlock::text));
    agent.conversation.push_user(blocks);
    session.outlet.send(catalog::init(agent, &[])).await;
    let mut report = match then {
        _ if stops => ended(Ending::HookStopped),
        Then::HookStopped => ended(Ending::HookStopped),
        Then::Refused => ended(Ending::AbortedTools),
        _ => prompt::go_on(agent, Vec::new(), cancel).await,
    };
    report.denials.extend(denial);
    report
}

/// A turn that ended before the model was asked.
fn ended(ending: Ending) -> Report {
    Report { ending: Some(ending), ..Report::new() }
}

/// The tool is not here any more: nobody can tell what the call would have come to.
fn unavailable(session: &Shared, call: DeferredToolUse) -> ResultMessage {
    let why = format!("The tool {} of the call that was put off is not available", call.name);
    ResultMessage {
        terminal_reason: Some(TerminalReason::ToolDeferredUnavailable),
        stop_reason: Some(StopReason::from("tool_deferred_unavailable")),
        deferred_tool_use: Some(call),
        ..result::failed(session, why)
    }
}
