//! `SessionStart` hooks: run when a conversation begins, is cleared or compacted.

use bowline_protocol::{
    EventInput, Extra, HookEvent, SessionStartInput, SessionStartSource, UserMessage,
};
use tokio_util::sync::CancellationToken;

use crate::{identity::Identity, session_context::SessionContext};

/// Runs the hooks of a conversation that begins, and applies their outputs; returns texts for the
/// model.
pub(crate) async fn run(
    session: &SessionContext,
    source: SessionStartSource,
    cancel: &CancellationToken,
) -> Vec<String> {
    if !session.hooks.has(HookEvent::SessionStart) {
        return Vec::new();
    }
    let model = (source != SessionStartSource::Clear).then(|| session.models.name());
    let event = EventInput::SessionStart(SessionStartInput {
        source: source.clone(),
        model,
        session_title: None,
        seconds_since_last_response: None,
        context_tokens: None,
        prompt_cache_likely_expired: None,
        estimated_cache_write_usd: None,
        extra: Extra::new(),
    });
    let report = session.hooks.run(&Identity::Main, event, cancel).await;
    session.watch.follow(&report);
    if report.reload_skills {
        session.commands.reload();
    }
    if let Some(title) = &report.session_title {
        session.title.set(title).await;
    }
    // A turn that continues after a compaction already has its prompt.
    if let Some(prompt) =
        report.initial_user_message.as_deref().filter(|_| source != SessionStartSource::Compact)
    {
        session.queue.push(UserMessage::prompt(prompt));
        session.turn.wake.notify_one();
    }
    report.model_texts().collect()
}
