//! Wire form of a hook's output for one event.
//!
//! Every field is taken out as it is placed. Fields left at the end do not apply, and are logged.

use bowline_protocol::{
    self as wire, ContextOutput, ElicitationOutput, EventInput, HookDecision,
    HookPermissionDecision, HookPermissionDeny, HookPermissionResult,
    HookSpecificOutput as Specific, MessageDisplayOutput, PermissionAllow, PermissionDeniedOutput,
    PermissionRequestOutput, PostToolUseOutput, PreModelSwitchOutput, PreToolUseOutput,
    SessionStartOutput, SyncHookOutput, UserPromptExpansionOutput, UserPromptSubmitOutput,
    WatchPathsOutput, WorktreeCreateOutput,
};

use super::{HookOutput, Verdict};

impl HookOutput {
    /// Converts the output to its wire form for this event.
    pub(crate) fn for_event(mut self, event: &EventInput) -> wire::HookOutput {
        let output = match self.whole.take() {
            Some(whole) => whole,
            None => self.take_sync(event).into(),
        };
        let left_out = self.left_out();
        if !left_out.is_empty() {
            let (event, left_out) = (event.name(), left_out.join(", "));
            tracing::warn!(%event, left_out, "some fields of a hook's output do not apply to its event");
        }
        output
    }

    fn take_sync(&mut self, event: &EventInput) -> SyncHookOutput {
        // Only this event has a field for it. Elsewhere a denial and a stop mean the same.
        let has_interrupt = matches!(event, EventInput::PermissionRequest(_));
        if !has_interrupt && self.interrupt.take().is_some() {
            self.stop = self.stop.take().or_else(|| self.reason.clone());
        }
        let hook_specific_output = self.take_specific(event);
        let refused = self.verdict.take_if(|it| *it == Verdict::Deny).is_some();
        // Without anything to decide, `allow` is the default.
        self.verdict.take_if(|it| *it == Verdict::Allow);
        SyncHookOutput {
            continue_: self.stop.is_some().then_some(false),
            stop_reason: self.stop.take(),
            suppress_output: self.suppress_output.take(),
            decision: refused.then_some(HookDecision::Block),
            reason: self.reason.take_if(|_| refused),
            system_message: self.system_message.take(),
            terminal_sequence: self.terminal_sequence.take(),
            hook_specific_output,
            ..SyncHookOutput::default()
        }
    }

    /// Takes the fields that are specific to this event, if any are set.
    fn take_specific(&mut self, event: &EventInput) -> Option<Specific> {
        if let Some(given) = self.specific.take_if(|given| given.event_name() == event.name()) {
            return Some(given);
        }
        match event {
            EventInput::PreToolUse(_) => {
                let fields = PreToolUseOutput {
                    permission_decision: self.take_decision(),
                    permission_decision_reason: self.reason.take(),
                    updated_input: self.updated_input.take(),
                    additional_context: self.context.take(),
                    ..PreToolUseOutput::default()
                };
                if_any(fields, Specific::PreToolUse)
            }
            EventInput::PostToolUse(_) => {
                let fields = PostToolUseOutput {
                    additional_context: self.context.take(),
                    updated_tool_output: self.updated_output.take(),
                    updated_mcp_tool_output: self.updated_mcp_output.take(),
                    classifier_context: self.classifier_context.take(),
                    ..PostToolUseOutput::default()
                };
                if_any(fields, Specific::PostToolUse)
            }
            EventInput::UserPromptSubmit(_) => {
                let fields = UserPromptSubmitOutput {
                    additional_context: self.context.take(),
                    session_title: self.session_title.take(),
                    suppress_original_prompt: self.suppress_original_prompt.take(),
                    ..UserPromptSubmitOutput::default()
                };
                if_any(fields, Specific::UserPromptSubmit)
            }
            EventInput::UserPromptExpansion(_) => {
                let fields = UserPromptExpansionOutput {
                    additional_context: self.context.take(),
                    suppress_original_prompt: self.suppress_original_prompt.take(),
                    ..UserPromptExpansionOutput::default()
                };
                if_any(fields, Specific::UserPromptExpansion)
            }
            EventInput::SessionStart(_) => {
                let fields = SessionStartOutput {
                    additional_context: self.context.take(),
                    initial_user_message: self.initial_user_message.take(),
                    session_title: self.session_title.take(),
                    watch_paths: self.watch_paths.take(),
                    reload_skills: self.reload_skills.take(),
                    ..SessionStartOutput::default()
                };
                if_any(fields, Specific::SessionStart)
            }
            EventInput::PreModelSwitch(_) => {
                // There is no later for a switch.
                if self.verdict == Some(Verdict::Defer) {
                    return None;
                }
                let fields = PreModelSwitchOutput {
                    permission_decision: Some(self.take_decision()?),
                    permission_decision_reason: self.reason.take(),
                    ..PreModelSwitchOutput::default()
                };
                Some(Specific::PreModelSwitch(fields))
            }
            EventInput::PermissionRequest(_) => self.take_permission(),
            EventInput::PermissionDenied(_) => {
                let retry = self.retry.take();
                let fields = PermissionDeniedOutput { retry, ..PermissionDeniedOutput::default() };
                if_any(fields, Specific::PermissionDenied)
            }
            EventInput::Elicitation(_) => self.take_elicited().map(Specific::Elicitation),
            EventInput::ElicitationResult(_) => {
                self.take_elicited().map(Specific::ElicitationResult)
            }
            EventInput::WorktreeCreate(_) => {
                let worktree_path = self.worktree_path.take()?;
                let fields =
                    WorktreeCreateOutput { worktree_path, ..WorktreeCreateOutput::default() };
                Some(Specific::WorktreeCreate(fields))
            }
            EventInput::CwdChanged(_) => if_any(self.take_watched(), Specific::CwdChanged),
            EventInput::FileChanged(_) => if_any(self.take_watched(), Specific::FileChanged),
            EventInput::MessageDisplay(_) => {
                let display_content = self.display_content.take();
                let fields = MessageDisplayOutput { display_content, ..Default::default() };
                if_any(fields, Specific::MessageDisplay)
            }
            EventInput::PostToolUseFailure(_) => {
                if_any(self.take_context(), Specific::PostToolUseFailure)
            }
            EventInput::PostToolBatch(_) => if_any(self.take_context(), Specific::PostToolBatch),
            EventInput::Notification(_) => if_any(self.take_context(), Specific::Notification),
            EventInput::Stop(_) => if_any(self.take_context(), Specific::Stop),
            EventInput::SubagentStart(_) => if_any(self.take_context(), Specific::SubagentStart),
            EventInput::SubagentStop(_) => if_any(self.take_context(), Specific::SubagentStop),
            EventInput::PostModelSwitch(_) => {
                if_any(self.take_context(), Specific::PostModelSwitch)
            }
            EventInput::Setup(_) => if_any(self.take_context(), Specific::Setup),
            // These events have no specific fields.
            _ => None,
        }
    }

