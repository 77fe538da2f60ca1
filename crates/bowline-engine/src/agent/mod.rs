//! Agent: a conversation with a model, its tools and its identity; the main one, or a subagent.

mod activity;
mod hooks;
mod request;
mod speak;

use std::sync::{Arc, atomic::AtomicU64};

use bowline_protocol::{Effort, MessageUuid};
use bowline_tools::Workspace;

pub(crate) use self::{
    hooks::{StopVerdict, Troubled},
    speak::Progress,
};
use crate::{
    conversation::Conversation, identity::Identity, journal::Journal,
    session_context::SessionContext, toolset::Toolset,
};

/// One agent.
pub(crate) struct Agent {
    /// What all agents of the session share.
    pub(crate) session: Arc<SessionContext>,
    /// Who it is.
    pub(crate) identity: Identity,
    /// Its messages.
    pub(crate) conversation: Conversation,
    /// What it can call.
    pub(crate) tools: Arc<Toolset>,
    /// Where its tools work.
    pub(crate) workspace: Arc<Workspace>,
    /// What it is told before everything else.
    pub(crate) instructions: Instructions,
    /// The transcript of a subagent; the main agent writes to the session's.
    pub(crate) own_journal: Option<Arc<Journal>>,
    /// Prompts that joined the turn that runs.
    pub(crate) joined: Vec<MessageUuid>,
    /// Tokens it has used.
    pub(crate) tokens: Arc<AtomicU64>,
    /// How well automatic compactions of its conversation have worked.
    pub(crate) compactions: AutoCompactions,
}

impl Agent {
    pub(crate) fn journal(&self) -> &Journal {
        self.own_journal.as_deref().unwrap_or(&self.session.journal)
    }

    /// Takes the names of prompts that joined the turn.
    pub(crate) fn take_joined(&mut self) -> Vec<MessageUuid> {
        std::mem::take(&mut self.joined)
    }

    pub(crate) fn wants_structured_output(&self) -> bool {
        self.identity.is_main() && self.session.output.has_schema()
    }
}

/// How well automatic compactions of one agent's conversation have worked.
#[derive(Debug, Default)]
pub(crate) struct AutoCompactions {
    /// How many in a row did not make room.
    pub(crate) in_vain: u32,
    /// How many messages the last one left.
    pub(crate) length: usize,
}

/// What an agent is told before everything else, and by which model it thinks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Instructions {
    /// The system prompt; the main agent's is rebuilt for each turn.
    pub(crate) system: Vec<String>,
    /// The model, if it is not the session's.
    pub(crate) model: Option<String>,
    /// How hard it tries, if not as hard as the session.
    pub(crate) effort: Option<Effort>,
    /// How many round trips a turn may take.
    pub(crate) max_turns: Option<u32>,
}
