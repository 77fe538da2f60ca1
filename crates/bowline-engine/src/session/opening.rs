//! Start and end of a session: hooks before the first prompt and after the last, and the main agent.

use std::sync::Arc;

use bowline_protocol::{
    EventInput, Extra, HookEvent, InformationalLevel, InformationalMessage, SessionEndInput,
    SetupInput,
};
use tokio_util::sync::CancellationToken;

use crate::{
    agent_kind::memory_folder, identity::Identity, session_context::SessionContext,
    settings::HOOKS_SKIPPED, start_hooks, subagent,
};

/// Runs the `SessionStart` hooks. Hooks of the host are registered later and do not run.
pub(super) async fn session_started(session: &Arc<SessionContext>, cancel: &CancellationToken) {
    if session.config.unclaimed {
        return;
    }
    // One of them may be a guard that the host relies on.
    let config = &session.config;
    if let Some(skipped) = config.left_out.hooks_skipped(&config.places.project) {
        session
            .sink
            .send(InformationalMessage {
                content: skipped,
                level: InformationalLevel::Warning,
                tag: Some(HOOKS_SKIPPED.to_owned()),
                ..InformationalMessage::default()
            })
            .await;
    }
    set_up(session, cancel).await;
    let resumed = session.config.resumed.as_ref();
    if let Some(title) = resumed.and_then(|resumed| resumed.title.clone()) {
        session.title.announce(title).await;
    }
    let source = if resumed.is_some() { "resume" } else { "startup" };
    let texts = start_hooks::run(session, source.into(), cancel).await;
    session.pending.add_context(texts);
    session.watch.start();
}

/// Runs the `Setup` hooks, if the configuration has a trigger.
async fn set_up(session: &SessionContext, cancel: &CancellationToken) {
    let Some(trigger) = session.config.setup else { return };
    if session.hooks.has(HookEvent::Setup) {
        let trigger = trigger.as_str().into();
        let event = EventInput::Setup(SetupInput { trigger, extra: Extra::new() });
        let report = session.hooks.run(&Identity::Main, event, cancel).await;
        session.pending.add_context(report.model_texts());
    }
}

/// Runs the `SessionEnd` hooks.
pub(super) async fn session_ended(session: &SessionContext) {
    if session.config.unclaimed || !session.hooks.has(HookEvent::SessionEnd) {
        return;
    }
    let event =
        EventInput::SessionEnd(SessionEndInput { reason: "other".into(), extra: Extra::new() });
    session.hooks.run(&Identity::Main, event, &CancellationToken::new()).await;
}

/// Gives the session the model, memory and servers of the main agent's kind. A model that was chosen
/// explicitly stays; a kind does not change permissions and limits.
pub(super) fn adopt_main_agent(session: &SessionContext) {
    let Some(mut kind) = session.kinds.main() else { return };
    if let Some(model) = kind.model.take().filter(|_| !session.config.model_is_chosen) {
        session.models.select(model);
    }
    session.permissions.set_memory(memory_folder(&session.config.places, &kind));
    for server in subagent::startable_servers(session, &kind, "main") {
        session.permissions.set_server_policy(&server.name, &server.config);
        session.mcp.add(server);
    }
    session.permissions.apply_server_policies();
}

/// The first prompt of the main agent's kind. `None` for a resumed conversation, which already has it.
pub(super) fn initial_prompt(session: &SessionContext) -> Option<String> {
    let new = session.config.resumed.is_none();
    session.kinds.main().and_then(|kind| kind.initial_prompt).filter(|_| new)
}
