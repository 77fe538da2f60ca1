//! One agent: a conversation with a model, the tools it has, and who it is. The main one, or a subagent.

mod activity;
mod hooks;
mod request;
mod speak;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
};

use bowline_protocol::{
    AgentId, AssistantMessage, Effort, Maybe, MessageUuid, PermissionMode, ToolUseId, UserMessage,
};
use bowline_tools::Workspace;

pub(crate) use self::{
    hooks::{BatchVerdict, StopVerdict, Troubled},
    speak::{api_error_frame, synthetic},
};
use crate::{
    compaction::Relief, conversation::Conversation, journal::Journal, session::Shared,
    toolset::Toolset,
};

/// One agent.
pub(crate) struct Agent {
    /// What all agents of the session share.
    pub(crate) session: Arc<Shared>,
    /// Who it is.
    pub(crate) identity: Identity,
    /// What was said.
    pub(crate) conversation: Conversation,
    /// What it can call.
    pub(crate) tools: Arc<Toolset>,
    /// Where its tools work.
    pub(crate) workspace: Arc<Workspace>,
    /// What it is told before everything else.
    pub(crate) instructions: Instructions,
    /// Where a subagent's words are written; the main agent's go to the session's transcript.
    pub(crate) own_journal: Option<Arc<Journal>>,
    /// Prompts that joined the turn that runs.
    pub(crate) joined: Vec<MessageUuid>,
    /// Tokens it has used.
    pub(crate) tokens: Arc<AtomicU64>,
    /// What compactions of its conversation have brought.
    pub(crate) relief: Relief,
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
        self.identity.is_main() && self.session.live().json_schema.is_some()
    }
}

/// What an agent is told before everything else, and by which model it thinks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Instructions {
    /// The system prompt; the main agent's is made anew for each turn.
    pub(crate) system: Vec<String>,
    /// The model, if it is not the session's.
    pub(crate) model: Option<String>,
    /// How hard it tries, if not as hard as the session.
    pub(crate) effort: Option<Effort>,
    /// How many round trips a turn may take.
    pub(crate) max_turns: Option<u32>,
}

/// Who an agent is.
#[derive(Debug, Clone, Default)]
pub(crate) enum Identity {
    /// The one the host talks to.
    #[default]
    Main,
    /// One that works for another.
    Sub(Arc<Subagent>),
}

/// Who a subagent is.
#[derive(Debug, Default)]
pub(crate) struct Subagent {
    pub(crate) id: AgentId,
    /// Its kind, as in `general-purpose`.
    pub(crate) kind: String,
    /// What it was sent to do, in a few words.
    pub(crate) description: String,
    /// The call that started it.
    pub(crate) parent: ToolUseId,
    /// How many agents are above it.
    pub(crate) depth: u32,
    /// Whether its parent goes on meanwhile.
    pub(crate) background: bool,
    /// Whether its words, not only its calls, are shown to the host.
    pub(crate) shows_text: bool,
    /// How strict the session is with it, if its kind says.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Its own copy of the project, if it works in one.
    pub(crate) worktree: Option<PathBuf>,
    /// Where it keeps what it learns, if its kind remembers anything.
    pub(crate) memory: Option<PathBuf>,
    /// Its model, if that is not the session's: what those it sends have, too.
    pub(crate) model: Option<String>,
}

impl Identity {
    pub(crate) fn subagent(&self) -> Option<&Subagent> {
        match self {
            Self::Main => None,
            Self::Sub(subagent) => Some(subagent),
        }
    }

    pub(crate) fn is_main(&self) -> bool {
        matches!(self, Self::Main)
    }

    /// Whether somebody waits for it: the host for the main agent, a parent for a subagent.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.subagent().is_none_or(|subagent| !subagent.background)
    }

    pub(crate) fn agent_id(&self) -> Option<AgentId> {
        self.subagent().map(|subagent| subagent.id.clone())
    }

    pub(crate) fn parent(&self) -> Option<ToolUseId> {
        self.subagent().map(|subagent| subagent.parent.clone())
    }

    /// Marks a message as this agent's.
    pub(crate) fn sign_user(&self, message: &mut UserMessage) {
        message.parent_tool_use_id = Maybe::from(self.parent());
        if let Some(subagent) = self.subagent() {
            message.agent_id = Some(subagent.id.clone());
            message.subagent_type = Some(subagent.kind.clone());
            message.task_description = Some(subagent.description.clone());
        }
    }

    /// Marks a message as this agent's.
    pub(crate) fn sign_assistant(&self, message: &mut AssistantMessage) {
        message.parent_tool_use_id = self.parent();
        if let Some(subagent) = self.subagent() {
            message.agent_id = Some(subagent.id.clone());
            message.subagent_type = Some(subagent.kind.clone());
            message.task_description = Some(subagent.description.clone());
        }
    }
}
