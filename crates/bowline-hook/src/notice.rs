//! What the user is told about a hook's answer.

use bowline_protocol::{HookEvent, HookNoVerdict, InformationalLevel, InformationalMessage, Maybe};

use super::{
    HookAction, Registration,
    output::{Answer, blocks_on_failure},
    report::FailureKind,
    run::{Occasion, fresh_id, tool_use_id},
    texts,
};

/// What the user is told about one answer, if anything.
pub(super) fn about(
    registration: &Registration,
    occasion: &Occasion,
    answer: &Answer,
) -> Option<InformationalMessage> {
    match answer {
        Answer::Output(output) => {
            let message = output.system_message.as_deref()?;
            let content = match occasion.event {
                // These happen all the time, and nobody waits for them.
                HookEvent::MessageDisplay
                | HookEvent::SubagentStart
                | HookEvent::SubagentStop
                | HookEvent::PreCompact => return None,
                HookEvent::PreModelSwitch => message.to_owned(),
                _ => texts::says(&occasion.hook_name, message),
            };
            Some(message_with(occasion, InformationalLevel::Notice, content))
        }
        Answer::Failed(kind, message) => failure(registration, occasion, *kind, message),
        Answer::Printed(_) | Answer::Objection(_) | Answer::Detached => None,
    }
}

fn failure(
    registration: &Registration,
    occasion: &Occasion,
    kind: FailureKind,
    message: &str,
) -> Option<InformationalMessage> {
    let is_callback = matches!(registration.action, HookAction::Callback(_));
    let stops_tool = occasion.event == HookEvent::PreToolUse;
    let stops_prompt = occasion.event == HookEvent::UserPromptSubmit;
    let follows_tool =
        matches!(occasion.event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure);
    let ends_turn = matches!(occasion.event, HookEvent::Stop | HookEvent::SubagentStop);
    let warning = |content| message_with(occasion, InformationalLevel::Warning, content);
    match kind {
        // The model is told that the call did not happen, and the user sees that.
        FailureKind::TimedOut if is_callback && (stops_tool || stops_prompt) => None,
        // It changes nothing; the host knows, since its answer is no longer wanted.
        FailureKind::TimedOut if is_callback && follows_tool => None,
        FailureKind::TimedOut if is_callback && ends_turn => {
            let content = texts::says(&occasion.hook_name, texts::TURN_ENDED_UNHEARD);
            Some(message_with(occasion, InformationalLevel::Notice, content))
        }
        FailureKind::WrongEvent if is_callback && stops_tool => None,
        // The shell did not find the program, or could not run it.
        FailureKind::ExitCode(126 | 127) if stops_tool => {
            let content = texts::unusable(&occasion.hook_name, message);
            Some(no_verdict(occasion, content, false))
        }
        FailureKind::Closed | FailureKind::ExitCode(_) => None,
        FailureKind::TimedOut => {
            let seconds = registration.time_limit().as_secs_f64();
            Some(no_verdict(occasion, texts::no_verdict(&occasion.hook_name, seconds), true))
        }
        _ if is_callback => {
            let text = match blocks_on_failure(&occasion.event, registration.on_failure()) {
                true => texts::callback_failed_and_blocks,
                false => texts::callback_failed,
            };
            Some(InformationalMessage {
                tag: Some(texts::CALLBACK_FAILED_TAG.to_owned()),
                ..warning(text(&occasion.event, registration.label()))
            })
        }
        FailureKind::NotRun | FailureKind::BadOutput if registration.is_served() => {
            let content = texts::unusable(&occasion.hook_name, message);
            Some(no_verdict(occasion, content, false))
        }
        FailureKind::NotRun => {
            Some(warning(texts::not_run(&occasion.hook_name, registration.label(), message)))
        }
        FailureKind::BadOutput | FailureKind::WrongEvent if stops_tool => {
            let content = texts::unusable(&occasion.hook_name, message);
            Some(no_verdict(occasion, content, false))
        }
        FailureKind::BadOutput | FailureKind::WrongEvent => None,
    }
}

/// A hook has no opinion although it was asked for one.
fn no_verdict(occasion: &Occasion, content: String, timed_out: bool) -> InformationalMessage {
    let tool_use_id = tool_use_id(&occasion.input).cloned();
    InformationalMessage {
        tag: Some(texts::NO_VERDICT_TAG.to_owned()),
        hook_no_verdict: Some(HookNoVerdict {
            hook_event: occasion.event.clone(),
            tool_use_id: tool_use_id.map_or(Maybe::Absent, Maybe::Value),
            timed_out,
            extra: Default::default(),
        }),
        ..message_with(occasion, InformationalLevel::Warning, content)
    }
}

fn message_with(
    occasion: &Occasion,
    level: InformationalLevel,
    content: String,
) -> InformationalMessage {
    InformationalMessage {
        content,
        level,
        uuid: fresh_id().into(),
        session_id: occasion.input.base.session_id.clone(),
        ..InformationalMessage::default()
    }
}
