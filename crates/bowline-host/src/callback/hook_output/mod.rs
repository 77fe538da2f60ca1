//! Output of a hook, independent of the event. Its form on the wire is in
//! `event`.

mod event;
#[cfg(test)]
mod tests;

use std::time::Duration;

use bowline_protocol::{
    self as wire, AsyncHookOutput, ElicitationResponse, HookSpecificOutput, PermissionUpdate,
    RawJson,
};
use serde::Serialize;

/// Output of a hook. The default is no opinion.
///
/// The same output has another form for every event: [`deny`](Self::deny) refuses a tool call
/// before it runs, a prompt when it is submitted, and the end of the work when the agent wants
/// to stop. Fields that do not apply to an event are left out, with a warning in the log.
///
/// ```
/// use bowline_host::{
///     HookOutput,
///     protocol::{HookSpecificOutput, SessionStartOutput},
/// };
/// use serde_json::json;
///
/// # fn main() -> serde_json::Result<()> {
/// let no = HookOutput::deny("not on a Friday");
/// let other_input = HookOutput::allow().with_input(&json!({"command": "ls -l"}))?;
/// let know_this = HookOutput::context("The tests are slow today.").suppress_output();
/// // The output for one event can also be given in its wire form.
/// let mut start = SessionStartOutput::default();
/// start.session_title = Some("Knots".to_owned());
/// let titled = HookOutput::from(HookSpecificOutput::SessionStart(start));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    verdict: Option<Verdict>,
    reason: Option<String>,
    interrupt: Option<bool>,
    stop: Option<String>,
    context: Option<String>,
    classifier_context: Option<String>,
    updated_input: Option<RawJson>,
    updated_output: Option<RawJson>,
    updated_mcp_output: Option<RawJson>,
    updated_permissions: Option<Vec<PermissionUpdate>>,
    retry: Option<bool>,
    elicited: Option<ElicitationResponse>,
    initial_user_message: Option<String>,
    session_title: Option<String>,
    suppress_original_prompt: Option<bool>,
    reload_skills: Option<bool>,
    watch_paths: Option<Vec<String>>,
    worktree_path: Option<String>,
    display_content: Option<String>,
    system_message: Option<String>,
    terminal_sequence: Option<String>,
    suppress_output: Option<bool>,
    specific: Option<HookSpecificOutput>,
    whole: Option<wire::HookOutput>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Allow,
    Deny,
    Ask,
    Defer,
}

/// What a hook wants.
impl HookOutput {
    /// Allows the call without a permission request.
    pub fn allow() -> Self {
        Self { verdict: Some(Verdict::Allow), ..Self::default() }
    }

    /// Yes, and with these changes no further prompt is needed. For `PermissionRequest`, whose input
    /// may suggest some.
    pub fn allow_from_now_on(changes: Vec<PermissionUpdate>) -> Self {
        Self { updated_permissions: Some(changes), ..Self::allow() }
    }

    /// Denies the call; the model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { verdict: Some(Verdict::Deny), reason: Some(reason.into()), ..Self::default() }
    }

    /// No, and the turn ends.
    pub fn deny_and_stop(reason: impl Into<String>) -> Self {
        Self { interrupt: Some(true), ..Self::deny(reason) }
    }

    /// The same as [`deny`](Self::deny), as the word is for prompts, results and stops.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::deny(reason)
    }

    /// Prompt the user, even if a rule would allow it.
    pub fn ask() -> Self {
        Self { verdict: Some(Verdict::Ask), ..Self::default() }
    }

    /// Not now: the agent ends its turn with a result that names the call, to be decided
    /// about later. When the session is resumed the hook is called again, and then the call is made.
    pub fn defer() -> Self {
        Self { verdict: Some(Verdict::Defer), ..Self::default() }
    }

    /// Continue, and add this to the model's context.
    pub fn context(text: impl Into<String>) -> Self {
        Self::default().with_context(text)
    }

    /// Stops the agent; the user sees the reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self { stop: Some(reason.into()), ..Self::default() }
    }

    /// Continue; this hook works on by itself and its output does not matter.
    ///
    /// ```
    /// use bowline_host::{HookCall, HookMatcher, HookOutput};
    ///
    /// let log = HookMatcher::always().run(async |call: HookCall| {
    ///     tokio::spawn(async move { println!("{}", call.input.event_name()) });
    ///     HookOutput::in_background()
    /// });
    /// ```
    pub fn in_background() -> Self {
        Self::background(None)
    }

    /// The same for work that may take this long.
    pub fn in_background_within(limit: Duration) -> Self {
        Self::background(Some(limit))
    }

    fn background(limit: Option<Duration>) -> Self {
        let limit = limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).into());
        Self::from(wire::HookOutput::Async(AsyncHookOutput {
            r#async: true,
            async_timeout: limit,
            ..AsyncHookOutput::default()
        }))
    }

    /// Let the model know that it may retry what the `auto` mode refused (`PermissionDenied`).
    pub fn retry() -> Self {
        Self { retry: Some(true), ..Self::default() }
    }

    /// Respond to an MCP server on behalf of the user (`Elicitation`), or other than the user did
    /// (`ElicitationResult`).
    ///
    /// ```
    /// use bowline_host::{ElicitationResponse, HookOutput};
    /// use serde_json::json;
    ///
    /// let ada = HookOutput::answer(ElicitationResponse::accept(json!({"name": "Ada"}).into()));
    /// ```
    pub fn answer(response: ElicitationResponse) -> Self {
        Self { elicited: Some(response), ..Self::default() }
    }

    /// The worktree that is wanted is here (`WorktreeCreate`).
    pub fn worktree(path: impl Into<String>) -> Self {
        Self { worktree_path: Some(path.into()), ..Self::default() }
    }

    /// Show the user this text instead of the model's (`MessageDisplay`).
    pub fn display(text: impl Into<String>) -> Self {
        Self { display_content: Some(text.into()), ..Self::default() }
    }
}

