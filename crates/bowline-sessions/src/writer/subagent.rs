//! Transcripts of a session's subagents.

use std::io;

use bowline_protocol::{AgentId, MessageUuid, ToolUseId};
use serde::Serialize;

use super::{State, TranscriptWriter, reopen::reopen};
use crate::SessionError;

/// Metadata of a subagent; a small file beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubagentMetadata {
    /// Its kind.
    pub agent_type: String,
    /// Short description of its task.
    pub description: String,
    /// The call that sent it.
    pub tool_use_id: ToolUseId,
    /// The subagent that sent it, if it was not the session's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_agent_id: Option<AgentId>,
    /// Depth of nesting.
    pub spawn_depth: u32,
}

impl TranscriptWriter {
    /// The transcript of a subagent of this session: new, or continued after `leaf`.
    pub fn subagent(
        &self,
        agent: AgentId,
        leaf: Option<MessageUuid>,
    ) -> Result<Self, SessionError> {
        let path = self.files.subagent(&agent);
        let lock = match &self.state {
            State::Open { lock, .. } => Some(lock.clone()),
            State::Unborn { lock } => lock.clone(),
            State::Failed => None,
        };
        let state = match (&self.state, lock) {
            (State::Failed, _) => State::Failed,
            (_, Some(lock)) if path.exists() => {
                let file = reopen(&path).map_err(SessionError::io(&path))?;
                State::Open { file, lock }
            }
            (_, lock) => State::Unborn { lock },
        };
        let mut writer = Self::with_state(self.files.clone(), path, self.origin.clone(), state);
        writer.agent = Some(agent);
        writer.leaf = leaf;
        writer.sync = self.sync;
        writer.mirroring = self.mirroring;
        Ok(writer)
    }

    /// Writes the metadata file of a subagent.
    pub fn describe(&self, about: &SubagentMetadata) -> io::Result<()> {
        if self.agent.is_none() || matches!(self.state, State::Failed) {
            return Ok(());
        }
        bowline_private::folder(&self.files.subagents())?;
        let path = self.path.with_extension("meta.json");
        bowline_private::write(&path, serde_json::to_vec(about)?)
    }
}
