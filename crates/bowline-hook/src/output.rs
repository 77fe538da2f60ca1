//! Meaning of one hook's reply, and the merge of several.

use bowline_protocol::{
    HookDecision, HookEvent, HookFailure, HookOutput, HookPermissionDecision, HookPermissionResult,
    HookSpecificOutput, SyncHookOutput,
};

use super::{
    report::{Block, BlockKind, Failure, FailureKind, HookReport, HookText, StopRequest, Verdict},
    texts,
};

/// How one hook ended.
#[derive(Debug)]
pub(super) enum HookReply {
    /// It has an opinion, possibly none.
    Output(Box<SyncHookOutput>),
    /// It only printed something.
    Printed(String),
    /// It objects, by its exit code.
    Objection(String),
    /// It gave no reply or an invalid one.
    Failed(FailureKind, String),
    /// It goes on by itself.
    Detached,
}

/// Who answered, as far as merging has to know.
#[derive(Debug)]
pub(super) struct ReplySource<'a> {
    pub(super) event: &'a HookEvent,
    /// The command, or the id of a callback.
    pub(super) command: &'a str,
    pub(super) is_callback: bool,
    pub(super) on_failure: Option<&'a HookFailure>,
}

/// Parses a reply and checks what its type cannot: known decisions, and the right event.
pub(super) fn read(event: &HookEvent, json: &str) -> HookReply {
    let output = match HookOutput::parse(json) {
        Ok(HookOutput::Sync(output)) => output,
        Ok(HookOutput::Async(_)) => return HookReply::Detached,
        Err(error) => return HookReply::Failed(FailureKind::BadOutput, error.to_string()),
    };
    let bad = |what: &str, value: &str| {
        HookReply::Failed(FailureKind::BadOutput, format!("unknown {what} `{value}`"))
    };
    if let Some(HookDecision::Other(decision)) = &output.decision {
        return bad("decision", decision);
    }
    if let Some(specific) = &output.hook_specific_output {
        let Some(named) = event_of(specific) else {
            return HookReply::Failed(FailureKind::BadOutput, "unknown hookEventName".to_owned());
        };
        if let Some(HookPermissionDecision::Other(decision)) = permission_decision(specific) {
            return bad("permissionDecision", decision);
        }
        if let HookSpecificOutput::PreToolUse(output) = specific
            && output.updated_input.as_ref().is_some_and(|input| !input.get().starts_with('{'))
        {
            let message = "updatedInput is not an object".to_owned();
            return HookReply::Failed(FailureKind::BadOutput, message);
        }
        if named != *event {
            let message = format!("expected a reply for {event}, got one for {named}");
            return HookReply::Failed(FailureKind::WrongEvent, message);
        }
    }
    HookReply::Output(output)
}

fn permission_decision(output: &HookSpecificOutput) -> Option<&HookPermissionDecision> {
    match output {
        HookSpecificOutput::PreToolUse(output) => output.permission_decision.as_ref(),
        HookSpecificOutput::PreModelSwitch(output) => output.permission_decision.as_ref(),
        _ => None,
    }
}

fn event_of(output: &HookSpecificOutput) -> Option<HookEvent> {
    Some(match output {
        HookSpecificOutput::PreToolUse(_) => HookEvent::PreToolUse,
        HookSpecificOutput::PostToolUse(_) => HookEvent::PostToolUse,
        HookSpecificOutput::PostToolUseFailure(_) => HookEvent::PostToolUseFailure,
        HookSpecificOutput::PostToolBatch(_) => HookEvent::PostToolBatch,
        HookSpecificOutput::Notification(_) => HookEvent::Notification,
        HookSpecificOutput::UserPromptSubmit(_) => HookEvent::UserPromptSubmit,
        HookSpecificOutput::UserPromptExpansion(_) => HookEvent::UserPromptExpansion,
        HookSpecificOutput::SessionStart(_) => HookEvent::SessionStart,
        HookSpecificOutput::Stop(_) => HookEvent::Stop,
        HookSpecificOutput::SubagentStart(_) => HookEvent::SubagentStart,
        HookSpecificOutput::SubagentStop(_) => HookEvent::SubagentStop,
        HookSpecificOutput::PreModelSwitch(_) => HookEvent::PreModelSwitch,
        HookSpecificOutput::PostModelSwitch(_) => HookEvent::PostModelSwitch,
        HookSpecificOutput::PermissionRequest(_) => HookEvent::PermissionRequest,
        HookSpecificOutput::PermissionDenied(_) => HookEvent::PermissionDenied,
        HookSpecificOutput::Setup(_) => HookEvent::Setup,
        HookSpecificOutput::Elicitation(_) => HookEvent::Elicitation,
        HookSpecificOutput::ElicitationResult(_) => HookEvent::ElicitationResult,
        HookSpecificOutput::WorktreeCreate(_) => HookEvent::WorktreeCreate,
        HookSpecificOutput::CwdChanged(_) => HookEvent::CwdChanged,
        HookSpecificOutput::FileChanged(_) => HookEvent::FileChanged,
        HookSpecificOutput::MessageDisplay(_) => HookEvent::MessageDisplay,
        _ => return None,
    })
}

