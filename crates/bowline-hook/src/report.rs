//! Merged output of the hooks of one event.

use bowline_protocol::{
    ElicitationOutput, HookPermissionDecision, HookPermissionResult, InformationalMessage, RawJson,
};

use super::texts;

/// Merged output of the hooks of one event, in the order in which they are registered.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct HookReport {
    /// As what the hooks ran, as in `PreToolUse:Bash`. Empty if there were none.
    pub hook_name: String,
    /// How many hooks ran.
    pub ran: usize,
    /// What they say about running a tool or changing the model: deny wins over defer, that over
    /// ask, that over allow.
    pub verdict: Option<Verdict>,
    /// Objections, each of which is a deny as well. Before a tool or a prompt they keep it from happening; after a tool they are
    /// sent to the model; at the end of a turn they make it go on.
    pub blocks: Vec<Block>,
    /// Whether to end the turn (`continue: false`).
    pub stop: Option<StopRequest>,
    /// What to run the tool with instead. The last hook wins.
    pub updated_input: Option<RawJson>,
    /// What to take for the tool's output instead. The last hook wins.
    pub updated_output: Option<RawJson>,
    /// The same for tools of MCP servers.
    pub updated_mcp_output: Option<RawJson>,
    /// What the model should know, each from one hook.
    pub contexts: Vec<HookText>,
    /// What the classifier of the `auto` mode should know.
    pub classifier_contexts: Vec<String>,
    /// The response to a permission request, in place of the user's. A deny wins.
    pub permission: Option<HookPermissionResult>,
    /// Whether the model may try a denied call again.
    pub retry: bool,
    /// The response to an MCP server's elicitation, in place of the user's. The first hook wins.
    pub elicitation: Option<ElicitationOutput>,
    /// Whether to leave the prompt itself out.
    pub suppress_original_prompt: bool,
    /// A title for the session. The last hook wins.
    pub session_title: Option<String>,
    /// A first prompt. The last hook wins.
    pub initial_user_message: Option<String>,
    /// Files to watch from now on.
    pub watch_paths: Option<Vec<String>>,
    /// Whether to look for skills again.
    pub reload_skills: bool,
    /// Where a worktree is. The first hook wins.
    pub worktree_path: Option<String>,
    /// What to show instead of the text. The last hook wins.
    pub display_content: Option<String>,
    /// Escape sequences for the user's terminal.
    pub terminal_sequences: Vec<String>,
    /// For the user: what hooks say, and which failed. Ready to be emitted.
    pub notices: Vec<InformationalMessage>,
    /// Hooks that gave no reply or an invalid one.
    pub failures: Vec<Failure>,
    /// Hooks that answered.
    pub completed: Vec<Completed>,
    /// Whether the hooks were stopped before all had answered.
    pub cancelled: bool,
}

impl HookReport {
    /// The result for the model if the hooks block a tool.
    pub fn tool_refusal(&self) -> Option<String> {
        let block = self.blocks.first()?;
        Some(match block.kind {
            BlockKind::Objection => texts::tool_blocked(&self.hook_name, &block.reason),
            BlockKind::TimedOut | BlockKind::WrongEvent | BlockKind::HostGone => {
                block.reason.clone()
            }
        })
    }

    /// What to tell the model about each objection to what has already happened.
    pub fn objections(&self) -> impl Iterator<Item = String> {
        let text =
            |block: &Block| texts::blocking_error(&self.hook_name, &block.command, &block.reason);
        self.blocks.iter().map(text)
    }

    /// What to tell the model in addition, each ready to be shown to it.
    pub fn model_texts(&self) -> impl Iterator<Item = String> {
        self.contexts.iter().map(|context| match context {
            HookText::Context(text) => texts::additional_context(&self.hook_name, text),
            HookText::Printed(text) => texts::plain_output(&self.hook_name, text),
        })
    }

    /// The same as it came, for a prompt that they are part of.
    pub fn context_texts(&self) -> impl Iterator<Item = &str> {
        self.contexts.iter().map(|context| match context {
            HookText::Context(text) | HookText::Printed(text) => text.as_str(),
        })
    }

    /// Whether a program failed or a hook objected, which the user is notified of at the end of a
    /// turn.
    pub fn has_errors(&self) -> bool {
        let failed = |failure: &Failure| !failure.is_callback;
        !self.blocks.is_empty() || self.failures.iter().any(failed)
    }
}

/// What hooks say about running a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Allow, deny, ask or defer.
    pub decision: HookPermissionDecision,
    /// The reason that the first such hook gives.
    pub reason: Option<String>,
}

/// One objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What kind of objection.
    pub kind: BlockKind,
    /// Why.
    pub reason: String,
    /// The command that objects, or `callback`.
    pub command: String,
}

/// What kind of objection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// A hook blocks.
    Objection,
    /// A required callback did not reply in time.
    TimedOut,
    /// A hook replied for another event, so its meaning is unknown.
    WrongEvent,
    /// The host has closed its end.
    HostGone,
}

/// Something for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookText {
    /// A hook's `additionalContext`.
    Context(String),
    /// What a program printed, where that counts as context.
    Printed(String),
}

/// A hook that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// Its command, or `callback`.
    pub command: String,
    /// What it printed, where that counts as context.
    pub printed: Option<String>,
}

/// A hook wants the turn to end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopRequest {
    /// Why, for the user.
    pub reason: Option<String>,
}

/// A hook that gave no reply or an invalid one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its command, or the id of the callback.
    pub command: String,
    /// Whether it is a callback: the host itself knows.
    pub is_callback: bool,
    /// In what way it failed.
    pub kind: FailureKind,
    /// What is known about it.
    pub message: String,
}

/// In what way a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// It could not be started or called.
    NotRun,
    /// It ended with an exit code that means an error.
    ExitCode(i32),
    /// It took too long.
    TimedOut,
    /// Its reply is invalid.
    BadOutput,
    /// Its response names another event.
    WrongEvent,
    /// The host has disconnected.
    Closed,
}
