//! Compaction: replaces a conversation that fills its context by a summary.
//!
//! | subject | where |
//! |---|---|
//! | triggers, and the order of steps | here |
//! | messages that are kept | [`keep`] |
//! | request for the summary | [`summary`] |
//! | message to the host, transcript entry | [`boundary`] |
//!
//! Nothing changes before the summary has arrived and the hooks have run, so a
//! compaction that fails or is interrupted leaves the conversation as it was.

mod boundary;
mod hooks;
mod keep;
mod summary;
mod texts;

use bowline_model::ModelError;
use bowline_protocol::{
    AgentStatus, CompactMetadata, CompactResult, CompactTrigger, ContentBlock, MessageUuid, Role,
    StatusMessage,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{Agent, AutoCompactions},
    clock::millis,
    context::{self, tokens},
    conversation::Conversation,
    instructions::LoadReason,
    journal::KeptTail,
};

/// After this many futile automatic compactions in a row there are no more.
const MOST_IN_VAIN: u32 = 3;
/// A compaction is futile if the conversation is full again within this many messages.
const SHORTEST_RESPITE: usize = 2;

/// Why a conversation could not be compacted. It stays as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompactError {
    /// The conversation is empty.
    #[error("There is nothing to compact yet.")]
    Empty,
    /// The model's response has no summary.
    #[error("the model gave no summary")]
    NoSummary,
    /// The model request failed.
    #[error("{0}")]
    Model(ModelError),
    /// A hook refused.
    #[error("a PreCompact hook objects to compaction: {0}")]
    Blocked(String),
    /// It was cancelled.
    #[error("interrupted")]
    Interrupted,
}

/// A completed compaction.
#[derive(Debug)]
pub(crate) struct Compacted {
    pub(crate) metadata: CompactMetadata,
    /// The last message before the boundary.
    logical_parent: Option<MessageUuid>,
    boundary: MessageUuid,
    summary: MessageUuid,
    /// The message that replaces everything before it.
    continuation: String,
    /// Messages of the hooks for the user.
    pub(crate) hook_lines: Vec<String>,
}

impl Agent {
    /// Compacts the conversation if it is nearly full.
    pub(crate) async fn compact_if_full(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), CompactError> {
        self.note_context();
        if !context::auto_compact(&self.session) {
            return Ok(());
        }
        let (threshold, _) = context::threshold(&self.session, &self.model_name());
        let given_up = self.compactions.ineffective >= MOST_IN_VAIN;
        if self.context_tokens() < threshold || !self.has_response() || given_up {
            return Ok(());
        }
        let length = self.conversation.messages().len();
        let lasted = length > self.compactions.length + SHORTEST_RESPITE;
        let compacted = self.compact(CompactTrigger::Auto, None, cancel).await;
        let fits = matches!(&compacted, Ok(done) if done.metadata.post_tokens < Some(threshold));
        self.compactions = AutoCompactions {
            ineffective: if fits && lasted { 0 } else { self.compactions.ineffective + 1 },
            length: self.conversation.messages().len(),
        };
        self.announce_compaction(&compacted?).await;
        Ok(())
    }

    /// Compacts the conversation because the API rejects it as too long; once per turn.
    pub(crate) async fn compact_overflow(&mut self, cancel: &CancellationToken) -> bool {
        if !context::auto_compact(&self.session) || !self.has_response() || !self.may_overflow() {
            return false;
        }
        match self.compact(CompactTrigger::Auto, None, cancel).await {
            Ok(compacted) => {
                self.announce_compaction(&compacted).await;
                true
            }
            Err(error) => {
                tracing::warn!(%error, "a conversation that is too long could not be compacted");
                false
            }
        }
    }

