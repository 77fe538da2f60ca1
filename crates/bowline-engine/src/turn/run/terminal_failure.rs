//! Terminal failures of the model: repeated refusals and output limits.

use bowline_protocol::{
    AssistantError, AssistantMessage, ContentBlock, Maybe, ModelRefusalNoFallbackMessage, RawJson,
    StopReason,
};
use serde_json::{Value, json};

use super::TurnRun;
use crate::synthetic::synthetic;

/// The protocol's name of a response beyond the output limit.
const MAX_OUTPUT_TOKENS: &str = "max_output_tokens";

impl TurnRun<'_> {
    /// Reports a response that hit a limit after each nudge.
    pub(super) async fn fail_output_limit(&mut self) {
        let (cut, text) = match self.report.stop_reason {
            Some(StopReason::ModelContextWindowExceeded) => (
                "context_window",
                "API Error: The conversation has filled the context window of the model."
                    .to_owned(),
            ),
            _ => {
                let limit = self.agent.max_output(&self.report.model);
                let text = format!(
                    "API Error: The response is longer than the {limit} tokens that the model may \
                     write at once. The variable CLAUDE_CODE_MAX_OUTPUT_TOKENS sets how many."
                );
                ("output_limit", text)
            }
        };
        let mut frame = failure(text);
        frame.error = Some(AssistantError::MaxOutputTokens);
        frame.api_error = Some(MAX_OUTPUT_TOKENS.to_owned());
        frame.api_error_params = Some(RawJson::from(json!({ "cut": cut })));
        self.report.api_error = Some(MAX_OUTPUT_TOKENS);
        self.emit_failure(frame, MAX_OUTPUT_TOKENS).await;
    }

    /// Reports a model that refused again after the nudge.
    pub(super) async fn fail_refused(&mut self) {
        let model = self.report.model.clone();
        let refusal = self.refusal.take().unwrap_or_default();
        if self.agent.identity.is_main() {
            let refused = self.agent.session.prompt.line();
            self.send(ModelRefusalNoFallbackMessage {
                original_model: model.clone(),
                request_id: refusal.request_id.clone(),
                api_refusal_category: refusal.category,
                api_refusal_explanation: refusal.explanation.clone(),
                refused_user_message_uuid: Maybe::from(refused),
                ..ModelRefusalNoFallbackMessage::default()
            })
            .await;
        }
        let why = match refusal.explanation {
            Maybe::Value(why) => format!(": {why}"),
            Maybe::Null | Maybe::Absent => ".".to_owned(),
        };
        let mut frame = failure(format!(
            "API Error: {model} declines to answer this{why}\n\nSay it in other words, begin a new \
             session, or choose another model."
        ));
        frame.message.stop_reason = Some(StopReason::Refusal);
        frame.error = Some(AssistantError::InvalidRequest);
        frame.request_id = refusal.request_id;
        frame.refused_message_id = self.last_message_id.clone();
        self.emit_failure(frame, AssistantError::InvalidRequest.as_str()).await;
    }
}

/// The API's details of a refusal.
#[derive(Debug, Default)]
pub(super) struct ModelRefusal {
    request_id: Option<String>,
    category: Maybe<String>,
    explanation: Maybe<String>,
}

impl ModelRefusal {
    /// Reads the optional `stop_details` of the response.
    pub(super) fn new(request_id: Option<String>, details: Option<&Value>) -> Self {
        let detail = |name: &str| {
            let value = details.and_then(|details| details.get(name)).and_then(Value::as_str);
            Maybe::from(value.map(str::to_owned))
        };
        Self { request_id, category: detail("category"), explanation: detail("explanation") }
    }
}

fn failure(text: String) -> Box<AssistantMessage> {
    let mut frame = Box::new(synthetic(vec![ContentBlock::text(text)]));
    frame.is_api_error_message = Some(true);
    frame
}
