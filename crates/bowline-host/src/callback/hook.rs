//! Hooks: told what happens, free to object.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use bowline_protocol::{CallbackId, EventInput, HookFailure, HookInput, ToolUseId};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{HookOutput, IntoAnswer};

/// Is told what happens in a session, and may object or add something.
///
/// ```
/// use bowline_host::{HookCall, HookEvent, HookMatcher, HookOutput, Options};
///
/// let no_force = HookMatcher::on("Bash").run(async |call: HookCall| {
///     match call.tool_input().is_some_and(|input| input.contains("--force")) {
///         true => HookOutput::deny("not by force"),
///         false => HookOutput::default(),
///     }
/// });
/// let options = Options::default().hook(HookEvent::PreToolUse, no_force);
/// ```
pub trait Hook: Send + Sync + 'static {
    /// Says what it thinks. What an error means is up to [`HookMatcher::on_failure`].
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

/// What a hook is told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookCall {
    /// What happens.
    pub input: HookInput,
    /// The call it is about, on events of tools.
    pub tool_use_id: Option<ToolUseId>,
    /// Fires when the answer is no longer wanted; for work that outlives the hook.
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
    /// Which occasions: a name, `A|B`, or a regular expression; all if there is none.
    pub matcher: Option<String>,
    /// The hooks. They run side by side.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// How long each may take. The agent is told, and it is enforced here as well.
    pub timeout: Option<Duration>,
    /// What a hook that fails or is late means; the agent goes on without it if not said.
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

    /// Does not go on if a hook fails. An agent that does not know how is refused when it is started.
    #[must_use]
    pub fn or_block(mut self) -> Self {
        self.on_failure = Some(HookFailure::Block);
        self
    }

    /// Whether the agent is not to go on if a hook fails.
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
