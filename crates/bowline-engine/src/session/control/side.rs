//! Control requests to the model beside the conversation: side questions and titles.

use std::sync::Arc;

use bowline_protocol::{
    ContentBlock, ControlRequestProgressMessage, Extra, GenerateSessionTitle,
    GenerateSessionTitleResponse, Maybe, MessageUuid, RequestProgress, SessionId, SideQuestion,
    SideQuestionResponse,
};
use bowline_sessions::AiTitle;
use serde_json::Value;

use super::{Answered, Asked, ControlError, ControlReply};
use crate::{
    clock::millis,
    conversation::Conversation,
    session_context::SessionContext,
    side::{self, Retry, SideRequest},
};

/// The most a side answer may be long, in tokens.
const SIDE_ANSWER: u64 = 4_096;
/// The most a title may be long, in characters.
const LONGEST_TITLE: usize = 80;
const SIDE_INSTRUCTIONS: &str = "The user has a question on the side, while the work goes on \
    without you. Answer the last message from what the conversation shows, in a few sentences. \
    You have no tools here and cannot do anything about the work itself.";
const TITLE_INSTRUCTIONS: &str = "Give the session that the user describes a title of three to \
    seven words, in the user's language. Answer with the title alone: no quotes, no period.";

pub(super) async fn side_question(
    context: &Arc<SessionContext>,
    asked: Asked,
    request: SideQuestion,
) -> Answered {
    progress(context, &asked, RequestProgress::Started, None).await;
    let snapshot = context.model_context.snapshot();
    let mut conversation = Conversation::from_shared(snapshot.messages);
    for (question, answer) in earlier(request.history.as_ref().map(|history| history.to_value())) {
        conversation.push_user(vec![ContentBlock::text(question)]);
        conversation.push_response(vec![ContentBlock::text(answer)]);
    }
    conversation.push_user(vec![ContentBlock::text(request.question)]);
    // Another model could not verify the reasoning, and this one does not need it.
    conversation.drop_thinking();
    let answer = ask(context, &asked, None, SIDE_INSTRUCTIONS, &conversation);
    let response = tokio::select! {
        answer = answer => answer?,
        () = asked.cancel.cancelled() => {
            return Err(ControlError::new("Side question cancelled"));
        }
    };
    let synthetic = Some(false);
    let unsent = SideQuestionResponse::default();
    Ok(ControlReply::payload(&SideQuestionResponse { response, synthetic, ..unsent }))
}

pub(super) async fn generate_session_title(
    context: &Arc<SessionContext>,
    asked: Asked,
    request: GenerateSessionTitle,
) -> Answered {
    let unsent = GenerateSessionTitleResponse::default();
    if request.description.trim().is_empty() {
        return Ok(ControlReply::payload(&unsent));
    }
    let mut conversation = Conversation::default();
    conversation.push_user(vec![ContentBlock::text(request.description)]);
    let model = context.config.small_model.clone();
    let answer = ask(context, &asked, model, TITLE_INSTRUCTIONS, &conversation);
    let answer = tokio::select! {
        answer = answer => answer?,
        () = asked.cancel.cancelled() => return Err(ControlError::new("Title cancelled")),
    };
    let title = answer.and_then(|text| clean_title(&text));
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

/// Earlier questions and answers, as far as they are in a shape that we know.
fn earlier(history: Option<Value>) -> Vec<(String, String)> {
    let Some(Value::Array(entries)) = history else { return Vec::new() };
    let text =
        |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let pair = |entry: &Value| {
        let answer = text(entry, "response").or_else(|| text(entry, "answer"));
        Some((text(entry, "question")?, answer?))
    };
    entries.iter().filter_map(pair).collect()
}

/// The first line of an answer, as a title.
fn clean_title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line =
        line.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '*' | '#') || c.is_whitespace());
    let title: String = line.trim_end_matches('.').chars().take(LONGEST_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

/// Asks a model, the session's if none is named; `None` if it says nothing.
async fn ask(
    context: &Arc<SessionContext>,
    asked: &Asked,
    model: Option<String>,
    instructions: &str,
    conversation: &Conversation,
) -> Result<Option<String>, ControlError> {
    let request = SideRequest {
        messages: conversation.messages().to_vec(),
        model,
        ..SideRequest::new(instructions, Vec::new(), SIDE_ANSWER)
    };
    let retried = |retry| progress(context, asked, RequestProgress::ApiRetry, Some(retry));
    let answer = context.side.request_with_retries(request, retried).await;
    let answer = answer.map_err(|error| ControlError::new(error.to_string()))?;
    Ok(Some(side::text_of(&answer)).filter(|text| !text.is_empty()))
}

/// Tells the host how its question goes on, if the question has a name.
async fn progress(
    context: &SessionContext,
    asked: &Asked,
    status: RequestProgress,
    retry: Option<Retry>,
) {
    let Some(request_id) = asked.id.clone() else { return };
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
    fn a_title_is_the_first_line_without_its_clothes() {
        assert_eq!(clean_title("\n  \"Fix the parser.\"\nmore"), Some("Fix the parser".to_owned()));
        assert_eq!(clean_title("# **Title**"), Some("Title".to_owned()));
        assert_eq!(clean_title(" \n "), None);
    }

    #[test]
    fn history_that_makes_no_sense_is_left_out() {
        let history = json!([{"question": "a", "response": "b"}, {"question": "c"}, 7]);
        assert_eq!(earlier(Some(history)), [("a".to_owned(), "b".to_owned())]);
        assert_eq!(earlier(Some(json!("text"))), []);
    }
}