/// What a hook wants beside that, on every event.
impl HookOutput {
    /// Gives a reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Shows the user something.
    #[must_use]
    pub fn with_system_message(mut self, text: impl Into<String>) -> Self {
        self.system_message = Some(text.into());
        self
    }

    /// Sends the user's terminal an escape sequence: a title, a bell, a notification.
    #[must_use]
    pub fn with_terminal_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.terminal_sequence = Some(sequence.into());
        self
    }

    /// Hides what the hook printed.
    #[must_use]
    pub fn suppress_output(mut self) -> Self {
        self.suppress_output = Some(true);
        self
    }
}

/// What a hook wants beside that, on some events.
impl HookOutput {
    /// Lets the model know something.
    #[must_use]
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Lets the classifier of the `auto` mode know something (`PostToolUse`).
    #[must_use]
    pub fn with_classifier_context(mut self, text: impl Into<String>) -> Self {
        self.classifier_context = Some(text.into());
        self
    }

    /// Runs the tool with this input instead of the model's.
    pub fn with_input(mut self, input: &impl Serialize) -> serde_json::Result<Self> {
        self.updated_input = Some(RawJson::from_value(input)?);
        Ok(self)
    }

    /// Shows the model this instead of the tool's output.
    pub fn with_tool_output(mut self, output: &impl Serialize) -> serde_json::Result<Self> {
        self.updated_output = Some(RawJson::from_value(output)?);
        Ok(self)
    }

    /// The same for tools of MCP servers.
    pub fn with_mcp_tool_output(mut self, output: &impl Serialize) -> serde_json::Result<Self> {
        self.updated_mcp_output = Some(RawJson::from_value(output)?);
        Ok(self)
    }

    /// Begins the session with this prompt (`SessionStart`).
    #[must_use]
    pub fn with_initial_user_message(mut self, prompt: impl Into<String>) -> Self {
        self.initial_user_message = Some(prompt.into());
        self
    }

    /// Gives the session a title (`SessionStart`, `UserPromptSubmit`).
    #[must_use]
    pub fn with_session_title(mut self, title: impl Into<String>) -> Self {
        self.session_title = Some(title.into());
        self
    }

    /// Watches these files: a change is a `FileChanged` (`SessionStart`, `CwdChanged`,
    /// `FileChanged`).
    #[must_use]
    pub fn with_watch_paths(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.watch_paths = Some(paths.into_iter().map(Into::into).collect());
        self
    }

    /// Looks for skills again (`SessionStart`).
    #[must_use]
    pub fn reload_skills(mut self) -> Self {
        self.reload_skills = Some(true);
        self
    }

    /// Leaves the prompt itself out (`UserPromptSubmit`, `UserPromptExpansion`).
    #[must_use]
    pub fn suppress_original_prompt(mut self) -> Self {
        self.suppress_original_prompt = Some(true);
        self
    }
}

/// Output that is specific to one event, in its wire form. It must match the event that the hook was called for.
impl From<HookSpecificOutput> for HookOutput {
    fn from(specific: HookSpecificOutput) -> Self {
        Self { specific: Some(specific), ..Self::default() }
    }
}

/// A complete output in its wire form.
impl From<wire::HookOutput> for HookOutput {
    fn from(whole: wire::HookOutput) -> Self {
        Self { whole: Some(whole), ..Self::default() }
    }
}
