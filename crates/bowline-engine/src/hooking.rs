//! How the engine runs hooks: what each is told about the session, and what the host hears of it.

mod agent;
mod judge;
mod services;
mod template;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{
    CallbackId, CwdChangedInput, EventInput, Extra, HookBase, HookCallback, HookEffort, HookEvent,
    HookInput, RawJson, ToolUseId,
};
use bowline_tools::Workspace;
use tokio_util::sync::CancellationToken;

pub(crate) use self::services::SessionServices;
use crate::{
    hook::{
        BoxFuture, HookActivity, HookCallError, HookCallbacks, HookObserver, HookReport, Scripts,
    },
    host::{Host, HostError},
    identity::Identity,
    session::Shared,
    sink::{Frame, MessageSink},
};

/// Callbacks that live in the host.
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

/// Passes on what hooks do, as far as the host wants to hear it.
pub(crate) struct HookFrames {
    pub(crate) sink: Arc<MessageSink>,
    pub(crate) wanted: bool,
}

impl HookFrames {
    fn pass_on(&self, event: &HookEvent, frame: impl Frame) {
        if self.wanted || matches!(event, HookEvent::SessionStart | HookEvent::Setup) {
            self.sink.enqueue(frame);
        }
    }
}

impl HookObserver for HookFrames {
    fn observe(&self, activity: HookActivity) {
        match activity {
            HookActivity::Started(frame) => self.pass_on(&frame.hook_event.clone(), frame),
            HookActivity::Progress(frame) => self.pass_on(&frame.hook_event.clone(), frame),
            HookActivity::Response(frame) => self.pass_on(&frame.hook_event.clone(), frame),
            _ => {}
        }
    }
}

impl Shared {
    /// Whether anybody wants to hear of such an event.
    pub(crate) fn has_hooks(&self, event: HookEvent) -> bool {
        self.hooks.any(&event)
    }

    /// Runs the hooks of an event; what they say to the user is emitted here.
    pub(crate) fn run_hooks<'a>(
        &'a self,
        identity: &'a Identity,
        event: EventInput,
        cancel: &'a CancellationToken,
    ) -> impl Future<Output = HookReport> + Send + use<'a> {
        self.run_hooks_about(identity, event, None, cancel)
    }

    /// Like [`run_hooks`](Self::run_hooks), for an event that does not itself say which call it is
    /// about.
    pub(crate) async fn run_hooks_about(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let report = self.run_hooks_silently(identity, event, about, cancel).await;
        self.pass_notices_on(report).await
    }

    /// Like [`run_hooks_about`](Self::run_hooks_about) for hooks that race somebody else: what was said
    /// in passing is the caller's to flush, and once this was polled all of them have begun.
    pub(crate) async fn race_hooks(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let report = Box::pin(self.begin_all(identity, event, about, cancel)).await;
        self.pass_notices_on(report).await
    }

    /// Like [`run_hooks_about`](Self::run_hooks_about); what they say to the user is left to the
    /// caller.
    pub(crate) async fn run_hooks_silently(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        match self.has_hooks(event.name()) {
            // In memory of its own: it would be a large part of every future that may come to run hooks,
            // and thus of each tool call.
            true => Box::pin(self.run_all(identity, event, about, cancel)).await,
            false => HookReport::default(),
        }
    }

    /// Tells the user what hooks have to say to them.
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
        // What was said in passing goes out before a hook hears what follows from it.
        self.sink.flush().await;
        self.begin_all(identity, event, about, cancel).await
    }

    /// Runs the hooks of an event. Polled once, it has begun all of them.
    async fn begin_all(
        &self,
        identity: &Identity,
        event: EventInput,
        about: Option<&ToolUseId>,
        cancel: &CancellationToken,
    ) -> HookReport {
        let input = HookInput { base: self.hook_base(identity, &event), event };
        let scripts = self.hooks.scripts().filter(|_| Scripts::are_for(&input.event_name()));
        if let Some(Err(error)) = scripts.as_ref().map(|it| it.forget(&input.event_name())) {
            tracing::warn!(%error, "variables of an earlier hook stay");
        }
        let report = self.hooks.run_about(&input, about, &self.hook_frames, cancel).await;
        if let Some(scripts) = scripts {
            self.workspace.set_scripts(scripts.written());
        }
        report
    }

    /// Tells hooks that work goes on in another directory than before.
    pub(crate) async fn tell_moved(
        &self,
        identity: &Identity,
        workspace: &Workspace,
        before: &Path,
        cancel: &CancellationToken,
    ) {
        let now = workspace.current_dir();
        if now != before && self.has_hooks(HookEvent::CwdChanged) {
            let event = EventInput::CwdChanged(CwdChangedInput {
                old_cwd: before.display().to_string(),
                new_cwd: now.display().to_string(),
                extra: Extra::new(),
            });
            let report = self.run_hooks(identity, event, cancel).await;
            self.heed_watch_paths(&report);
        }
    }

    /// Where an agent works.
    fn directory_of(&self, identity: &Identity) -> PathBuf {
        let own = identity.subagent().and_then(|subagent| subagent.worktree.clone());
        own.unwrap_or_else(|| self.workspace.current_dir())
    }

    fn hook_base(&self, identity: &Identity, event: &EventInput) -> HookBase {
        let in_tool = matches!(
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
        let has_mode = in_tool
            || matches!(
                event,
                EventInput::UserPromptSubmit(_)
                    | EventInput::UserPromptExpansion(_)
                    | EventInput::PermissionDenied(_)
            );
        HookBase {
            session_id: self.id(),
            transcript_path: self.transcript_path(),
            cwd: self.directory_of(identity).display().to_string(),
            prompt_id: self.prompt_id(),
            permission_mode: has_mode.then(|| self.mode()),
            agent_id: identity.agent_id(),
            agent_type: match identity.subagent() {
                Some(subagent) => Some(subagent.kind.clone()),
                None => self.config.agent.clone(),
            },
            effort: in_tool
                .then(|| self.effort_level())
                .flatten()
                .map(|level| HookEffort { level, extra: Default::default() }),
        }
    }
}
