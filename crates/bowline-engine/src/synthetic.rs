//! Assistant messages that the engine writes itself: failed requests, local commands.

use bowline_model::{ErrorKind, ModelError};
use bowline_protocol::{
    ApiMessage, AssistantError, AssistantMessage, ContentBlock, Extra, StopReason, Usage,
};
use serde_json::{Value, json};

use crate::{clock::timestamp, sink::new_uuid, usage};

/// The model name of messages that no model wrote.
pub(crate) const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The message that reports a failed model request.
pub(crate) fn api_error_frame(error: &ModelError) -> AssistantMessage {
    let mut category = AssistantError::from(error.category());
    // An overload that outlasts every retry is reported as a server error.
    if category == AssistantError::Overloaded || error.status.is_none() {
        category = AssistantError::ServerError;
    }
    if error.is_context_overflow() {
        category = AssistantError::InvalidRequest;
    }
    let text = match error.status {
        _ if error.is_context_overflow() => "Prompt is too long".to_owned(),
        Some(401 | 403) => format!("Failed to authenticate. API Error: {error}"),
        Some(404) => format!(
            "API Error: {error}. The model may not exist there, or not for you; choose another one."
        ),
        Some(413) => {
            format!("API Error: {error}. Shorten the conversation or start a new session.")
        }
        Some(429) => format!("API Error: {error}. Rate limited; retry later."),
        Some(500..) => format!(
            "API Error: {error}. The server has a problem, which usually passes; try again in a \
             moment."
        ),
        _ => format!("API Error: {error}"),
    };
    let mut frame = synthetic(vec![ContentBlock::text(text)]);
    frame.message.stop_reason = Some(StopReason::StopSequence);
    frame.error = Some(category);
    frame.is_api_error_message = Some(true);
    frame.request_id = error.request_id.clone();
    frame.api_error_status = error.status;
    frame.api_error_type = error.api_type.clone();
    frame.api_error = api_error_name(error).map(str::to_owned);
    frame
}

/// An assistant message that no model wrote.
pub(crate) fn synthetic(content: Vec<ContentBlock>) -> AssistantMessage {
    AssistantMessage {
        message: ApiMessage {
            id: new_uuid().0,
            model: SYNTHETIC_MODEL.to_owned(),
            content,
            stop_reason: Some(StopReason::StopSequence),
            stop_sequence: Some(String::new()),
            usage: no_usage(),
            extra: nulls(&["container", "context_management", "diagnostics", "stop_details"]),
            ..ApiMessage::default()
        },
        timestamp: Some(timestamp()),
        ..AssistantMessage::default()
    }
}

/// The usage of a message that no model wrote: zero tokens, and an unknown service.
fn no_usage() -> Usage {
    let mut usage = usage::with_counts(Usage::default());
    let none = json!({
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    });
    usage.extra = none.as_object().cloned().unwrap_or_default().into();
    usage.extra.extend(nulls(&[
        "fallback_credit",
        "inference_geo",
        "iterations",
        "output_tokens_details",
        "service_tier",
        "speed",
    ]));
    usage
}

fn nulls(names: &[&str]) -> Extra {
    names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect()
}

/// The protocol's name for failures that never reached the API.
pub(crate) fn api_error_name(error: &ModelError) -> Option<&'static str> {
    match error.kind {
        ErrorKind::Connection | ErrorKind::Timeout => Some("connection_failed"),
        _ => None,
    }
}
