//! Messages to the user about a hook's reply.

use bowline_protocol::{HookEvent, HookNoVerdict, InformationalLevel, InformationalMessage, Maybe};

use super::{
    HookAction, Registration,
    event_context::{EventContext, fresh_id, tool_use_id},
    output::{HookReply, blocks_on_failure},
    report::FailureKind,
    texts,
};

/// The message to the user about one reply, if there is one.
pub(super) fn about(
    registration: &Registration,
    context: &EventContext,
    reply: &HookReply,
) -> Option<InformationalMessage> {
    match reply {
        HookReply::Output(output) => {
            let message = output.system_message.as_deref()?;
            let content = match context.event {
                // These are frequent, and nothing waits for them.
                HookEvent::MessageDisplay
                | HookEvent::SubagentStart
                | HookEvent::SubagentStop
                | HookEvent::PreCompact => return None,
                HookEvent::PreModelSwitch => message.to_owned(),
                _ => texts::system_message(&context.hook_name, message),
            };
            Some(message_with(context, InformationalLevel::Notice, content))
        }
        HookReply::Failed(kind, message) => failure(registration, context, *kind, message),
        HookReply::Printed(_) | HookReply::Objection(_) | HookReply::Detached => None,
    }
}

fn failure(
    registration: &Registration,
    context: &EventContext,
    kind: FailureKind,
    message: &str,
) -> Option<InformationalMessage> {
    let is_callback = matches!(registration.action, HookAction::Callback(_));
    let stops_tool = context.event == HookEvent::PreToolUse;
    let stops_prompt = context.event == HookEvent::UserPromptSubmit;
    let follows_tool =
        matches!(context.event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure);
    let ends_turn = matches!(context.event, HookEvent::Stop | HookEvent::SubagentStop);
    let warning = |content| message_with(context, InformationalLevel::Warning, content);
    match kind {
        // The model gets a result without the call, and the user sees that.
        FailureKind::TimedOut if is_callback && (stops_tool || stops_prompt) => None,
        // It changes nothing; the host knows, since its request was canceled.
        FailureKind::TimedOut if is_callback && follows_tool => None,
        FailureKind::TimedOut if is_callback && ends_turn => {
            let content = texts::system_message(&context.hook_name, texts::STOP_CALLBACK_TIMED_OUT);
            Some(message_with(context, InformationalLevel::Notice, content))
        }
        FailureKind::WrongEvent if is_callback && stops_tool => None,
        // The shell did not find the program, or could not run it.
        FailureKind::ExitCode(126 | 127) if stops_tool => {
            let content = texts::invalid_response(&context.hook_name, message);
            Some(no_verdict(context, content, false))
        }
        FailureKind::Closed | FailureKind::ExitCode(_) => None,
        FailureKind::TimedOut => {
            let seconds = registration.time_limit().as_secs_f64();
            Some(no_verdict(context, texts::no_verdict(&context.hook_name, seconds), true))
        }
        _ if is_callback => {
            let text = match blocks_on_failure(&context.event, registration.on_failure()) {
                true => texts::callback_failed_and_blocks,
                false => texts::callback_failed,
            };
            Some(InformationalMessage {
                tag: Some(texts::CALLBACK_FAILED_TAG.to_owned()),
                ..warning(text(&context.event, registration.label()))
            })
        }
        FailureKind::NotRun | FailureKind::BadOutput if registration.is_served() => {
            let content = texts::invalid_response(&context.hook_name, message);
            Some(no_verdict(context, content, false))
        }
        FailureKind::NotRun => {
            Some(warning(texts::not_run(&context.hook_name, registration.label(), message)))
        }
        FailureKind::BadOutput | FailureKind::WrongEvent if stops_tool => {
            let content = texts::invalid_response(&context.hook_name, message);
            Some(no_verdict(context, content, false))
        }
        FailureKind::BadOutput | FailureKind::WrongEvent => None,
    }
}

/// A hook has no opinion although it was asked for one.
fn no_verdict(context: &EventContext, content: String, timed_out: bool) -> InformationalMessage {
    let tool_use_id = tool_use_id(&context.input).cloned();
    InformationalMessage {
        tag: Some(texts::NO_VERDICT_TAG.to_owned()),
        hook_no_verdict: Some(HookNoVerdict {
            hook_event: context.event.clone(),
            tool_use_id: tool_use_id.map_or(Maybe::Absent, Maybe::Value),
            timed_out,
            extra: Default::default(),
        }),
        ..message_with(context, InformationalLevel::Warning, content)
    }
}

fn message_with(
    context: &EventContext,
    level: InformationalLevel,
    content: String,
) -> InformationalMessage {
    InformationalMessage {
        content,
        level,
        uuid: fresh_id().into(),
        session_id: context.input.base.session_id.clone(),
        ..InformationalMessage::default()
    }
}
