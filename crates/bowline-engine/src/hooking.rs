//! Hook runner: runs hooks with the facts of the session, and reports them to the host.

mod agent;
mod judge;
mod services;
mod template;

use std::{path::PathBuf, sync::Arc};

use bowline_protocol::{
    CallbackId, EventInput, HookBase, HookCallback, HookEffort, HookEvent, HookInput, RawJson,
    ToolUseId,
};
use bowline_tools::Workspace;
use tokio_util::sync::CancellationToken;

pub(crate) use self::services::SessionServices;
use crate::{
    hook::{
        BoxFuture, HookActivity, HookCallError, HookCallbacks, HookObserver, HookReport, Hooks,
        Scripts,
    },
    host::{Host, HostError},
    identity::Identity,
    journal::Journal,
    sink::{Frame, MessageSink},
    state::{CurrentPrompt, ModelSelection, Permissions},
};

/// Callbacks in the host.
pub(crate) struct HostCallbacks {
    pub(crate) host: Arc<dyn Host>,
}

impl HookCallbacks for HostCallbacks {
    fn call(
        &self,
        callback_id: &CallbackId,
        input: &HookInput,
        tool_use_id: ToolUseId,
    ) -> BoxFuture<'_, Result<RawJson, HookCallError>> {
        let call = HookCallback {
            callback_id: callback_id.clone(),
            input: input.clone(),
            tool_use_id: Some(tool_use_id),
            extra: Default::default(),
        };
        Box::pin(async move {
            self.host.hook_callback(call).await.map_err(|error| match error {
                HostError::Closed => HookCallError::Closed,
                error => HookCallError::Refused(error.to_string()),
            })
        })
    }
}

/// Sends hook events to the host, if it requested them.
pub(crate) struct HookEventForwarder {
    pub(crate) sink: Arc<MessageSink>,
    pub(crate) requested: bool,
}

impl HookEventForwarder {
    fn pass_on(&self, event: &HookEvent, frame: impl Frame) {
        if self.requested || matches!(event, HookEvent::SessionStart | HookEvent::Setup) {
            self.sink.enqueue(frame);
        }
    }
}

impl HookObserver for HookEventForwarder {
    fn observe(&self, activity: HookActivity) {
        match activity {
            HookActivity::Started(frame) => self.pass_on(&frame.hook_event.clone(), frame),
            HookActivity::Progress(frame) => self.pass_on(&frame.hook_event.clone(), frame),
            HookActivity::Response(frame) => self.pass_on(&frame.hook_event.clone(), frame),
            _ => {}
        }
    }
}

/// Runs the hooks of a session.
pub(crate) struct HookRunner {
    hooks: Hooks,
    observer: Arc<dyn HookObserver>,
    sink: Arc<MessageSink>,
    journal: Arc<Journal>,
    workspace: Arc<Workspace>,
    permissions: Arc<Permissions>,
    models: Arc<ModelSelection>,
    prompt: Arc<CurrentPrompt>,
    /// The kind of the main agent.
    main_kind: Option<String>,
}

/// The parts of a session whose state is in the input of hooks.
pub(crate) struct HookInputParts {
    pub(crate) sink: Arc<MessageSink>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) models: Arc<ModelSelection>,
    pub(crate) prompt: Arc<CurrentPrompt>,
    pub(crate) main_kind: Option<String>,
}

impl HookRunner {
    pub(crate) fn new(
        hooks: Hooks,
        observer: Arc<dyn HookObserver>,
        parts: HookInputParts,
    ) -> Self {
        let HookInputParts { sink, journal, workspace, permissions, models, prompt, main_kind } =
            parts;
        Self { hooks, observer, sink, journal, workspace, permissions, models, prompt, main_kind }
    }

    /// The registered hooks.
    pub(crate) fn registry(&self) -> &Hooks {
        &self.hooks
    }

    /// Whether there are hooks for an event.
    pub(crate) fn has(&self, event: HookEvent) -> bool {
        self.hooks.any(&event)
    }

