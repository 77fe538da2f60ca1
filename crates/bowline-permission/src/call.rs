//! Tool call that a verdict is needed for.

use std::path::Path;

use bowline_protocol::HookPermissionDecision;
use bowline_tools::Access;
use serde_json::Value;

/// A tool call that has passed its checks and wants to run.
#[derive(Debug, Clone, Copy)]
pub struct ProposedCall<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input, as hooks may have changed it.
    pub input: &'a Value,
    /// What it would touch.
    pub access: &'a Access,
    /// The directory in which a command would start.
    pub current_directory: &'a Path,
    /// The opinion of the `PreToolUse` hooks, if they have one.
    pub hook: Option<&'a HookOpinion>,
    /// Whether the tool itself prompts the user.
    pub needs_person: bool,
}

/// Opinion of the `PreToolUse` hooks about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookOpinion {
    /// Their decision. `defer` ends the turn before an evaluation and has no effect here.
    pub decision: HookPermissionDecision,
    /// Why.
    pub reason: Option<String>,
    /// Where the hook is defined: `settings`, `sdk` and so on.
    pub source: String,
}
