//! Prompt hooks: a model decides whether a condition holds.

use std::sync::Arc;

use bowline_model::ModelMessage;
use bowline_protocol::{ContentBlock, HookEvent, PromptHook, RawJson};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    hook::HookCallError,
    hooking::SessionServices,
    side::{self, SideRequest},
};

/// The output limit: a yes or no and a sentence, in tokens.
const MAX_ANSWER: u64 = 2_048;

const INSTRUCTIONS: &str = "You check a condition for an agent at work. The last message says what \
    the condition is and what it is about. Answer with one JSON object and nothing else: \
    {\"ok\": true} if the condition holds, {\"ok\": false, \"reason\": \"...\"} with one sentence \
    if it does not.";

/// A model's decision about a condition.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub(super) struct Judgment {
    /// Whether the condition holds.
    pub(super) ok: bool,
    /// Why it does not.
    pub(super) reason: Option<String>,
}

impl Judgment {
    /// The judgment in a response, if it has one. Models often wrap it in other text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let json = text.get(text.find('{')?..=text.rfind('}')?)?;
        serde_json::from_str(json).ok()
    }

    pub(super) fn reason(&self) -> &str {
        self.reason.as_deref().unwrap_or("the condition does not hold")
    }
}

/// Requests a judgment; returns the output of a hook.
pub(super) async fn judge(
    services: &SessionServices,
    hook: &PromptHook,
    event: &HookEvent,
    input: &RawJson,
) -> Result<String, HookCallError> {
    let mut request = SideRequest::new(INSTRUCTIONS, asked(&hook.prompt, input), MAX_ANSWER);
    request.model = hook.model.clone();
    let ends = matches!(event, HookEvent::Stop | HookEvent::SubagentStop);
    if *event == HookEvent::Stop {
        // Only the whole conversation shows whether the work is done.
        let context = services.context.upgrade().ok_or(HookCallError::Closed)?;
        let mut said = context.snapshot().messages;
        said.push(Arc::new(ModelMessage::user(asked(&hook.prompt, input))));
        request.messages = said;
    }
    let answer = services.side.request(request).await;
    let answer = answer.map_err(|error| HookCallError::Refused(error.to_string()))?;
    let text = side::text_of(&answer);
    let judgment = Judgment::read(&text)
        .ok_or_else(|| HookCallError::Refused(format!("no judgment in the answer: {text}")))?;
    if judgment.ok {
        return Ok(String::new());
    }
    let reason = judgment.reason();
    let mut output = json!({"decision": "block", "reason": format!("[{}]: {reason}", hook.prompt)});
    // At the end of a turn an objection sends the model back to work; elsewhere it ends the turn.
    if !ends && hook.continue_on_block != Some(true) {
        output["continue"] = false.into();
        output["stopReason"] = reason.into();
    }
    Ok(output.to_string())
}

/// The prompt: the hook's text, and the input of the event.
pub(super) fn asked(prompt: &str, input: &RawJson) -> Vec<ContentBlock> {
    const PLACE: &str = "$ARGUMENTS";
    match prompt.contains(PLACE) {
        true => vec![ContentBlock::text(prompt.replace(PLACE, input.get()))],
        false => vec![
            ContentBlock::text(format!("What it is about: {}", input.get())),
            ContentBlock::text(prompt),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgment_may_be_wrapped() {
        let no = Judgment { ok: false, reason: Some("tests fail".to_owned()) };
        let wrapped = "Here:\n```json\n{\"ok\": false, \"reason\": \"tests fail\"}\n```";
        assert_eq!(Judgment::read(wrapped), Some(no));
        assert_eq!(Judgment::read("{\"ok\": true}"), Some(Judgment { ok: true, reason: None }));
        for nonsense in ["yes", "}{", "{\"fine\": true}"] {
            assert_eq!(Judgment::read(nonsense), None, "{nonsense}");
        }
    }
}