    /// Runs the hooks of an event, and emits their messages to the user.
    pub(crate) fn run<'a>(
        &'a self,
        identity: &'a Identity,
        event: EventInput,
        cancel: &'a CancellationToken,
    ) -> impl Future<Output = HookReport> + Send + use<'a> {
        self.run_about(identity, event, None, cancel)
    }

    /// Like [`run`](Self::run), for an event whose input has no `tool_use_id`.
    pub(crate) async fn run_about(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let report = self.run_silently(identity, event, about, cancel).await;
        self.pass_notices_on(report).await
    }

    /// Like [`run_about`](Self::run_about), for hooks that run concurrently with a request to
    /// the host. It does not flush the sink: the caller does. The first poll starts all hooks.
    pub(crate) async fn race(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let report = Box::pin(self.begin_all(identity, event, about, cancel)).await;
        self.pass_notices_on(report).await
    }

    /// Like [`run_about`](Self::run_about); their messages to the user are left to the
    /// caller.
    pub(crate) async fn run_silently(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        match self.has(event.name()) {
            // Boxed: it would enlarge every future that may run hooks, and thus each tool
            // call.
            true => Box::pin(self.run_all(identity, event, about, cancel)).await,
            false => HookReport::default(),
        }
    }

    /// Emits the messages of hooks to the user.
    async fn pass_notices_on(&self, mut report: HookReport) -> HookReport {
        for notice in report.notices.drain(..) {
            Box::pin(self.sink.send(notice)).await;
        }
        report
    }

    async fn run_all(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        // Queued messages are sent before a hook receives what follows from them.
        self.sink.flush().await;
        self.begin_all(identity, event, about, cancel).await
    }

    /// Runs the hooks of an event. The first poll starts all of them.
    async fn begin_all(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let input = HookInput { base: self.hook_base(identity, &event), event };
        // Hooks of this event write a script (`CLAUDE_ENV_FILE`) that runs before later commands;
        // each run replaces the last.
        let scripts = self.hooks.scripts().filter(|_| Scripts::are_for(&input.event_name()));
        if let Some(Err(error)) = scripts.as_ref().map(|it| it.forget(&input.event_name())) {
            tracing::warn!(%error, "cannot remove the variables of an earlier hook");
        }
        let report = self.hooks.run_about(&input, about, &self.observer, cancel).await;
        if let Some(scripts) = scripts {
            self.workspace.set_scripts(scripts.written());
        }
        report
    }

    /// The working directory of an agent.
    fn directory_of(&self, identity: &Identity) -> PathBuf {
        let own = identity.subagent().and_then(|subagent| subagent.worktree.clone());
        own.unwrap_or_else(|| self.workspace.current_dir())
    }

    fn hook_base(&self, identity: &Identity, event: &EventInput) -> HookBase {
        let has_effort = matches!(
            event,
            EventInput::PreToolUse(_)
                | EventInput::PostToolUse(_)
                | EventInput::PostToolUseFailure(_)
                | EventInput::PostToolBatch(_)
                | EventInput::PermissionRequest(_)
                | EventInput::Stop(_)
                | EventInput::StopFailure(_)
                | EventInput::SubagentStop(_)
        );
        let has_mode = has_effort
            || matches!(
                event,
                EventInput::UserPromptSubmit(_)
                    | EventInput::UserPromptExpansion(_)
                    | EventInput::PermissionDenied(_)
            );
        HookBase {
            session_id: self.sink.session_id(),
            transcript_path: self.journal.transcript_path(),
            cwd: self.directory_of(identity).display().to_string(),
            prompt_id: self.prompt.id(),
            permission_mode: has_mode.then(|| self.permissions.mode()),
            agent_id: identity.agent_id(),
            agent_type: match identity.subagent() {
                Some(subagent) => Some(subagent.kind.clone()),
                None => self.main_kind.clone(),
            },
            effort: has_effort
                .then(|| self.models.effort_level())
                .flatten()
                .map(|level| HookEffort { level, extra: Default::default() }),
        }
    }
}
