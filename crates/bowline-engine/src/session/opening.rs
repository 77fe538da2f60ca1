//! What hooks hear before the first prompt and behind the last, and what they can bring about then.

use std::sync::Arc;

use bowline_protocol::{
    EventInput, Extra, HookEvent, InformationalLevel, InformationalMessage, SessionEndInput,
    SessionStartInput, SessionStartSource, SetupInput, UserMessage,
};
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::{
    command,
    identity::Identity,
    settings::HOOKS_SKIPPED,
    subagent::{self, AgentKind},
};

/// Tells hooks that the session begins. Hooks of the host come too late for this one.
pub(super) async fn session_started(session: &Arc<Shared>, cancel: &CancellationToken) {
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
        session.announce_title(title).await;
    }
    let source = if resumed.is_some() { "resume" } else { "startup" };
    let texts = session.begin(source.into(), cancel).await;
    session.live().context.extend(texts);
    session.watch();
}

/// Has hooks prepare the place where the session works, if that was asked for.
async fn set_up(session: &Shared, cancel: &CancellationToken) {
    let Some(trigger) = session.config.setup else { return };
    if session.has_hooks(HookEvent::Setup) {
        let trigger = trigger.as_str().into();
        let event = EventInput::Setup(SetupInput { trigger, extra: Extra::new() });
        let report = session.run_hooks(&Identity::Main, event, cancel).await;
        session.live().context.extend(report.model_texts());
    }
}

/// Tells hooks that the session ends.
pub(super) async fn session_ended(session: &Shared) {
    if session.config.unclaimed || !session.has_hooks(HookEvent::SessionEnd) {
        return;
    }
    let event =
        EventInput::SessionEnd(SessionEndInput { reason: "other".into(), extra: Extra::new() });
    session.run_hooks(&Identity::Main, event, &CancellationToken::new()).await;
}

impl Shared {
    /// Gives the session the model of the kind that its main agent is, unless somebody chose one, what
    /// it remembers, and the servers that it brings along. How strict a session is, and its limits, are not for a kind to say.
    pub(super) fn adopt_main_agent(&self) {
        let Some(mut kind) = self.main_kind() else { return };
        if let Some(model) = kind.model.take().filter(|_| !self.config.model_is_chosen) {
            self.live().model = model;
        }
        self.live().memory = subagent::memory_folder(&self.config.places, &kind);
        for server in subagent::startable_servers(self, &kind, "main") {
            self.set_server_policy(&server.name, &server.config);
            self.mcp.add(server);
        }
        self.apply_server_policies();
    }

    /// What the main agent is asked first, before anybody else asks. A conversation that goes on
    /// has heard it.
    pub(super) fn initial_prompt(&self) -> Option<String> {
        let new = self.config.resumed.is_none();
        self.main_kind().and_then(|kind| kind.initial_prompt).filter(|_| new)
    }

    /// The kind that the main agent is, if it is not our own.
    pub(crate) fn main_kind(&self) -> Option<AgentKind> {
        subagent::find(self, self.config.agent.as_deref()?)
    }

    /// Tells hooks that a conversation begins, and does what they ask for; returns what the model
    /// should know.
    pub(crate) async fn begin(
        &self,
        source: SessionStartSource,
        cancel: &CancellationToken,
    ) -> Vec<String> {
        if !self.has_hooks(HookEvent::SessionStart) {
            return Vec::new();
        }
        let model = (source != SessionStartSource::Clear).then(|| self.model_name());
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
        let report = self.run_hooks(&Identity::Main, event, cancel).await;
        self.heed_watch_paths(&report);
        if report.reload_skills {
            command::reload(self);
        }
        if let Some(title) = &report.session_title {
            self.set_title(title).await;
        }
        // A turn that goes on after a compaction has its prompt.
        if let Some(prompt) =
            report.initial_user_message.as_deref().filter(|_| source != SessionStartSource::Compact)
        {
            self.queue().push(UserMessage::prompt(prompt));
            self.wake.notify_one();
        }
        report.model_texts().collect()
    }
}