/// Whether a program's output is sent to the model, or to the summary of a compaction.
pub(super) fn prints_context(event: &HookEvent) -> bool {
    matches!(
        event,
        HookEvent::UserPromptSubmit
            | HookEvent::SessionStart
            | HookEvent::PreCompact
            | HookEvent::PostCompact
    )
}

/// Whether an exit code of 2 is an objection. Elsewhere there is nothing to object to.
pub(super) fn can_object(event: &HookEvent) -> bool {
    !matches!(
        event,
        HookEvent::SessionStart
            | HookEvent::SessionEnd
            | HookEvent::Notification
            | HookEvent::StopFailure
            | HookEvent::SubagentStart
            | HookEvent::PostCompact
            | HookEvent::PostModelSwitch
            | HookEvent::Setup
            | HookEvent::InstructionsLoaded
            | HookEvent::WorktreeRemove
            | HookEvent::CwdChanged
            | HookEvent::FileChanged
            | HookEvent::DirectoryAdded
            | HookEvent::MessageDisplay
    )
}

impl HookReport {
    /// Adds one hook's reply to those of the hooks before it.
    pub(super) fn add(&mut self, who: &ReplySource<'_>, reply: HookReply) {
        match reply {
            HookReply::Output(output) => self.add_output(who, *output),
            HookReply::Printed(text) => self.contexts.push(HookText::Printed(text)),
            HookReply::Objection(reason) => self.block(who, BlockKind::Objection, reason),
            HookReply::Detached => {}
            HookReply::Failed(kind, message) => self.add_failure(who, kind, message),
        }
    }

    fn add_failure(&mut self, who: &ReplySource<'_>, kind: FailureKind, message: String) {
        let must_be_heard = *who.event == HookEvent::PreToolUse;
        match kind {
            FailureKind::TimedOut if who.is_callback && must_be_heard => {
                let text = texts::callback_timed_out(who.event);
                self.block(who, BlockKind::TimedOut, text);
            }
            FailureKind::TimedOut
                if who.is_callback && *who.event == HookEvent::UserPromptSubmit =>
            {
                self.block(
                    who,
                    BlockKind::TimedOut,
                    format!("{} hook callback {message}", who.event),
                );
            }
            FailureKind::WrongEvent if who.is_callback && must_be_heard => {
                self.block(who, BlockKind::WrongEvent, texts::wrong_event(who.event));
            }
            FailureKind::Closed if must_be_heard => {
                self.block(who, BlockKind::HostGone, texts::HOST_GONE.to_owned());
            }
            _ if blocks_on_failure(who.event, who.on_failure) => {
                let reason = match who.is_callback {
                    true => texts::callback_failed_and_blocks(who.event, who.command),
                    false => texts::command_reason(who.command, &message),
                };
                self.block(who, BlockKind::Objection, reason);
            }
            _ => {}
        }
        let (command, is_callback) = (who.command.to_owned(), who.is_callback);
        self.failures.push(Failure { command, is_callback, kind, message });
    }

    fn add_output(&mut self, who: &ReplySource<'_>, output: SyncHookOutput) {
        if output.continue_ == Some(false) && self.stop.is_none() {
            self.stop = Some(StopRequest { reason: output.stop_reason });
        }
        self.terminal_sequences.extend(output.terminal_sequence);
        match output.decision {
            Some(HookDecision::Block) if can_object(who.event) => {
                self.object(who, output.reason);
            }
            Some(HookDecision::Approve) => {
                self.decide(who, HookPermissionDecision::Allow, output.reason);
            }
            _ => {}
        }
        if let Some(specific) = output.hook_specific_output {
            self.add_specific(who, specific);
        }
    }

