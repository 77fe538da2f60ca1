//! Hooks of a turn: before it ends, when it fails, and when text is displayed.

use bowline_protocol::{
    CommandState, ContentBlock, EventInput, HookEvent, InformationalLevel, MessageDisplayInput,
    MessageUuid, NotificationMessage, NotificationPriority, RunningTask, StopFailureInput,
    StopInput, SubagentStopInput, ToolUseId,
};
use bowline_tools::TaskStatus;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Agent;
use crate::{
    conversation::prompt_blocks,
    hook::{HookReport, texts as hook_texts},
    sink::lifecycle,
};

/// The verdict of the Stop hooks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StopVerdict {
    Allowed,
    /// The turn continues with this objection.
    Blocked(String),
    /// The turn continues with this context.
    Informed(String),
    /// A hook ends the turn (`continue: false`).
    Prevented,
}

/// Whether the user is to be notified that Stop hooks object or fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotifyStopHookError(pub(crate) bool);

impl Agent {
    /// Runs the `Stop` or `SubagentStop` hooks, which decide whether the turn may end.
    pub(crate) async fn stop_hooks(
        &self,
        last_text: &str,
        active: bool,
        cancel: &CancellationToken,
    ) -> (StopVerdict, NotifyStopHookError) {
        let last_assistant_message = Some(last_text.to_owned());
        let (background_tasks, session_crons) = (Some(self.running_tasks()), Some(Vec::new()));
        let (kind, event) = match self.identity.subagent() {
            None => (
                HookEvent::Stop,
                EventInput::Stop(StopInput {
                    stop_hook_active: active,
                    last_assistant_message,
                    background_tasks,
                    session_crons,
                    ..StopInput::default()
                }),
            ),
            Some(subagent) => (
                HookEvent::SubagentStop,
                EventInput::SubagentStop(SubagentStopInput {
                    stop_hook_active: active,
                    agent_transcript_path: self.session.journal.subagent_transcript(&subagent.id),
                    last_assistant_message,
                    background_tasks,
                    session_crons,
                    ..SubagentStopInput::default()
                }),
            ),
        };
        if !self.session.hooks.has(kind) {
            return (StopVerdict::Allowed, NotifyStopHookError(false));
        }
        let report = self.session.hooks.run(&self.identity, event, cancel).await;
        // Only the first time: later objections are visible in the messages to the model.
        let notify = report.has_errors() && !active && self.identity.is_main();
        (verdict(&report), NotifyStopHookError(notify))
    }

    /// Notifies the user that a hook keeps the turn from ending, or failed.
    pub(crate) async fn notify_stop_hook_error(&self) {
        let notification = NotificationMessage {
            key: hook_texts::STOP_HOOK_ERROR_KEY.to_owned(),
            text: hook_texts::STOP_HOOK_ERROR_TEXT.to_owned(),
            priority: NotificationPriority::Immediate,
            ..NotificationMessage::default()
        };
        self.session.sink.send(notification).await;
    }

    /// The background tasks that run.
    fn running_tasks(&self) -> Vec<RunningTask> {
        let tasks = self.session.workspace.tasks().list().into_iter();
        let running = tasks.filter(|it| it.backgrounded && it.status == TaskStatus::Running);
        running
            .map(|task| RunningTask {
                agent_type: self.session.tasks.agent_type(&task.id),
                id: task.id.0,
                r#type: task.kind.as_str().to_owned(),
                status: task.status.as_str().to_owned(),
                description: clipped(task.description),
                command: task.command.map(clipped),
                ..RunningTask::default()
            })
            .collect()
    }

    /// Notifies the user that a turn ends although hooks still object.
    pub(crate) async fn override_stop_hooks(&self) {
        let text = hook_texts::stop_overridden(self.session.config.stop_hook_block_cap + 1);
        self.session.sink.inform(InformationalLevel::Warning, text.clone()).await;
        let notification = NotificationMessage {
            key: hook_texts::STOP_HOOK_CAP_KEY.to_owned(),
            text,
            priority: NotificationPriority::High,
            color: Some("warning".to_owned()),
            ..NotificationMessage::default()
        };
        self.session.sink.send(notification).await;
    }

    /// Runs the `StopFailure` hooks after a failed request.
    pub(crate) async fn failure_hooks(&self, error: &str, details: &str) {
        if self.identity.is_main() && self.session.hooks.has(HookEvent::StopFailure) {
            let event = EventInput::StopFailure(StopFailureInput {
                error: error.to_owned(),
                error_details: Some(details.to_owned()),
                last_assistant_message: Some(details.to_owned()),
                ..StopFailureInput::default()
            });
            self.session.hooks.run(&self.identity, event, &CancellationToken::new()).await;
        }
    }

    /// Runs the `MessageDisplay` hooks before text is sent.
    pub(crate) async fn display_hooks(&self, text: &str, cancel: &CancellationToken) {
        if self.identity.is_main() && self.session.hooks.has(HookEvent::MessageDisplay) {
            let message_id = Uuid::new_v4().to_string();
            let about = ToolUseId(format!("{message_id}-0"));
            let event = EventInput::MessageDisplay(MessageDisplayInput {
                turn_id: self.session.prompt.turn_id(),
                message_id,
                index: 0,
                r#final: true,
                delta: text.to_owned(),
                ..MessageDisplayInput::default()
            });
            self.session.hooks.run_about(&self.identity, event, Some(&about), cancel).await;
        }
    }

    /// Dequeues prompts that came while tools ran: the model gets them with the results.
    pub(crate) async fn take_queued(
        &mut self,
        prompts: &mut Vec<MessageUuid>,
    ) -> Vec<ContentBlock> {
        if !self.identity.is_main() {
            return Vec::new();
        }
        let alone = |message: &_| self.session.commands.runs_alone(message);
        let joining = self.session.queue.take_joining(alone);
        for message in &joining {
            self.session.sink.replay_prompt(message).await;
        }
        let mut blocks = Vec::new();
        for message in joining {
            if let Some(uuid) = message.uuid.clone() {
                self.session.sink.send(lifecycle(uuid.clone(), CommandState::Started)).await;
                prompts.push(uuid.clone());
                self.joined.push(uuid);
            }
            blocks.extend(prompt_blocks(&message).into_iter().map(as_reminder));
            let uuid = message.uuid.clone().unwrap_or_else(crate::sink::new_uuid);
            self.session.sink.emit_notice(self.journal().user(&uuid, &message)).await;
        }
        blocks
    }
}

/// Truncates a long text for hooks.
fn clipped(mut text: String) -> String {
    const LONGEST: usize = 1000;
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str("… [clipped]");
    }
    text
}

/// Wraps a prompt that came during the turn, so that the model does not take it for a new task.
fn as_reminder(block: ContentBlock) -> ContentBlock {
    match block {
        ContentBlock::Text(text) => ContentBlock::text(format!(
            "<system-reminder>While you were working the user said: {}\nTake it into account and \
             go on.</system-reminder>",
            text.text
        )),
        block => block,
    }
}

fn verdict(report: &HookReport) -> StopVerdict {
    if report.stop.is_some() {
        return StopVerdict::Prevented;
    }
    let objections: Vec<_> = report.blocks.iter().map(|block| block.reason.clone()).collect();
    let context: Vec<_> = report.model_texts().collect();
    match (objections.is_empty(), context.is_empty()) {
        (false, _) => StopVerdict::Blocked(objections.join("\n")),
        (true, false) => StopVerdict::Informed(context.join("\n")),
        (true, true) => StopVerdict::Allowed,
    }
}
