//! System messages: status of the session and its work, distinguished by `subtype`.

mod compact;
mod fallback;
mod hook;
mod init;
mod notice;
mod permission;
mod session;
mod status;
mod task;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::Message;
use crate::{raw::RawJson, wire::read_by_tag};

pub use compact::*;
pub use fallback::*;
pub use hook::*;
pub use init::*;
pub use notice::*;
pub use permission::*;
pub use session::*;
pub use status::*;
pub use task::*;

/// News about the session and its work.
///
/// `SystemMessage::from` and `Message::from` take any of its messages as they are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SystemMessage {
    /// The agent introduces itself.
    Init(Box<InitMessage>),
    /// Activity of the agent.
    Status(Box<StatusMessage>),
    /// The conversation was summarized.
    CompactBoundary(Box<CompactBoundaryMessage>),
    /// A request to the model will be sent again.
    ApiRetry(Box<ApiRetryMessage>),
    /// Output of a slash command.
    LocalCommandOutput(Box<LocalCommandOutputMessage>),
    /// Summary of a turn.
    PostTurnSummary(Box<PostTurnSummaryMessage>),
    /// A hook begins.
    HookStarted(Box<HookStartedMessage>),
    /// Output of a running hook.
    HookProgress(Box<HookProgressMessage>),
    /// A hook is done.
    HookResponse(Box<HookResponseMessage>),
    /// A task begins.
    TaskStarted(Box<TaskStartedMessage>),
    /// Progress of a task.
    TaskProgress(Box<TaskProgressMessage>),
    /// Something about a task changed.
    TaskUpdated(Box<TaskUpdatedMessage>),
    /// A task has ended.
    TaskNotification(Box<TaskNotificationMessage>),
    /// Summary of a task.
    TaskSummary(Box<TaskSummaryMessage>),
    /// List of background tasks.
    BackgroundTasksChanged(Box<BackgroundTasksChangedMessage>),
    /// The session begins or ends its work.
    SessionStateChanged(Box<SessionStateChangedMessage>),
    /// The session has a new title.
    SessionTitleChanged(Box<SessionTitleChangedMessage>),
    /// Facts about the session.
    SessionMetadata(Box<SessionMetadataMessage>),
    /// The session is not saved.
    SessionWritesLost(Box<SessionWritesLostMessage>),
    /// Files were stored.
    FilesPersisted(Box<FilesPersistedMessage>),
    /// An elicitation is complete.
    ElicitationComplete(Box<ElicitationCompleteMessage>),
    /// Progress of a control request that takes long.
    ControlRequestProgress(Box<ControlRequestProgressMessage>),
    /// Another model takes over.
    ModelFallback(Box<ModelFallbackMessage>),
    /// The model refused; another takes over.
    ModelRefusalFallback(Box<ModelRefusalFallbackMessage>),
    /// The model refused; no other takes over.
    ModelRefusalNoFallback(Box<ModelRefusalNoFallbackMessage>),
    /// A plugin is being installed.
    PluginInstall(Box<PluginInstallMessage>),
    /// Thinking tokens so far.
    ThinkingTokens(Box<ThinkingTokensMessage>),
    /// The process will end.
    WorkerShuttingDown(Box<WorkerShuttingDownMessage>),
    /// The slash commands have changed.
    CommandsChanged(Box<CommandsChangedMessage>),
    /// Something to show for a while.
    Notification(Box<NotificationMessage>),
    /// The agent remembered something.
    MemoryRecall(Box<MemoryRecallMessage>),
    /// A tool call was denied without asking.
    PermissionDenied(Box<PermissionDeniedMessage>),
    /// The transcript could not be copied.
    MirrorError(Box<MirrorErrorMessage>),
    /// Something the user should know.
    Informational(Box<InformationalMessage>),
    /// A subtype this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(SystemMessage, Subtype, in boxes, {
    "init" => Init,
    "status" => Status,
    "compact_boundary" => CompactBoundary,
    "api_retry" => ApiRetry,
    "local_command_output" => LocalCommandOutput,
    "post_turn_summary" => PostTurnSummary,
    "hook_started" => HookStarted,
    "hook_progress" => HookProgress,
    "hook_response" => HookResponse,
    "task_started" => TaskStarted,
    "task_progress" => TaskProgress,
    "task_updated" => TaskUpdated,
    "task_notification" => TaskNotification,
    "task_summary" => TaskSummary,
    "background_tasks_changed" => BackgroundTasksChanged,
    "session_state_changed" => SessionStateChanged,
    "session_title_changed" => SessionTitleChanged,
    "session_metadata" => SessionMetadata,
    "session_writes_lost" => SessionWritesLost,
    "files_persisted" => FilesPersisted,
    "elicitation_complete" => ElicitationComplete,
    "control_request_progress" => ControlRequestProgress,
    "model_fallback" => ModelFallback,
    "model_refusal_fallback" => ModelRefusalFallback,
    "model_refusal_no_fallback" => ModelRefusalNoFallback,
    "plugin_install" => PluginInstall,
    "thinking_tokens" => ThinkingTokens,
    "worker_shutting_down" => WorkerShuttingDown,
    "commands_changed" => CommandsChanged,
    "notification" => Notification,
    "memory_recall" => MemoryRecall,
    "permission_denied" => PermissionDenied,
    "mirror_error" => MirrorError,
    "informational" => Informational,
});

