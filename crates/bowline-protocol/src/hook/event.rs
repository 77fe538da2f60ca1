//! The moments at which hooks run.

use crate::wire::open_enum;

open_enum! {
    /// A moment at which hooks run.
    HookEvent {
        /// Before a tool runs.
        PreToolUse = "PreToolUse",
        /// After a tool succeeded.
        PostToolUse = "PostToolUse",
        /// After a tool failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// After all parallel calls of one response, before the next request to the model.
        PostToolBatch = "PostToolBatch",
        /// The user is notified.
        Notification = "Notification",
        /// A prompt was accepted.
        UserPromptSubmit = "UserPromptSubmit",
        /// A slash command or an MCP prompt becomes a prompt.
        UserPromptExpansion = "UserPromptExpansion",
        /// A session starts, resumes, is cleared, compacted or forked.
        SessionStart = "SessionStart",
        /// A session ends.
        SessionEnd = "SessionEnd",
        /// The main agent is about to finish.
        Stop = "Stop",
        /// A turn ended on an error of the model's API.
        StopFailure = "StopFailure",
        /// A subagent starts.
        SubagentStart = "SubagentStart",
        /// A subagent is about to finish.
        SubagentStop = "SubagentStop",
        /// Before the conversation is compacted.
        PreCompact = "PreCompact",
        /// After the conversation was compacted.
        PostCompact = "PostCompact",
        /// Before a requested change of model.
        PreModelSwitch = "PreModelSwitch",
        /// After any change of model.
        PostModelSwitch = "PostModelSwitch",
        /// A permission request is about to be sent.
        PermissionRequest = "PermissionRequest",
        /// The `auto` mode refused a call.
        PermissionDenied = "PermissionDenied",
        /// Preparation or maintenance of a workspace.
        Setup = "Setup",
        /// A teammate has nothing to do.
        TeammateIdle = "TeammateIdle",
        /// An item of the task list was created.
        TaskCreated = "TaskCreated",
        /// An item of the task list was completed.
        TaskCompleted = "TaskCompleted",
        /// An MCP server requests input from the user.
        Elicitation = "Elicitation",
        /// The user responded to an MCP server.
        ElicitationResult = "ElicitationResult",
        /// A settings file changed.
        ConfigChange = "ConfigChange",
        /// A worktree is requested; the hook creates it instead of git.
        WorktreeCreate = "WorktreeCreate",
        /// A worktree is no longer wanted.
        WorktreeRemove = "WorktreeRemove",
        /// A file of instructions was loaded.
        InstructionsLoaded = "InstructionsLoaded",
        /// The working directory changed.
        CwdChanged = "CwdChanged",
        /// A watched file changed.
        FileChanged = "FileChanged",
        /// A working directory was added.
        DirectoryAdded = "DirectoryAdded",
        /// Lines of the assistant's text are ready to be shown.
        MessageDisplay = "MessageDisplay",
    }
}

impl HookEvent {
    /// Whether a matcher narrows this event; on others it is ignored and the hook always runs.
    ///
    /// The text that the matcher is compared with is [`HookInput::matcher_target`](super::HookInput::matcher_target).
    pub fn supports_matcher(&self) -> bool {
        match self {
            Self::PreToolUse
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::Notification
            | Self::UserPromptExpansion
            | Self::SessionStart
            | Self::SessionEnd
            | Self::StopFailure
            | Self::SubagentStart
            | Self::SubagentStop
            | Self::PreCompact
            | Self::PostCompact
            | Self::PreModelSwitch
            | Self::PostModelSwitch
            | Self::PermissionRequest
            | Self::PermissionDenied
            | Self::Setup
            | Self::Elicitation
            | Self::ElicitationResult
            | Self::ConfigChange
            | Self::InstructionsLoaded
            | Self::FileChanged
            | Self::DirectoryAdded => true,
            Self::PostToolBatch
            | Self::UserPromptSubmit
            | Self::Stop
            | Self::TeammateIdle
            | Self::TaskCreated
            | Self::TaskCompleted
            | Self::WorktreeCreate
            | Self::WorktreeRemove
            | Self::CwdChanged
            | Self::MessageDisplay
            | Self::Other(_) => false,
        }
    }
}
