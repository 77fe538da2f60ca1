//! What an agent says aloud: each frame is written down first, then sent.

use bowline_model::ModelError;
use bowline_protocol::{
    ApiMessage, AssistantError, AssistantMessage, ContentBlock, Extra, InformationalLevel,
    StopReason, TaskId, TaskProgressMessage, TaskUsage, ToolUseBlock, Usage, UserMessage,
};
use serde_json::{Value, json};

use super::{Agent, activity::activity};
use crate::{
    clock::{millis, timestamp},
    ledger,
    outlet::new_uuid,
    turn::report::Report,
};

/// The model of messages that no model made.
pub(crate) const SYNTHETIC_MODEL: &str = "<synthetic>";

impl Agent {
    /// Says what the user's side of the conversation says: results, nudges, marks.
    pub(crate) async fn say_user(&self, mut message: Box<UserMessage>) {
        self.identity.sign_user(&mut message);
        message.timestamp.get_or_insert_with(timestamp);
        let uuid = message.uuid.clone().unwrap_or_else(new_uuid);
        self.session.tell(self.journal().user(&uuid, &message)).await;
        self.session.outlet.send_as(uuid, message).await;
    }

    /// Says what the model said.
    pub(crate) async fn say_assistant(&self, mut message: Box<AssistantMessage>) {
        self.identity.sign_assistant(&mut message);
        let uuid = new_uuid();
        self.session.tell(self.journal().assistant(&uuid, &message)).await;
        self.session.outlet.send_as(uuid, message).await;
    }

    /// Writes down what the model said without saying it aloud.
    pub(crate) async fn record_assistant(&self, message: &AssistantMessage) {
        self.session.tell(self.journal().assistant(&new_uuid(), message)).await;
    }

    /// Says that a subagent is about to use a tool.
    pub(crate) async fn report_progress(
        &self,
        call: &ToolUseBlock,
        report: &Report,
        total_tokens: u64,
    ) {
        let Some(subagent) = self.identity.subagent() else { return };
        let task_id = TaskId::from(subagent.id.as_str());
        self.session
            .outlet
            .send(TaskProgressMessage {
                run_id: self.session.board.run_id(&task_id),
                task_id,
                tool_use_id: Some(subagent.parent.clone()),
                description: activity(call, &self.workspace)
                    .unwrap_or_else(|| subagent.description.clone()),
                subagent_type: Some(subagent.kind.clone()),
                usage: TaskUsage {
                    total_tokens,
                    tool_uses: report.tool_uses,
                    duration_ms: millis(report.began.elapsed()),
                    ..TaskUsage::default()
                },
                last_tool_name: Some(call.name.clone()),
                ..TaskProgressMessage::default()
            })
            .await;
    }

    /// Tells the user that the model declined and is asked to go on.
    pub(crate) async fn tell_refusal(&self) {
        if !self.identity.is_main() {
            return;
        }
        let model = self.session.model_name();
        let text = format!("{model} declined to go on with its answer; continuing once without it");
        self.session.inform(InformationalLevel::Notice, text).await;
    }
}

/// What stands in the model's place when it cannot be reached.
pub(crate) fn api_error_frame(error: &ModelError) -> AssistantMessage {
    let mut category = AssistantError::from(error.category());
    // Overload is a server's problem once it has outlasted every retry.
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
        Some(413) => format!(
            "API Error: {error}. The request is too large; leave something out, or begin anew."
        ),
        Some(429) => format!("API Error: {error}. That was too much at once; wait a moment."),
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
    frame.api_error = crate::session::api_error_name(error).map(str::to_owned);
    frame
}

/// A message in the model's place.
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

/// The usage of what no model said: it counts nothing, and nothing is known about its service.
fn no_usage() -> Usage {
    let mut usage = ledger::with_counts(Usage::default());
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