    fn add_specific(&mut self, who: &ReplySource<'_>, output: HookSpecificOutput) {
        match output {
            HookSpecificOutput::PreToolUse(output) => {
                if let Some(decision) = output.permission_decision {
                    self.judge(who, decision, output.permission_decision_reason);
                }
                self.updated_input = output.updated_input.or(self.updated_input.take());
                self.context(output.additional_context);
            }
            HookSpecificOutput::PreModelSwitch(output) => {
                if let Some(decision) = output.permission_decision {
                    self.judge(who, decision, output.permission_decision_reason);
                }
            }
            HookSpecificOutput::PostToolUse(output) => {
                self.context(output.additional_context);
                self.classifier_contexts.extend(output.classifier_context);
                self.updated_output = output.updated_tool_output.or(self.updated_output.take());
                self.updated_mcp_output =
                    output.updated_mcp_tool_output.or(self.updated_mcp_output.take());
            }
            HookSpecificOutput::PostToolUseFailure(output)
            | HookSpecificOutput::PostToolBatch(output)
            | HookSpecificOutput::Notification(output)
            | HookSpecificOutput::Stop(output)
            | HookSpecificOutput::SubagentStart(output)
            | HookSpecificOutput::SubagentStop(output)
            | HookSpecificOutput::PostModelSwitch(output)
            | HookSpecificOutput::Setup(output) => self.context(output.additional_context),
            HookSpecificOutput::UserPromptSubmit(output) => {
                self.context(output.additional_context);
                self.session_title = output.session_title.or(self.session_title.take());
                self.suppress_original_prompt |= output.suppress_original_prompt == Some(true);
            }
            HookSpecificOutput::UserPromptExpansion(output) => {
                self.context(output.additional_context);
                self.suppress_original_prompt |= output.suppress_original_prompt == Some(true);
            }
            HookSpecificOutput::SessionStart(output) => {
                self.context(output.additional_context);
                self.initial_user_message =
                    output.initial_user_message.or(self.initial_user_message.take());
                self.session_title = output.session_title.or(self.session_title.take());
                self.watch(output.watch_paths);
                self.reload_skills |= output.reload_skills == Some(true);
            }
            HookSpecificOutput::PermissionRequest(output) => {
                let denied = matches!(self.permission, Some(HookPermissionResult::Deny(_)));
                let denies = matches!(output.decision, HookPermissionResult::Deny(_));
                if self.permission.is_none() || (denies && !denied) {
                    self.permission = Some(output.decision);
                }
            }
            HookSpecificOutput::PermissionDenied(output) => {
                self.retry |= output.retry == Some(true);
            }
            HookSpecificOutput::Elicitation(output)
            | HookSpecificOutput::ElicitationResult(output)
                if output.action.is_some() =>
            {
                self.elicitation.get_or_insert(output);
            }
            HookSpecificOutput::WorktreeCreate(output) => {
                self.worktree_path.get_or_insert(output.worktree_path);
            }
            HookSpecificOutput::CwdChanged(output) | HookSpecificOutput::FileChanged(output) => {
                self.watch(output.watch_paths);
            }
            HookSpecificOutput::MessageDisplay(output) => {
                self.display_content = output.display_content.or(self.display_content.take());
            }
            // No opinion. (Replies for unknown events are rejected by the parser.)
            _ => {}
        }
    }

    fn judge(
        &mut self,
        who: &ReplySource<'_>,
        decision: HookPermissionDecision,
        reason: Option<String>,
    ) {
        match decision {
            HookPermissionDecision::Deny => self.object(who, reason),
            decision => self.decide(who, decision, reason),
        }
    }

    fn object(&mut self, who: &ReplySource<'_>, reason: Option<String>) {
        let reason = reason.unwrap_or_else(|| texts::NO_REASON.to_owned());
        self.block(who, BlockKind::Objection, reason);
    }

    /// Keeps the strictest decision, and the first reason for it.
    fn decide(
        &mut self,
        who: &ReplySource<'_>,
        decision: HookPermissionDecision,
        reason: Option<String>,
    ) {
        if !matches!(who.event, HookEvent::PreToolUse | HookEvent::PreModelSwitch) {
            return;
        }
        let current = self.verdict.as_ref().map(|verdict| strictness(&verdict.decision));
        if current.is_none_or(|current| strictness(&decision) > current) {
            self.verdict = Some(Verdict { decision, reason });
        }
    }

    fn block(&mut self, who: &ReplySource<'_>, kind: BlockKind, reason: String) {
        self.decide(who, HookPermissionDecision::Deny, Some(reason.clone()));
        let command = if who.is_callback { "callback" } else { who.command };
        self.blocks.push(Block { kind, reason, command: command.to_owned() });
    }

    fn context(&mut self, context: Option<String>) {
        self.contexts.extend(context.map(HookText::Context));
    }

    fn watch(&mut self, paths: Option<Vec<String>>) {
        if let Some(paths) = paths {
            self.watch_paths.get_or_insert_default().extend(paths);
        }
    }
}

/// A failure counts as an objection if that is asked for, or if what is asked for is not known.
pub(super) fn blocks_on_failure(event: &HookEvent, on_failure: Option<&HookFailure>) -> bool {
    !matches!(on_failure, None | Some(HookFailure::Continue)) && can_object(event)
}

fn strictness(decision: &HookPermissionDecision) -> u8 {
    match decision {
        HookPermissionDecision::Allow => 1,
        HookPermissionDecision::Ask => 2,
        HookPermissionDecision::Defer => 3,
        HookPermissionDecision::Deny => 4,
        _ => 0,
    }
}