impl SystemMessage {
    /// Writes the message with its `type`, which an unknown one already has.
    pub(super) fn write_with_type<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown(raw) => raw.serialize(to),
            known => Typed::System(known).serialize(to),
        }
    }
}

/// A system message as it stands on a line.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Typed<'a> {
    System(&'a SystemMessage),
}

/// Makes each payload a value of both its enums.
macro_rules! into_message {
    ($($variant:ident($payload:ty)),* $(,)?) => {$(
        impl From<$payload> for SystemMessage {
            fn from(message: $payload) -> Self {
                Self::$variant(message.into())
            }
        }

        impl From<$payload> for Message {
            fn from(message: $payload) -> Self {
                Self::System(message.into())
            }
        }
    )*};
}

into_message! {
    Init(InitMessage),
    Status(StatusMessage),
    CompactBoundary(CompactBoundaryMessage),
    ApiRetry(ApiRetryMessage),
    LocalCommandOutput(LocalCommandOutputMessage),
    PostTurnSummary(PostTurnSummaryMessage),
    HookStarted(HookStartedMessage),
    HookProgress(HookProgressMessage),
    HookResponse(HookResponseMessage),
    TaskStarted(TaskStartedMessage),
    TaskProgress(TaskProgressMessage),
    TaskUpdated(TaskUpdatedMessage),
    TaskNotification(TaskNotificationMessage),
    TaskSummary(TaskSummaryMessage),
    BackgroundTasksChanged(BackgroundTasksChangedMessage),
    SessionStateChanged(SessionStateChangedMessage),
    SessionTitleChanged(SessionTitleChangedMessage),
    SessionMetadata(SessionMetadataMessage),
    SessionWritesLost(SessionWritesLostMessage),
    FilesPersisted(FilesPersistedMessage),
    ElicitationComplete(ElicitationCompleteMessage),
    ControlRequestProgress(ControlRequestProgressMessage),
    ModelFallback(ModelFallbackMessage),
    ModelRefusalFallback(ModelRefusalFallbackMessage),
    ModelRefusalNoFallback(ModelRefusalNoFallbackMessage),
    PluginInstall(PluginInstallMessage),
    ThinkingTokens(ThinkingTokensMessage),
    WorkerShuttingDown(WorkerShuttingDownMessage),
    CommandsChanged(CommandsChangedMessage),
    Notification(NotificationMessage),
    MemoryRecall(MemoryRecallMessage),
    PermissionDenied(PermissionDeniedMessage),
    MirrorError(MirrorErrorMessage),
    Informational(InformationalMessage),
}
