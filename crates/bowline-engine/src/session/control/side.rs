//! Control requests to the model beside the conversation: side questions and titles.

use std::sync::Arc;

use bowline_protocol::{
    ContentBlock, ControlRequestProgressMessage, Extra, GenerateSessionTitle,
    GenerateSessionTitleResponse, Maybe, MessageUuid, RequestProgress, SessionId, SideQuestion,
    SideQuestionResponse,
};
use bowline_sessions::AiTitle;
use serde_json::Value;

use super::{ControlError, ControlReply, ControlResult, RequestHandle};
use crate::{
    clock::millis,
    conversation::Conversation,
    session_context::SessionContext,
    side::{self, Retry, SideRequest},
};

/// The output limit of a side response, in tokens.
const SIDE_MAX_TOKENS: u64 = 4_096;
/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 80;
const SIDE_INSTRUCTIONS: &str = "The user has a question on the side, while the work goes on \
    without you. Answer the last message from what the conversation shows, in a few sentences. \
    You have no tools here and cannot do anything about the work itself.";
const TITLE_INSTRUCTIONS: &str = "Give the session that the user describes a title of three to \
    seven words, in the user's language. Answer with the title alone: no quotes, no period.";

pub(super) async fn side_question(
    context: &Arc<SessionContext>,
    request_handle: RequestHandle,
    request: SideQuestion,
) -> ControlResult {
    progress(context, &request_handle, RequestProgress::Started, None).await;
    let snapshot = context.model_context.snapshot();
    let mut conversation = Conversation::from_shared(snapshot.messages);
    for (question, response) in earlier(request.history.as_ref().map(|history| history.to_value()))
    {
        conversation.push_user(vec![ContentBlock::text(question)]);
        conversation.push_response(vec![ContentBlock::text(response)]);
    }
    conversation.push_user(vec![ContentBlock::text(request.question)]);
    // Another model could not verify the thinking, and a side question does not need it.
    conversation.drop_thinking();
    let response = request_text(context, &request_handle, None, SIDE_INSTRUCTIONS, &conversation);
    let response = tokio::select! {
        response = response => response?,
        () = request_handle.cancel.cancelled() => {
            return Err(ControlError::new("Side question cancelled"));
        }
    };
    let synthetic = Some(false);
    let unsent = SideQuestionResponse::default();
    Ok(ControlReply::payload(&SideQuestionResponse { response, synthetic, ..unsent }))
}

pub(super) async fn generate_session_title(
    context: &Arc<SessionContext>,
    request_handle: RequestHandle,
    request: GenerateSessionTitle,
) -> ControlResult {
    let unsent = GenerateSessionTitleResponse::default();
    if request.description.trim().is_empty() {
        return Ok(ControlReply::payload(&unsent));
    }
    let mut conversation = Conversation::default();
    conversation.push_user(vec![ContentBlock::text(request.description)]);
    let model = context.config.small_model.clone();
    let response = request_text(context, &request_handle, model, TITLE_INSTRUCTIONS, &conversation);
    let response = tokio::select! {
        response = response => response?,
        () = request_handle.cancel.cancelled() => return Err(ControlError::new("Title cancelled")),
    };
    let title = response.and_then(|text| clean_title(&text));
    if let Some(title) = title.clone().filter(|_| request.persist == Some(true)) {
        context.title.replace(Some(title.clone()));
        let line = AiTitle {
            ai_title: title.clone(),
            session_id: context.sink.session_id(),
            extra: Extra::new(),
        };
        context.sink.emit_notice(context.journal.note(line)).await;
        context.title.announce(title).await;
    }
    Ok(ControlReply::payload(&GenerateSessionTitleResponse { title, ..unsent }))
}

/// Earlier side questions and responses; entries of an unknown shape are left out.
fn earlier(history: Option<Value>) -> Vec<(String, String)> {
    let Some(Value::Array(entries)) = history else { return Vec::new() };
    let text =
        |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let pair = |entry: &Value| {
        let response = text(entry, "response").or_else(|| text(entry, "answer"));
        Some((text(entry, "question")?, response?))
    };
    entries.iter().filter_map(pair).collect()
}

/// The first line of a response, as a title.
fn clean_title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line =
        line.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '*' | '#') || c.is_whitespace());
    let title: String = line.trim_end_matches('.').chars().take(MAX_TITLE_CHARS).collect();
    (!title.is_empty()).then_some(title)
}

/// Sends a side request to a model, by default the session's; `None` for an empty response.
async fn request_text(
    context: &Arc<SessionContext>,
    request_handle: &RequestHandle,
    model: Option<String>,
    instructions: &str,
    conversation: &Conversation,
) -> Result<Option<String>, ControlError> {
    let request = SideRequest {
        messages: conversation.messages().to_vec(),
        model,
        ..SideRequest::new(instructions, Vec::new(), SIDE_MAX_TOKENS)
    };
    let retried = |retry| progress(context, request_handle, RequestProgress::ApiRetry, Some(retry));
    let response = context.side.request_with_retries(request, retried).await;
    let response = response.map_err(|error| ControlError::new(error.to_string()))?;
    Ok(Some(side::text_of(&response)).filter(|text| !text.is_empty()))
}

/// Sends the progress of a control request that has an id.
async fn progress(
    context: &SessionContext,
    request_handle: &RequestHandle,
    status: RequestProgress,
    retry: Option<Retry>,
) {
    let Some(request_id) = request_handle.id.clone() else { return };
    let mut frame = ControlRequestProgressMessage {
        request_id,
        status,
        attempt: None,
        max_retries: None,
        retry_delay_ms: None,
        error_status: Maybe::Absent,
        uuid: MessageUuid::default(),
        session_id: SessionId::default(),
        extra: Extra::new(),
    };
    if let Some(retry) = retry {
        frame.attempt = Some(retry.attempt.into());
        frame.max_retries = Some(retry.max_retries.into());
        frame.retry_delay_ms = Some(millis(retry.delay));
        frame.error_status = retry.status.map_or(Maybe::Null, Maybe::Value);
    }
    context.sink.send(frame).await;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn title_is_the_first_line_without_markup() {
        assert_eq!(clean_title("\n  \"Fix the parser.\"\nmore"), Some("Fix the parser".to_owned()));
        assert_eq!(clean_title("# **Title**"), Some("Title".to_owned()));
        assert_eq!(clean_title(" \n "), None);
    }

    #[test]
    fn invalid_history_is_left_out() {
        let history = json!([{"question": "a", "response": "b"}, {"question": "c"}, 7]);
        assert_eq!(earlier(Some(history)), [("a".to_owned(), "b".to_owned())]);
        assert_eq!(earlier(Some(json!("text"))), []);
    }
}
