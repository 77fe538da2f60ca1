//! Verdicts, their reasons, and how hosts and models are informed of them.

use bowline_protocol::{
    CanUseTool, DecisionReasonType, DecisionSource, Extra, MatchedRule, NonExecutionKind,
    PermissionDecision, PermissionUpdate, PermissionVerdict,
};
use bowline_sandbox::Confinement;

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may run.
    Allow(Reason),
    /// It needs approval.
    Ask(Box<ApprovalRequest>),
    /// It may not run.
    Deny(Denial),
}

/// On what grounds something was decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reason {
    /// The kind of grounds. Some calls are allowed, or asked about, by their nature alone.
    pub kind: Option<DecisionReasonType>,
    /// The grounds in words.
    pub text: Option<String>,
    /// The rule that matched.
    pub rule: Option<MatchedRule>,
    /// Where the hook is defined that decided.
    pub hook_source: Option<String>,
    /// What a command is held to that is allowed because it only reads.
    pub confinement: Option<Confinement>,
}

/// A request for approval of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// Why it needs approval.
    pub reason: Reason,
    /// The result for the model if there is no response.
    pub message: String,
    /// What "always allow" would change.
    pub suggestions: Vec<PermissionUpdate>,
    /// The path that needs approval.
    pub blocked_path: Option<String>,
    /// The rule that demands approval.
    pub matched_ask_rule: Option<MatchedRule>,
    /// Whether the tool itself prompts the user.
    pub requires_user_interaction: bool,
    /// Whether an approval may cover more than this call.
    pub may_be_remembered: bool,
}

/// A denial.
#[derive(Debug, Clone, PartialEq)]
pub struct Denial {
    /// Why.
    pub reason: Reason,
    /// The result for the model.
    pub message: String,
    /// Whether a `permission_denied` message is sent. Hooks and path rules refuse quietly.
    pub announced: bool,
    /// Why the call did not run, for the result's metadata.
    pub non_execution_kind: NonExecutionKind,
}

/// Why an approval request got no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoApproval {
    /// No approver is attached.
    NoSurface,
    /// Prompts are turned off for the session.
    PromptsOff,
}

impl Reason {
    /// These grounds, without words.
    pub fn of(kind: DecisionReasonType) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// The same, in these words.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    pub(super) fn rule(kind: DecisionReasonType, rule: MatchedRule) -> Self {
        Self { rule: Some(rule), ..Self::of(kind) }
    }

    fn decision(&self, decision: PermissionVerdict) -> PermissionDecision {
        let source = match self.kind {
            Some(DecisionReasonType::Hook) => DecisionSource::Hook,
            _ => DecisionSource::Config,
        };
        let reason_type = self.kind.clone();
        PermissionDecision { decision, source, reason_type, extra: Extra::new() }
    }

    /// The metadata in the result of a call that was allowed on these grounds.
    pub fn accepted(&self) -> PermissionDecision {
        self.decision(PermissionVerdict::Accept)
    }
}

impl Denial {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        let message = message.into();
        let non_execution_kind = NonExecutionKind::PermissionRule;
        Self { reason, message, announced: true, non_execution_kind }
    }

    /// The metadata in the result.
    pub fn rejected(&self) -> PermissionDecision {
        let mut decision = self.reason.decision(PermissionVerdict::Reject);
        // A hook that demands approval decides nothing; the missing approver does.
        if self.non_execution_kind == NonExecutionKind::UserRejected {
            decision.source = DecisionSource::Config;
        }
        decision
    }
}

impl ApprovalRequest {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            suggestions: Vec::new(),
            blocked_path: None,
            matched_ask_rule: None,
            requires_user_interaction: false,
            may_be_remembered: true,
        }
    }

    /// The denial if there is no response.
    pub fn unapproved(self, why: NoApproval) -> Denial {
        match why {
            NoApproval::NoSurface => Denial {
                non_execution_kind: NonExecutionKind::UserRejected,
                ..Denial::new(self.reason, self.message)
            },
            NoApproval::PromptsOff => {
                let message = format!(
                    "{} Permission prompts are turned off for this session, so it was not run.",
                    self.message
                );
                Denial::new(Reason::of(DecisionReasonType::AsyncAgent), message)
            }
        }
    }

    /// Fills in the fields of the request to the host.
    pub fn describe(&self, request: &mut CanUseTool) {
        if !self.suggestions.is_empty() {
            request.permission_suggestions = Some(self.suggestions.clone());
        }
        if !self.may_be_remembered {
            request.permission_suggestions = Some(Vec::new());
            request.suppress_always_allow_rule = Some(true);
        }
        let about_safety = self.reason.kind == Some(DecisionReasonType::SafetyCheck);
        request.classifier_approvable = about_safety.then_some(self.may_be_remembered);
        request.blocked_path.clone_from(&self.blocked_path);
        request.decision_reason.clone_from(&self.reason.text);
        request.decision_reason_type.clone_from(&self.reason.kind);
        request.matched_ask_rule.clone_from(&self.matched_ask_rule);
        if let Some(rule) = &self.matched_ask_rule {
            let source = rule.source.as_str().into();
            request.extra.insert("decision_reason_rule_source".to_owned(), source);
            request.extra.insert("server_policy_ask_only".to_owned(), false.into());
        }
        request.requires_user_interaction = self.requires_user_interaction.then_some(true);
        if let Some(source) = &self.reason.hook_source {
            request.extra.insert("decision_reason_hook_event".to_owned(), "PreToolUse".into());
            request.extra.insert("decision_reason_hook_source".to_owned(), source.as_str().into());
        }
    }
}