    /// Replaces the conversation by its summary. The caller announces it.
    pub(crate) async fn compact(
        &mut self,
        trigger: CompactTrigger,
        instructions: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Compacted, CompactError> {
        if self.conversation.is_empty() {
            return Err(CompactError::Empty);
        }
        let began = Instant::now();
        let is_auto = trigger == CompactTrigger::Auto;
        self.send_status(StatusMessage {
            status: Some(AgentStatus::Compacting),
            compact_output_chars: is_auto.then_some(0),
            ..StatusMessage::default()
        })
        .await;
        let compacted = self.summarize_and_replace(trigger, instructions, began, cancel).await;
        let (result, error) = match &compacted {
            Ok(_) => (CompactResult::Success, None),
            Err(error) => (CompactResult::Failed, Some(error.to_string())),
        };
        self.send_status(StatusMessage {
            compact_result: Some(result),
            compact_error: error,
            ..StatusMessage::default()
        })
        .await;
        compacted
    }

    async fn summarize_and_replace(
        &mut self,
        trigger: CompactTrigger,
        instructions: Option<&str>,
        began: Instant,
        cancel: &CancellationToken,
    ) -> Result<Compacted, CompactError> {
        let mut hooks = hooks::CompactHooks::new(self, &trigger, cancel);
        let wishes = hooks.before(instructions).await?;
        let kept = self.kept(&trigger);
        let messages = self.conversation.messages();
        let (before, after) = messages.split_at(messages.len() - kept.len());
        let response = summary::request(self, before, &wishes, cancel).await?;
        hooks.summarized(&response).await;
        let added = hooks.after(&response).await;
        if cancel.is_cancelled() {
            return Err(CompactError::Interrupted);
        }
        let hook_lines = hooks.into_lines();
        let continuation = self.continuation(&response, &trigger, kept);
        let pre_tokens = self.context_tokens();
        let mut conversation = Conversation::default();
        let first = [continuation.clone()].into_iter().chain(added);
        conversation.push_user(first.map(ContentBlock::text).collect());
        for message in after {
            match message.role {
                Role::Assistant => conversation.push_response(message.content.clone()),
                _ => conversation.push_user(message.content.clone()),
            }
        }
        self.conversation = conversation;
        let post_tokens = self.estimated_tokens();
        let metadata = CompactMetadata {
            trigger,
            pre_tokens,
            post_tokens: Some(post_tokens),
            duration_ms: Some(millis(began.elapsed())),
            cumulative_dropped_tokens: Some(self.note_dropped(pre_tokens, post_tokens)),
            ..CompactMetadata::default()
        };
        Ok(self.write_boundary(metadata, continuation, hook_lines, kept).await)
    }

    /// Adds to the number of dropped tokens.
    fn note_dropped(&self, pre_tokens: u64, post_tokens: u64) -> u64 {
        self.note_context();
        let mut compactions = self.session.model_context.compactions();
        compactions.dropped_tokens += pre_tokens.saturating_sub(post_tokens);
        if self.identity.is_main() {
            self.session.usage.ledger().set_context_tokens(post_tokens);
            // The prompt cache is invalid from here on, so files are read again at no extra cost.
            self.session.model_context.forget(LoadReason::Compact);
        }
        compactions.dropped_tokens
    }

    fn has_response(&self) -> bool {
        self.conversation.messages().iter().any(|message| message.role == Role::Assistant)
    }

    /// The size of the context: the API's last count, plus an estimate of what was added since.
    fn context_tokens(&self) -> u64 {
        let counted = match self.identity.is_main() {
            true => self.session.usage.ledger().context_tokens(),
            false => 0,
        };
        if counted == 0 {
            return self.estimated_tokens();
        }
        let newest = self.conversation.messages().last();
        let uncounted = newest.filter(|newest| newest.role == Role::User);
        counted + uncounted.map_or(0, |message| tokens::of_message(message))
    }

    fn estimated_tokens(&self) -> u64 {
        let system: u64 = self.instructions.system.iter().map(|it| tokens::of_text(it)).sum();
        let tools: u64 = self.tools.definitions().iter().map(|tool| tokens::of_tool(tool)).sum();
        system + tools + tokens::of_messages(self.conversation.messages())
    }

    /// The tail of the conversation that is kept.
    fn kept(&self, trigger: &CompactTrigger) -> KeptTail {
        let (threshold, _) = context::threshold(&self.session, &self.model_name());
        KeptTail::of(self.conversation.messages(), trigger, threshold / 2)
    }

    fn model_name(&self) -> String {
        let models = &self.session.config.models;
        let own = self.instructions.model.as_ref().and_then(|name| models.connect(name).ok());
        own.map_or_else(|| self.session.models.name(), |connected| connected.name)
    }

    /// Whether this agent has not yet been compacted for an overflow in this turn.
    fn may_overflow(&self) -> bool {
        let turn = self.session.prompt.id();
        let who = self.identity.agent_id();
        let mut compactions = self.session.model_context.compactions();
        if compactions.overflowed.0 != turn {
            compactions.overflowed = (turn, Vec::new());
        }
        let before = &mut compactions.overflowed.1;
        let first = !before.contains(&who);
        before.push(who);
        first
    }

    /// Sends the status of the main conversation; that of a subagent is not reported.
    async fn send_status(&self, status: StatusMessage) {
        if self.identity.is_main() {
            self.session.sink.send(status).await;
        }
    }
}
