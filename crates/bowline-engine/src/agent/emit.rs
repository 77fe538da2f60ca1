//! Messages of an agent: each is written to the transcript first, then sent.

use std::time::Duration;

use bowline_protocol::{
    AssistantMessage, InformationalLevel, TaskId, TaskProgressMessage, TaskUsage, ToolUseBlock,
    UserMessage,
};

use super::{Agent, activity::activity};
use crate::{
    clock::{millis, timestamp},
    sink::new_uuid,
};

/// The progress of a subagent.
pub(crate) struct Progress {
    pub(crate) total_tokens: u64,
    pub(crate) tool_uses: u64,
    pub(crate) elapsed: Duration,
}

impl Agent {
    /// Sends a message of the user's side of the conversation: results, nudges, marks.
    pub(crate) async fn emit_user(&self, mut message: Box<UserMessage>) {
        self.identity.sign_user(&mut message);
        message.timestamp.get_or_insert_with(timestamp);
        let uuid = message.uuid.clone().unwrap_or_else(new_uuid);
        self.session.sink.emit_notice(self.journal().user(&uuid, &message)).await;
        self.session.sink.send_as(uuid, message).await;
    }

    /// Sends a message of the model.
    pub(crate) async fn emit_assistant(&self, mut message: Box<AssistantMessage>) {
        self.identity.sign_assistant(&mut message);
        let uuid = new_uuid();
        self.session.sink.emit_notice(self.journal().assistant(&uuid, &message)).await;
        self.session.sink.send_as(uuid, message).await;
    }

    /// Writes a message of the model to the transcript without sending it.
    pub(crate) async fn record_assistant(&self, message: &AssistantMessage) {
        self.session.sink.emit_notice(self.journal().assistant(&new_uuid(), message)).await;
    }

    /// Reports that a subagent is about to use a tool.
    pub(crate) async fn report_progress(&self, call: &ToolUseBlock, progress: Progress) {
        let Some(subagent) = self.identity.subagent() else { return };
        let task_id = TaskId::from(subagent.id.as_str());
        self.session
            .sink
            .send(TaskProgressMessage {
                run_id: self.session.tasks.run_id(&task_id),
                task_id,
                tool_use_id: Some(subagent.parent.clone()),
                description: activity(call, &self.workspace)
                    .unwrap_or_else(|| subagent.description.clone()),
                subagent_type: Some(subagent.kind.clone()),
                usage: TaskUsage {
                    total_tokens: progress.total_tokens,
                    tool_uses: progress.tool_uses,
                    duration_ms: millis(progress.elapsed),
                    ..TaskUsage::default()
                },
                last_tool_name: Some(call.name.clone()),
                ..TaskProgressMessage::default()
            })
            .await;
    }

    /// Notifies the user that the model refused and continues once without that content.
    pub(crate) async fn notify_refusal(&self) {
        if !self.identity.is_main() {
            return;
        }
        let model = self.session.models.name();
        let text = format!("{model} declined to continue its response; continuing once without it");
        self.session.sink.inform(InformationalLevel::Notice, text).await;
    }
}