    fn take_context(&mut self) -> ContextOutput {
        ContextOutput { additional_context: self.context.take(), ..ContextOutput::default() }
    }

    fn take_watched(&mut self) -> WatchPathsOutput {
        WatchPathsOutput { watch_paths: self.watch_paths.take(), ..WatchPathsOutput::default() }
    }

    fn take_elicited(&mut self) -> Option<ElicitationOutput> {
        let response = self.elicited.take()?;
        let (action, content) = (Some(response.action), response.content);
        Some(ElicitationOutput { action, content, extra: response.extra })
    }

    fn take_decision(&mut self) -> Option<HookPermissionDecision> {
        self.verdict.take().map(|verdict| match verdict {
            Verdict::Allow => HookPermissionDecision::Allow,
            Verdict::Deny => HookPermissionDecision::Deny,
            Verdict::Ask => HookPermissionDecision::Ask,
            Verdict::Defer => HookPermissionDecision::Defer,
        })
    }

    fn take_permission(&mut self) -> Option<Specific> {
        let decision = match self.verdict? {
            Verdict::Allow => HookPermissionResult::Allow(PermissionAllow {
                updated_input: self.updated_input.take(),
                updated_permissions: self.updated_permissions.take(),
                ..PermissionAllow::default()
            }),
            Verdict::Deny => HookPermissionResult::Deny(HookPermissionDeny {
                message: self.reason.take(),
                interrupt: self.interrupt.take(),
                ..HookPermissionDeny::default()
            }),
            Verdict::Ask | Verdict::Defer => return None,
        };
        self.verdict = None;
        let extra = wire::Extra::new();
        Some(Specific::PermissionRequest(PermissionRequestOutput { decision, extra }))
    }

    /// Names on the wire of the fields that do not apply.
    fn left_out(&self) -> Vec<&'static str> {
        let Self {
            verdict,
            reason,
            interrupt,
            stop,
            context,
            classifier_context,
            updated_input,
            updated_output,
            updated_mcp_output,
            updated_permissions,
            retry,
            elicited,
            initial_user_message,
            session_title,
            suppress_original_prompt,
            reload_skills,
            watch_paths,
            worktree_path,
            display_content,
            system_message,
            terminal_sequence,
            suppress_output,
            specific,
            whole: _,
        } = self;
        let words = [
            (verdict.is_some(), "permissionDecision"),
            (reason.is_some(), "reason"),
            (interrupt.is_some(), "interrupt"),
            (stop.is_some(), "stopReason"),
            (context.is_some(), "additionalContext"),
            (classifier_context.is_some(), "classifierContext"),
            (updated_input.is_some(), "updatedInput"),
            (updated_output.is_some(), "updatedToolOutput"),
            (updated_mcp_output.is_some(), "updatedMCPToolOutput"),
            (updated_permissions.is_some(), "updatedPermissions"),
            (retry.is_some(), "retry"),
            (elicited.is_some(), "action"),
            (initial_user_message.is_some(), "initialUserMessage"),
            (session_title.is_some(), "sessionTitle"),
            (suppress_original_prompt.is_some(), "suppressOriginalPrompt"),
            (reload_skills.is_some(), "reloadSkills"),
            (watch_paths.is_some(), "watchPaths"),
            (worktree_path.is_some(), "worktreePath"),
            (display_content.is_some(), "displayContent"),
            (system_message.is_some(), "systemMessage"),
            (terminal_sequence.is_some(), "terminalSequence"),
            (suppress_output.is_some(), "suppressOutput"),
            (specific.is_some(), "hookSpecificOutput"),
        ];
        words.into_iter().filter_map(|(left, name)| left.then_some(name)).collect()
    }
}

/// The specific output, or `None` if all its fields are unset.
fn if_any<T: Default + PartialEq>(fields: T, wrap: fn(T) -> Specific) -> Option<Specific> {
    (fields != T::default()).then(|| wrap(fields))
}
