//! What a hook answers, whatever the event.

use bowline_protocol::{
    self as wire, AsyncHookOutput, ContextOutput, EventInput, HookDecision, HookPermissionDecision,
    HookPermissionDeny, HookPermissionResult, HookSpecificOutput, PermissionAllow,
    PermissionRequestOutput, PostToolUseOutput, PreModelSwitchOutput, PreToolUseOutput, RawJson,
    SessionStartOutput, SyncHookOutput, UserPromptExpansionOutput, UserPromptSubmitOutput,
};
use serde::Serialize;

/// What a hook answers. The default is no opinion.
///
/// The same answer has another form for every event: [`deny`](Self::deny) refuses a tool call
/// before it runs, a prompt when it is submitted, and the end of the work when the agent wants
/// to stop. What an event has no place for is left out.
///
/// ```
/// use bowline_host::{
///     HookOutput,
///     protocol::{self, SyncHookOutput},
/// };
/// use serde_json::json;
///
/// # fn main() -> serde_json::Result<()> {
/// let no = HookOutput::deny("not on a Friday");
/// let other_input = HookOutput::allow().with_input(&json!({"command": "ls -l"}))?;
/// let know_this = HookOutput::context("The tests are slow today.");
/// // What there is no word for is said as on the wire.
/// let quiet = SyncHookOutput { suppress_output: Some(true), ..SyncHookOutput::default() };
/// let quiet = HookOutput::from(protocol::HookOutput::from(quiet));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookOutput {
    verdict: Option<Verdict>,
    reason: Option<String>,
    context: Option<String>,
    updated_input: Option<RawJson>,
    updated_output: Option<RawJson>,
    system_message: Option<String>,
    stop: Option<String>,
    whole: Option<wire::HookOutput>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Allow,
    Deny,
    Ask,
    Defer,
}

impl HookOutput {
    /// Yes, without another question.
    pub fn allow() -> Self {
        Self { verdict: Some(Verdict::Allow), ..Self::default() }
    }

    /// No, and this is what the model is told.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self { verdict: Some(Verdict::Deny), reason: Some(reason.into()), ..Self::default() }
    }

    /// The same as [`deny`](Self::deny), as the word is for prompts, results and stops.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::deny(reason)
    }

    /// Ask, even if a rule would allow it.
    pub fn ask() -> Self {
        Self { verdict: Some(Verdict::Ask), ..Self::default() }
    }

    /// Not now: the agent ends its turn with a result that names the call, for somebody to decide
    /// about later. When the session is resumed the hook is asked again, and then the call is made.
    pub fn defer() -> Self {
        Self { verdict: Some(Verdict::Defer), ..Self::default() }
    }

    /// Go on, and let the model know this.
    pub fn context(text: impl Into<String>) -> Self {
        Self::default().with_context(text)
    }

    /// Stop the agent; the user is told why.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self { stop: Some(reason.into()), ..Self::default() }
    }

    /// Go on; this hook works on by itself and its answer does not matter.
    pub fn in_background() -> Self {
        Self::from(wire::HookOutput::Async(AsyncHookOutput {
            r#async: true,
            ..AsyncHookOutput::default()
        }))
    }

    /// Gives a reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Lets the model know something.
    #[must_use]
    pub fn with_context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Runs the tool with this input in place of the model's.
    pub fn with_input(mut self, input: &impl Serialize) -> serde_json::Result<Self> {
        self.updated_input = Some(RawJson::from_value(input)?);
        Ok(self)
    }

    /// Shows the model this in place of what the tool returned.
    pub fn with_tool_output(mut self, output: &impl Serialize) -> serde_json::Result<Self> {
        self.updated_output = Some(RawJson::from_value(output)?);
        Ok(self)
    }

    /// Shows the user something.
    #[must_use]
    pub fn with_system_message(mut self, text: impl Into<String>) -> Self {
        self.system_message = Some(text.into());
        self
    }

    /// The answer in the form that it has for this event.
    pub(crate) fn for_event(self, event: &EventInput) -> wire::HookOutput {
        if let Some(whole) = self.whole {
            return whole;
        }
        let mut output = SyncHookOutput {
            continue_: self.stop.is_some().then_some(false),
            stop_reason: self.stop.clone(),
            system_message: self.system_message.clone(),
            ..SyncHookOutput::default()
        };
        output.hook_specific_output = self.specific(event);
        let decides_elsewhere = matches!(
            event,
            EventInput::PreToolUse(_)
                | EventInput::PermissionRequest(_)
                | EventInput::PreModelSwitch(_)
        );
        if !decides_elsewhere && self.verdict == Some(Verdict::Deny) {
            output.decision = Some(HookDecision::Block);
            output.reason = self.reason;
        }
        output.into()
    }

    /// What this event alone may be told, if there is anything to tell.
    fn specific(&self, event: &EventInput) -> Option<HookSpecificOutput> {
        use HookSpecificOutput as Specific;
        let context = || self.context.clone();
        let only_context = || {
            context().map(|text| ContextOutput {
                additional_context: Some(text),
                ..ContextOutput::default()
            })
        };
        match event {
            EventInput::PreToolUse(_) => {
                let told = PreToolUseOutput {
                    permission_decision: self.permission_decision(),
                    permission_decision_reason: self.reason.clone(),
                    updated_input: self.updated_input.clone(),
                    additional_context: context(),
                    ..PreToolUseOutput::default()
                };
                (told != PreToolUseOutput::default()).then_some(Specific::PreToolUse(told))
            }
            EventInput::PostToolUse(_) => {
                let told = PostToolUseOutput {
                    additional_context: context(),
                    updated_tool_output: self.updated_output.clone(),
                    ..PostToolUseOutput::default()
                };
                (told != PostToolUseOutput::default()).then_some(Specific::PostToolUse(told))
            }
            EventInput::PermissionRequest(_) => self.permission_request(),
            EventInput::PreModelSwitch(_) => Some(Specific::PreModelSwitch(PreModelSwitchOutput {
                permission_decision: Some(self.permission_decision()?),
                permission_decision_reason: self.reason.clone(),
                ..PreModelSwitchOutput::default()
            })),
            EventInput::UserPromptSubmit(_) => {
                Some(Specific::UserPromptSubmit(UserPromptSubmitOutput {
                    additional_context: Some(context()?),
                    ..UserPromptSubmitOutput::default()
                }))
            }
            EventInput::UserPromptExpansion(_) => {
                Some(Specific::UserPromptExpansion(UserPromptExpansionOutput {
                    additional_context: Some(context()?),
                    ..UserPromptExpansionOutput::default()
                }))
            }
            EventInput::SessionStart(_) => Some(Specific::SessionStart(SessionStartOutput {
                additional_context: Some(context()?),
                ..SessionStartOutput::default()
            })),
            EventInput::PostToolUseFailure(_) => only_context().map(Specific::PostToolUseFailure),
            EventInput::PostToolBatch(_) => only_context().map(Specific::PostToolBatch),
            EventInput::Notification(_) => only_context().map(Specific::Notification),
            EventInput::Stop(_) => only_context().map(Specific::Stop),
            EventInput::SubagentStart(_) => only_context().map(Specific::SubagentStart),
            EventInput::SubagentStop(_) => only_context().map(Specific::SubagentStop),
            EventInput::PostModelSwitch(_) => only_context().map(Specific::PostModelSwitch),
            EventInput::Setup(_) => only_context().map(Specific::Setup),
            _ => None,
        }
    }

    fn permission_decision(&self) -> Option<HookPermissionDecision> {
        self.verdict.map(|verdict| match verdict {
            Verdict::Allow => HookPermissionDecision::Allow,
            Verdict::Deny => HookPermissionDecision::Deny,
            Verdict::Ask => HookPermissionDecision::Ask,
            Verdict::Defer => HookPermissionDecision::Defer,
        })
    }

    fn permission_request(&self) -> Option<HookSpecificOutput> {
        let decision = match self.verdict? {
            Verdict::Allow => HookPermissionResult::Allow(PermissionAllow {
                updated_input: self.updated_input.clone(),
                ..PermissionAllow::default()
            }),
            Verdict::Deny => HookPermissionResult::Deny(HookPermissionDeny {
                message: self.reason.clone(),
                ..HookPermissionDeny::default()
            }),
            Verdict::Ask | Verdict::Defer => return None,
        };
        let extra = wire::Extra::new();
        Some(HookSpecificOutput::PermissionRequest(PermissionRequestOutput { decision, extra }))
    }
}

