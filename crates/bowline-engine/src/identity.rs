//! Identity of an agent: the main one, or a subagent with its parent and its kind.

use std::{path::PathBuf, sync::Arc};

use bowline_protocol::{AgentId, AssistantMessage, Maybe, PermissionMode, ToolUseId, UserMessage};
use uuid::Uuid;

/// The identity of an agent.
#[derive(Debug, Clone, Default)]
pub(crate) enum Identity {
    /// The main agent, which the host prompts.
    #[default]
    Main,
    /// A subagent, which another agent started.
    Sub(Arc<Subagent>),
}

/// The identity of a subagent.
#[derive(Debug, Default)]
pub(crate) struct Subagent {
    pub(crate) id: AgentId,
    /// Its kind, as in `general-purpose`.
    pub(crate) kind: String,
    /// A short description of its task.
    pub(crate) description: String,
    /// The call that started it.
    pub(crate) parent: ToolUseId,
    /// The number of its ancestors.
    pub(crate) depth: u32,
    /// Whether it runs in the background, while its parent continues.
    pub(crate) background: bool,
    /// Whether its text, not only its calls, is sent to the host.
    pub(crate) shows_text: bool,
    /// Its permission mode, if its kind sets one.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Its worktree, if it works in one.
    pub(crate) worktree: Option<PathBuf>,
    /// Its memory folder, if its kind has one.
    pub(crate) memory: Option<PathBuf>,
    /// Its model, if that is not the session's; its own subagents inherit it.
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

    /// Whether its caller waits for it: the host for the main agent, a parent for a subagent.
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

/// A new agent id: `a` and sixteen hexadecimal digits.
pub(crate) fn new_agent_id() -> AgentId {
    let random = Uuid::new_v4().simple().to_string();
    AgentId(format!("a{}", &random[..16]))
}
