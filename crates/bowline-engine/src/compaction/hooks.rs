//! Hooks around a compaction, and their messages for the user.

use std::sync::Arc;

use bowline_protocol::{
    CompactTrigger, EventInput, Extra, HookEvent, Maybe, PostCompactInput, PreCompactInput,
    SessionStartSource, SubagentStopInput,
};
use tokio_util::sync::CancellationToken;

use super::CompactError;
use crate::{
    agent::Agent,
    hook::{Completed, HookReport},
    identity::{Identity, Subagent, new_agent_id},
    session_context::SessionContext,
    start_hooks,
};

/// The hooks around one compaction. A subagent's compaction runs none.
pub(super) struct CompactHooks<'a> {
    session: Arc<SessionContext>,
    is_main: bool,
    trigger: CompactTrigger,
    cancel: &'a CancellationToken,
    lines: Vec<String>,
}

impl<'a> CompactHooks<'a> {
    pub(super) fn new(
        agent: &Agent,
        trigger: &CompactTrigger,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            session: Arc::clone(&agent.session),
            is_main: agent.identity.is_main(),
            trigger: trigger.clone(),
            cancel,
            lines: Vec::new(),
        }
    }

    /// Runs the hooks that may refuse it; returns their instructions for the summary.
    pub(super) async fn before(
        &mut self,
        instructions: Option<&str>,
    ) -> Result<Vec<String>, CompactError> {
        let mut wishes: Vec<_> = instructions.map(str::to_owned).into_iter().collect();
        let event = EventInput::PreCompact(PreCompactInput {
            trigger: self.trigger.clone(),
            custom_instructions: instructions.map_or(Maybe::Null, |it| Maybe::Value(it.to_owned())),
            extra: Extra::new(),
        });
        let Some(report) = self.run(HookEvent::PreCompact, event).await else { return Ok(wishes) };
        if let Some(block) = report.blocks.first() {
            return Err(CompactError::Blocked(block.reason.clone()));
        }
        if self.cancel.is_cancelled() {
            return Err(CompactError::Interrupted);
        }
        wishes.extend(report.context_texts().map(str::to_owned));
        Ok(wishes)
    }

    /// Runs the hooks for the end of the summary. To hosts its writer is a subagent without a kind; it
    /// has ended, so an objection has no effect.
    pub(super) async fn summarized(&mut self, summary: &str) {
        if !self.has_hooks(HookEvent::SubagentStop) {
            return;
        }
        let writer = Subagent { id: new_agent_id(), ..Subagent::default() };
        let event = EventInput::SubagentStop(SubagentStopInput {
            agent_transcript_path: self.session.journal.subagent_transcript(&writer.id),
            last_assistant_message: Some(summary.to_owned()),
            background_tasks: Some(Vec::new()),
            session_crons: Some(Vec::new()),
            ..SubagentStopInput::default()
        });
        self.session.hooks.run(&Identity::Sub(Arc::new(writer)), event, self.cancel).await;
    }

    /// Runs the hooks for the end of the compaction; returns the context that they add.
    pub(super) async fn after(&mut self, summary: &str) -> Vec<String> {
        let added = match self.is_main {
            true => start_hooks::run(&self.session, SessionStartSource::Compact, self.cancel).await,
            false => Vec::new(),
        };
        let event = EventInput::PostCompact(PostCompactInput {
            trigger: self.trigger.clone(),
            compact_summary: summary.to_owned(),
            extra: Extra::new(),
        });
        self.run(HookEvent::PostCompact, event).await;
        added
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }

    /// Whether there are hooks for an event of this compaction.
    fn has_hooks(&self, kind: HookEvent) -> bool {
        self.is_main && self.session.hooks.has(kind)
    }

    async fn run(&mut self, kind: HookEvent, event: EventInput) -> Option<HookReport> {
        if !self.has_hooks(kind.clone()) {
            return None;
        }
        let report = self.session.hooks.run(&Identity::Main, event, self.cancel).await;
        self.lines.extend(report.completed.iter().map(|Completed { command, printed }| {
            let printed = printed.as_ref().map_or_else(String::new, |text| format!(": {text}"));
            format!("{kind} [{command}] completed successfully{printed}")
        }));
        let failed = report.failures.iter();
        self.lines
            .extend(failed.map(|it| format!("{kind} [{}] failed: {}", it.command, it.message)));
        Some(report)
    }
}
