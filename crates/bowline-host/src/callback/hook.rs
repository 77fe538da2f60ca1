//! Hooks: callbacks that receive a session's events and may object.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use bowline_protocol::{CallbackId, EventInput, HookFailure, HookInput, ToolUseId};
use futures_util::future::BoxFuture;
use serde::de::{DeserializeOwned, Error as _};
use tokio_util::sync::CancellationToken;

use super::{HookOutput, IntoAnswer};

/// Receives events of a session, and may object or add something.
///
/// ```
/// use bowline_host::{HookCall, HookEvent, HookMatcher, HookOutput, Options};
///
/// #[derive(serde::Deserialize)]
/// struct Bash {
///     command: String,
/// }
///
/// let no_force = HookMatcher::on("Bash")
///     .run(async |call: HookCall| {
///         call.parse_tool_input().map(|bash: Bash| match bash.command.contains("--force") {
///             true => HookOutput::deny("not by force"),
///             false => HookOutput::default(),
///         })
///     })
///     .or_block();
/// let options = Options::default().hook(HookEvent::PreToolUse, no_force);
/// ```
pub trait Hook: Send + Sync + 'static {
    /// Returns the hook's output. The meaning of an error is up to [`HookMatcher::on_failure`].
    fn run(&self, call: HookCall) -> BoxFuture<'_, Result<HookOutput, String>>;
}

impl<F, Fut> Hook for F
where
    F: Fn(HookCall) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer<HookOutput>> + Send + 'static,
{
    fn run(&self, call: HookCall) -> BoxFuture<'_, Result<HookOutput, String>> {
        let output = self(call);
        Box::pin(async move { output.await.into_answer() })
    }
}

/// Input of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookCall {
    /// What happens.
    pub input: HookInput,
    /// The call it is about, on events of tools.
    pub tool_use_id: Option<ToolUseId>,
    /// Fires when the output is no longer wanted; for work that outlives the hook.
    pub cancel: CancellationToken,
}

impl HookCall {
    /// The tool, on events of tools.
    pub fn tool_name(&self) -> Option<&str> {
        match &self.input.event {
            EventInput::PreToolUse(input) => Some(&input.tool_name),
            EventInput::PostToolUse(input) => Some(&input.tool_name),
            EventInput::PostToolUseFailure(input) => Some(&input.tool_name),
            EventInput::PermissionRequest(input) => Some(&input.tool_name),
            EventInput::PermissionDenied(input) => Some(&input.tool_name),
            _ => None,
        }
    }

    /// The tool's input, read into a type of yours; an error on events that are not of tools.
    ///
    /// Rules are better judged by this than by [the text](Self::tool_input), where the same words
    /// can be written in many ways.
    ///
    /// ```
    /// # use bowline_host::{HookCall, HookOutput};
    /// #[derive(serde::Deserialize)]
    /// struct Write {
    ///     file_path: String,
    /// }
    ///
    /// async fn only_here(call: HookCall) -> serde_json::Result<HookOutput> {
    ///     let write: Write = call.parse_tool_input()?;
    ///     Ok(match write.file_path.starts_with("/srv/project/") {
    ///         true => HookOutput::default(),
    ///         false => HookOutput::deny("only in the project"),
    ///     })
    /// }
    /// ```
    pub fn parse_tool_input<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match self.tool_input() {
            Some(input) => serde_json::from_str(input),
            None => {
                let event = self.input.event_name();
                Err(serde_json::Error::custom(format_args!("{event} is not about a tool")))
            }
        }
    }

    /// The tool's input as JSON text, on events of tools.
    pub fn tool_input(&self) -> Option<&str> {
        match &self.input.event {
            EventInput::PreToolUse(input) => Some(input.tool_input.get()),
            EventInput::PostToolUse(input) => Some(input.tool_input.get()),
            EventInput::PostToolUseFailure(input) => Some(input.tool_input.get()),
            EventInput::PermissionRequest(input) => Some(input.tool_input.get()),
            EventInput::PermissionDenied(input) => Some(input.tool_input.get()),
            _ => None,
        }
    }
}

/// Hooks for some occasions of one event.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HookMatcher {
    /// Filter of events: a name, `A|B`, or a regular expression; all events if `None`.
    pub matcher: Option<String>,
    /// The hooks. They run concurrently.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// How long each may take. It is sent to the agent, and enforced here as well.
    pub timeout: Option<Duration>,
    /// Effect of a hook that fails or times out; by default the agent continues without it.
    pub on_failure: Option<HookFailure>,
}

impl HookMatcher {
    /// On every occasion.
    pub fn always() -> Self {
        Self::default()
    }

    /// On these occasions: the name of a tool, `A|B`, or a regular expression.
    pub fn on(matcher: impl Into<String>) -> Self {
        Self { matcher: Some(matcher.into()), ..Self::default() }
    }

    /// Runs this hook.
    #[must_use]
    pub fn run(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Gives each hook this long.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Blocks if a hook fails. An agent that does not support this is refused when it is started.
    #[must_use]
    pub fn or_block(mut self) -> Self {
        self.on_failure = Some(HookFailure::Block);
        self
    }

    /// Whether a failed hook blocks the agent.
    pub(crate) fn must_not_fail(&self) -> bool {
        self.on_failure.as_ref().is_some_and(|then| *then != HookFailure::Continue)
    }
}

impl fmt::Debug for HookMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookMatcher")
            .field("matcher", &self.matcher)
            .field("hooks", &self.hooks.len())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The hooks of a session by the names it gave them, and how long each may take.
pub(crate) type RegisteredHooks = HashMap<CallbackId, (Arc<dyn Hook>, Option<Duration>)>;

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize)]
    struct Bash {
        command: String,
    }

    fn call(input: &str) -> HookCall {
        let input = HookInput::parse(input).expect("it is a hook's input");
        HookCall { input, tool_use_id: None, cancel: CancellationToken::new() }
    }

    #[test]
    fn an_input_says_what_it_means_however_it_is_written() {
        let call = call(
            r#"{"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "t",
                "cwd": "/", "tool_name": "Bash", "tool_use_id": "u",
                "tool_input": {"command": "git push \u002d-force"}}"#,
        );
        assert_eq!(call.parse_tool_input::<Bash>().unwrap().command, "git push --force");
        assert!(!call.tool_input().unwrap().contains("--force"));
    }

    #[test]
    fn an_event_without_a_tool_has_no_input() {
        let stop = json!({
            "hook_event_name": "Stop", "session_id": "s", "transcript_path": "t", "cwd": "/",
            "stop_hook_active": false,
        });
        let error = call(&stop.to_string()).parse_tool_input::<Bash>().err().unwrap();
        assert_eq!(error.to_string(), "Stop is not about a tool");
    }
}
