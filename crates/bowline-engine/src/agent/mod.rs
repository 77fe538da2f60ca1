//! Agent: a conversation with a model, its tools and its identity; the main one, or a subagent.

mod activity;
mod emit;
mod hooks;
mod request;

use std::sync::{Arc, atomic::AtomicU64};

use bowline_protocol::{Effort, MessageUuid};
use bowline_tools::Workspace;

pub(crate) use self::{
    emit::Progress,
    hooks::{NotifyStopHookError, StopVerdict},
};
use crate::{
    conversation::Conversation, identity::Identity, journal::Journal,
    session_context::SessionContext, toolset::Toolset,
};

/// One agent.
pub(crate) struct Agent {
    /// The context that all agents of the session share.
    pub(crate) session: Arc<SessionContext>,
    /// Its identity: main agent or a subagent.
    pub(crate) identity: Identity,
    /// Its messages.
    pub(crate) conversation: Conversation,
    /// The tools that it can call.
    pub(crate) tools: Arc<Toolset>,
    /// The workspace of its tools.
    pub(crate) workspace: Arc<Workspace>,
    /// Its system prompt, model and limits.
    pub(crate) instructions: Instructions,
    /// The transcript of a subagent; the main agent writes to the session's.
    pub(crate) own_journal: Option<Arc<Journal>>,
    /// Prompts that joined the turn that runs.
    pub(crate) joined: Vec<MessageUuid>,
    /// Tokens it has used.
    pub(crate) tokens: Arc<AtomicU64>,
    /// The state of automatic compaction of its conversation.
    pub(crate) compactions: AutoCompactions,
}

impl Agent {
    pub(crate) fn journal(&self) -> &Journal {
        self.own_journal.as_deref().unwrap_or(&self.session.journal)
    }

    /// Takes the uuids of prompts that joined the turn.
    pub(crate) fn take_joined(&mut self) -> Vec<MessageUuid> {
        std::mem::take(&mut self.joined)
    }

    pub(crate) fn wants_structured_output(&self) -> bool {
        self.identity.is_main() && self.session.output.has_schema()
    }
}

/// The state of automatic compaction of one agent's conversation.
#[derive(Debug, Default)]
pub(crate) struct AutoCompactions {
    /// How many in a row did not free enough space.
    pub(crate) ineffective: u32,
    /// How many messages the last one left.
    pub(crate) length: usize,
}

/// An agent's system prompt, model and limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Instructions {
    /// The system prompt; the main agent's is rebuilt for each turn.
    pub(crate) system: Vec<String>,
    /// The model, if it is not the session's.
    pub(crate) model: Option<String>,
    /// The effort, if it is not the session's.
    pub(crate) effort: Option<Effort>,
    /// How many round trips a turn may take.
    pub(crate) max_turns: Option<u32>,
}