/// An answer that is whole already, for what the builders do not say.
impl From<wire::HookOutput> for HookOutput {
    fn from(whole: wire::HookOutput) -> Self {
        Self { whole: Some(whole), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bowline_protocol::HookInput;
    use serde_json::{Value, json};

    fn on(event: &str, answer: HookOutput) -> Value {
        let input = json!({
            "session_id": "s", "transcript_path": "t", "cwd": "/", "hook_event_name": event,
            "tool_name": "Bash", "tool_input": {}, "tool_response": {}, "tool_use_id": "u",
            "prompt": "p", "stop_hook_active": false,
        });
        let input: HookInput = serde_json::from_value(input).unwrap();
        serde_json::to_value(answer.for_event(&input.event)).unwrap()
    }

    #[test]
    fn no_opinion_is_an_empty_answer() {
        for event in ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"] {
            assert_eq!(on(event, HookOutput::default()), json!({}), "{event}");
        }
    }

    #[test]
    fn no_has_the_form_of_the_event() {
        let told = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }});
        assert_eq!(on("PreToolUse", HookOutput::deny("no")), told);
        let told = json!({"decision": "block", "reason": "no"});
        for event in ["PostToolUse", "UserPromptSubmit", "Stop"] {
            assert_eq!(on(event, HookOutput::block("no")), told, "{event}");
        }
    }

    #[test]
    fn input_context_and_stop_go_where_they_belong() {
        let answer = HookOutput::allow().with_input(&json!({"command": "ls"})).unwrap();
        let told = json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": "ls"},
        }});
        assert_eq!(on("PreToolUse", answer), told);
        let told = json!({"hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit", "additionalContext": "It is Monday.",
        }});
        assert_eq!(on("UserPromptSubmit", HookOutput::context("It is Monday.")), told);
        let told = json!({"continue": false, "stopReason": "enough"});
        assert_eq!(on("PostToolUse", HookOutput::stop("enough")), told);
        assert_eq!(on("Stop", HookOutput::in_background()), json!({"async": true}));
    }
}
