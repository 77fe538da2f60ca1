//! Result message of a turn.

use bowline_model::ModelError;
use bowline_protocol::{Maybe, Origin, ResultMessage, ResultSubtype, StopReason, TerminalReason};

use crate::{
    clock::millis,
    session_context::SessionContext,
    turn::{machine::Ending, report::Report, texts},
};

/// The result of a turn.
pub(crate) fn of_turn(
    session: &SessionContext,
    report: Report,
    origin: Option<Origin>,
) -> ResultMessage {
    let ending = report.ending.unwrap_or(Ending::Completed);
    let mut result = blank(session);
    result.duration_ms = millis(report.began.elapsed());
    result.num_turns = report.messages;
    result.stop_reason = report.stop_reason.clone();
    result.permission_denials = report.denials;
    result.origin = origin;
    result.ttft_ms = report.first_content.map(millis);
    result.ttft_stream_ms = report.first_event.map(millis);
    result.first_content_frame_ms = report.first_content.map(millis);
    result.time_to_request_ms = report.first_request.map(millis);
    let (subtype, reason) = match ending {
        Ending::Completed => (ResultSubtype::Success, TerminalReason::Completed),
        Ending::HookStopped => (ResultSubtype::Success, TerminalReason::HookStopped),
        Ending::StopHookPrevented => (ResultSubtype::Success, TerminalReason::StopHookPrevented),
        Ending::Deferred => (ResultSubtype::Success, TerminalReason::ToolDeferred),
        Ending::ApiError => (ResultSubtype::Success, failure_reason(report.failure.as_ref())),
        Ending::OutputLimit | Ending::Refused => (ResultSubtype::Success, TerminalReason::ApiError),
        Ending::AbortedStreaming => {
            (ResultSubtype::ErrorDuringExecution, TerminalReason::AbortedStreaming)
        }
        Ending::AbortedTools => (ResultSubtype::ErrorDuringExecution, TerminalReason::AbortedTools),
        Ending::MaxTurns => (ResultSubtype::ErrorMaxTurns, TerminalReason::MaxTurns),
        Ending::BudgetExhausted => {
            (ResultSubtype::ErrorMaxBudgetUsd, TerminalReason::BudgetExhausted)
        }
        Ending::StructuredOutputRetries => (
            ResultSubtype::ErrorMaxStructuredOutputRetries,
            TerminalReason::StructuredOutputRetryExhausted,
        ),
    };
    result.terminal_reason = Some(reason);
    result.is_error = subtype != ResultSubtype::Success
        || matches!(ending, Ending::ApiError | Ending::OutputLimit | Ending::Refused);
    if subtype == ResultSubtype::Success {
        result.api_error_status = Maybe::Null;
        result.result = Some(match ending {
            Ending::HookStopped | Ending::Deferred => String::new(),
            _ => report.last_text,
        });
    } else {
        if let (Ending::MaxTurns, Some(limit)) = (ending, session.config.max_turns) {
            // The round trip that exceeded the limit is included, as hosts expect.
            result.num_turns = u64::from(limit) + 1;
        }
        let limit = match ending {
            Ending::MaxTurns => session.config.max_turns.unwrap_or_default().to_string(),
            _ => session.config.max_budget_usd.unwrap_or_default().to_string(),
        };
        result.errors = Some(vec![texts::error(ending, limit)]);
    }
    if let Some(output) = report.structured_output {
        result.result = Some(output.get().to_owned());
        result.structured_output = Maybe::Value(output);
    }
    // The message has one field for it, so the last deferred call is reported.
    if let Some(deferred) = report.deferred.into_iter().next_back() {
        result.stop_reason = Some(StopReason::ToolDeferred);
        result.deferred_tool_use = Some(deferred);
    }
    if let Some(error) = &report.failure {
        result.api_error_status = Maybe::from(error.status);
        result.api_error_type = error.api_type.clone();
    }
    result.api_error = report.api_error.map(str::to_owned);
    result.subtype = subtype;
    result
}

/// The result of a prompt that was not sent to a model.
pub(crate) fn without_turn(session: &SessionContext, text: impl Into<String>) -> ResultMessage {
    ResultMessage { result: Some(text.into()), ..blank(session) }
}

/// The result of a turn that crashed.
pub(crate) fn crashed(session: &SessionContext, what: &str) -> ResultMessage {
    ResultMessage {
        terminal_reason: Some(TerminalReason::ModelError),
        ..failed(session, format!("the turn crashed: {what}"))
    }
}

/// The result of a prompt that could not be run.
pub(crate) fn failed(session: &SessionContext, why: impl Into<String>) -> ResultMessage {
    ResultMessage {
        subtype: ResultSubtype::ErrorDuringExecution,
        is_error: true,
        errors: Some(vec![why.into()]),
        ..blank(session)
    }
}

fn failure_reason(failure: Option<&ModelError>) -> TerminalReason {
    match failure {
        Some(error) if error.is_context_overflow() => TerminalReason::PromptTooLong,
        Some(error) if error.status == Some(413) => TerminalReason::ImageError,
        _ => TerminalReason::ApiError,
    }
}

fn blank(session: &SessionContext) -> ResultMessage {
    let mut ledger = session.usage.ledger();
    ResultMessage {
        subtype: ResultSubtype::Success,
        duration_api_ms: millis(ledger.times().api),
        total_cost_usd: ledger.total_cost(),
        usage: ledger.turn_usage(),
        model_usage: ledger.by_model().clone(),
        model_usage_since_last_result: Some(ledger.take_since_result()),
        subagent_stats: Some(session.tasks.agent_count()),
        safety_stops: Some(ledger.refusals()),
        ..ResultMessage::default()
    }
}
