//! Refusal of a prompt by a hook: the message to the host, and the result.

use bowline_protocol::{
    InformationalLevel, InformationalMessage, Maybe, PromptSubmitOutcome, PromptSubmitOutcomeKind,
    ResultMessage,
};

use crate::{agent::Agent, catalog, result};

/// Why a prompt does not go to the model.
pub(crate) struct PromptRefusal {
    pub(crate) text: String,
    pub(crate) kind: PromptSubmitOutcomeKind,
    pub(crate) reason: Option<String>,
    pub(crate) prompt_kept: bool,
}

/// Reports that a hook refused the prompt.
pub(crate) async fn refuse(
    agent: &Agent,
    refusal: PromptRefusal,
    remarks: Vec<InformationalMessage>,
) -> ResultMessage {
    let session = &agent.session;
    session.sink.send(catalog::init(agent, &[])).await;
    for remark in remarks {
        session.sink.send(remark).await;
    }
    let undecided = refusal.kind == PromptSubmitOutcomeKind::NoVerdict;
    let outcome = PromptSubmitOutcome {
        kind: refusal.kind,
        prompt_kept: refusal.prompt_kept,
        no_verdict_kind: undecided.then(|| "callback_timed_out".to_owned()),
        reason: refusal.reason.map_or(Maybe::Absent, Maybe::Value),
        extra: Default::default(),
    };
    session
        .sink
        .send(InformationalMessage {
            content: refusal.text.clone(),
            level: InformationalLevel::Warning,
            prevent_continuation: Some(true),
            prompt_submit_outcome: Some(outcome),
            ..InformationalMessage::default()
        })
        .await;
    result::without_turn(session, refusal.text)
}
