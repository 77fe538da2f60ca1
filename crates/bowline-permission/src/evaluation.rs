//! The verdict on a call: rules, safety, hooks, mode and working directories in their order.

use std::path::Path;

use bowline_protocol::{
    DecisionReasonType, HookPermissionDecision, PermissionBehavior, PermissionMode, PermissionRule,
    PermissionUpdate,
};

use super::{
    call::{HookOpinion, ProposedCall},
    location::Location,
    policy::Policy,
    resolved_access::ResolvedAccess,
    rule::{Rule, Subject},
    sensitive_path::sensitivity,
    source::RuleSource,
    suggestions,
    verdict::{ApprovalRequest, Denial, NoApproval, Reason, Verdict},
};

/// The parts of a decision that belong to the caller and not to the session.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvaluationContext<'a> {
    /// A mode that overrides the session's.
    pub mode: Option<&'a PermissionMode>,
    /// The folder in which the calling agent keeps what it learns, which it may read and write at any time.
    pub memory: Option<&'a Path>,
}

/// A policy as it applies to one caller. Evaluating does not change the policy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evaluation<'a> {
    pub(super) policy: &'a Policy,
    pub(super) mode: &'a PermissionMode,
    pub(super) memory: Option<&'a Path>,
}

impl Policy {
    /// Decides about a call in the context of its caller.
    pub fn evaluate(&self, call: &ProposedCall<'_>, context: EvaluationContext<'_>) -> Verdict {
        self.in_context(context).evaluate(call)
    }

    /// Whether a rule matches a call: for the `if` condition of hooks.
    ///
    /// Any part of a command may match, and a command that cannot be parsed completely always does:
    /// a superfluous hook run is safer than a missed one.
    pub fn rule_matches(&self, rule: &PermissionRule, call: &ProposedCall<'_>) -> bool {
        let rule = self.rules.prepared(RuleSource::Session, &PermissionBehavior::Ask, rule.clone());
        let access = ResolvedAccess::of(call, self);
        let hidden = matches!((&rule.subject, &access),
            (Subject::Command(_), ResolvedAccess::Command(line)) if line.hides);
        hidden || rule.restricts(call, &access)
    }

    /// Whether a call is known to be read-only.
    pub fn is_read_only(&self, call: &ProposedCall<'_>) -> bool {
        match ResolvedAccess::of(call, self) {
            ResolvedAccess::Fetch(_) | ResolvedAccess::Other => false,
            access => !self.in_context(EvaluationContext::default()).changes_something(&access),
        }
    }

    fn in_context<'a>(&'a self, context: EvaluationContext<'a>) -> Evaluation<'a> {
        let EvaluationContext { mode, memory } = context;
        Evaluation { policy: self, mode: mode.unwrap_or(&self.mode), memory }
    }
}

impl<'a> Evaluation<'a> {
    /// The verdict, in order: a hook's denial, deny rules, blocked paths, then
    /// [`evaluate_undenied`](Self::evaluate_undenied).
    fn evaluate(&self, call: &ProposedCall<'_>) -> Verdict {
        if let Some(HookOpinion { decision: HookPermissionDecision::Deny, reason, source }) =
            call.hook
        {
            let text = reason.as_deref().unwrap_or("denied");
            return Verdict::Deny(Denial {
                announced: false,
                ..Denial::new(
                    hook_reason(reason, source),
                    format!("PreToolUse:{} hook error: {text}", call.tool),
                )
            });
        }
        let access = ResolvedAccess::of(call, self.policy);
        if let Some(rule) = self.restricting(&PermissionBehavior::Deny, call, &access) {
            let mut denial = denied_by(rule, call, &access);
            // A hook allowed the call, so the host already knows of it: no `permission_denied`
            // message.
            denial.announced &= !is_allowed_by_hook(call);
            return Verdict::Deny(denial);
        }
        if let Some(outside) = self.blocked(&access) {
            let path = outside.named().display();
            let text = format!("{path} is outside the working directories of this session");
            let message = format!("{text}, and settings keep {} inside them.", call.tool);
            return Verdict::Deny(Denial::new(
                Reason::of(DecisionReasonType::WorkingDir).text(text),
                message,
            ));
        }
        match self.evaluate_undenied(call, &access) {
            Verdict::Ask(request) => self.ask_or_deny(call, request),
            verdict => verdict,
        }
    }

    /// A path outside of the working directories that settings block, whatever else allows it.
    fn blocked<'e>(&self, access: &'e ResolvedAccess) -> Option<&'e Location> {
        match access {
            ResolvedAccess::Read(locations) if self.policy.blocks_reads_outside => {
                locations.iter().find(|location| !self.may_read(location))
            }
            ResolvedAccess::Edit(location) if self.policy.blocks_writes_outside => Some(location)
                .filter(|location| {
                    !self.policy.is_inside(location) && !self.is_agents_own(location)
                }),
            _ => None,
        }
    }

    /// Turns an approval request into a denial in a mode without prompts.
    fn ask_or_deny(&self, call: &ProposedCall<'_>, request: Box<ApprovalRequest>) -> Verdict {
        match *self.mode {
            // The hook demands approval, and nothing can give it.
            PermissionMode::DontAsk if request.reason.kind == Some(DecisionReasonType::Hook) => {
                Verdict::Deny(request.unapproved(NoApproval::NoSurface))
            }
            PermissionMode::DontAsk => Verdict::Deny(Denial::new(
                Reason::of(DecisionReasonType::Mode),
                format!(
                    "Permission to use {} has been denied because the session is in dontAsk mode, \
                     where only calls that are already allowed run. Continue without it, or name \
                     the permission that it needs.",
                    call.tool
                ),
            )),
            PermissionMode::Auto
                if request.matched_ask_rule.is_none() && !request.requires_user_interaction =>
            {
                Verdict::Deny(Denial::new(
                    Reason::of(DecisionReasonType::Classifier),
                    format!(
                        "Permission to use {} has been denied because no classifier is available \
                         to decide about it in auto mode.",
                        call.tool
                    ),
                ))
            }
            _ => Verdict::Ask(request),
        }
    }

    /// The verdict once no deny rule applies: ask rules, safety checks, the hook's decision, mode,
    /// access.
    fn evaluate_undenied(&self, call: &ProposedCall<'_>, access: &ResolvedAccess) -> Verdict {
        if let Some(rule) = self.restricting(&PermissionBehavior::Ask, call, access) {
            let text = format!("The rule {} ({}) demands approval.", rule.text, rule.source);
            let reason = Reason::rule(DecisionReasonType::Rule, rule.matched()).text(text);
            let mut request = ApprovalRequest::new(reason, needs_approval(call));
            request.matched_ask_rule = Some(rule.matched());
            request.requires_user_interaction = call.needs_person;
            return Verdict::Ask(Box::new(request));
        }
        if call.needs_person {
            let mut request = ApprovalRequest::new(Reason::default(), needs_approval(call));
            request.requires_user_interaction = true;
            return Verdict::Ask(Box::new(request));
        }
        if let Some(request) = self.failed_safety_check(call, access) {
            return Verdict::Ask(Box::new(request));
        }
        if let Some(verdict) = call.hook.and_then(|hook| hook_verdict(call, hook)) {
            return verdict;
        }
        match *self.mode {
            PermissionMode::BypassPermissions => {
                Verdict::Allow(Reason::of(DecisionReasonType::Mode))
            }
            PermissionMode::Plan if self.changes_something(access) => {
                let reason = Reason::of(DecisionReasonType::Mode)
                    .text("The session is in plan mode, in which nothing is changed.");
                Verdict::Ask(Box::new(ApprovalRequest::new(reason, needs_approval(call))))
            }
            _ => self.by_access(call, access),
        }
    }

    /// Allow rules, and accesses that need none, such as reads in a working directory.
    fn by_access(&self, call: &ProposedCall<'_>, access: &ResolvedAccess) -> Verdict {
        let by_rule = || {
            let mut rules = self.policy.rules.with_behavior(&PermissionBehavior::Allow);
            let rule = rules.find(|rule| rule.names(call, access))?;
            Some(allowed(rule))
        };
        let by_mode = || Verdict::Allow(Reason::of(DecisionReasonType::Mode));
        match access {
            ResolvedAccess::Nothing => by_rule().unwrap_or(Verdict::Allow(Reason::default())),
            ResolvedAccess::Read(locations) => {
                let mut elsewhere =
                    locations.iter().filter(|it| !self.is_readable_without_rule(it));
                let outside = elsewhere.clone().find(|location| self.read_rule(location).is_none());
                match outside {
                    None => elsewhere
                        .find_map(|location| self.read_rule(location))
                        .map_or_else(by_mode, allowed),
                    Some(outside) => by_rule().unwrap_or_else(|| {
                        self.ask_outside(call, outside, suggestions::for_read(outside))
                    }),
                }
            }
            ResolvedAccess::Edit(location) => {
                let inside = self.policy.is_inside(location);
                let accepted = *self.mode == PermissionMode::AcceptEdits && inside;
                if accepted || self.is_agents_own(location) {
                    return by_mode();
                }
                by_rule()
                    .or_else(|| self.edit_rule(location).map(allowed))
                    .unwrap_or_else(|| self.ask_edit(call, location, inside))
            }
            ResolvedAccess::Command(line) => {
                by_rule().unwrap_or_else(|| self.evaluate_command(call, line))
            }
            ResolvedAccess::Fetch(_) | ResolvedAccess::Other => by_rule().unwrap_or_else(|| {
                // Whether it changes something is unknown.
                let planning =
                    (*self.mode == PermissionMode::Plan).then_some(DecisionReasonType::Mode);
                let reason = Reason { kind: planning, ..Reason::default() };
                let mut request = ApprovalRequest::new(reason, needs_approval(call));
                request.suggestions = suggestions::for_tool(call, access);
                Verdict::Ask(Box::new(request))
            }),
        }
    }

    /// Whether a file may be read without approval.
    pub(super) fn may_read(&self, location: &Location) -> bool {
        self.is_readable_without_rule(location) || self.read_rule(location).is_some()
    }

    fn is_readable_without_rule(&self, location: &Location) -> bool {
        self.policy.is_inside(location)
            || self.is_agents_own(location)
            || self.policy.readable.iter().any(|path| location.is_within(&Location::of(path)))
    }

    /// The rule that allows reading a file.
    fn read_rule(&self, location: &Location) -> Option<&'a Rule> {
        let covers =
            |rule: &&Rule| matches!(&rule.subject, Subject::Read(it) if it.covers(location));
        self.policy.rules.with_behavior(&PermissionBehavior::Allow).find(covers)
    }

    /// The rule that allows changing a file.
    pub(super) fn edit_rule(&self, location: &Location) -> Option<&'a Rule> {
        self.policy.rules.with_behavior(&PermissionBehavior::Allow).find(
            |rule| matches!(&rule.subject, Subject::Edit(pattern) if pattern.covers(location)),
        )
    }

    /// Whether only the agent itself uses what it writes there: its plan, its memory.
    fn is_agents_own(&self, location: &Location) -> bool {
        self.policy.plan_file.as_ref().is_some_and(|plan| Location::of(plan) == *location)
            || self.memory.is_some_and(|folder| location.is_within(&Location::of(folder)))
    }

    fn restricting(
        &self,
        behavior: &PermissionBehavior,
        call: &ProposedCall<'_>,
        access: &ResolvedAccess,
    ) -> Option<&Rule> {
        self.policy.rules.with_behavior(behavior).find(|rule| rule.restricts(call, access))
    }

    fn changes_something(&self, access: &ResolvedAccess) -> bool {
        match access {
            ResolvedAccess::Edit(location) => !self.is_agents_own(location),
            ResolvedAccess::Command(line) => !line.script.is_read_only(),
            ResolvedAccess::Nothing
            | ResolvedAccess::Read(_)
            | ResolvedAccess::Fetch(_)
            | ResolvedAccess::Other => false,
        }
    }

    /// Safety checks that no rule, hook or mode overrides.
    fn failed_safety_check(
        &self,
        call: &ProposedCall<'_>,
        access: &ResolvedAccess,
    ) -> Option<ApprovalRequest> {
        let safety = |text: String| {
            let message = format!("{} {text}.", needs_approval(call));
            ApprovalRequest::new(Reason::of(DecisionReasonType::SafetyCheck).text(text), message)
        };
        let sensitive = |location: &Location| {
            let text = sensitivity(location).filter(|_| !self.is_agents_own(location))?;
            let blocked_path = Some(location.named().display().to_string());
            Some(ApprovalRequest { blocked_path, ..safety(text) })
        };
        match access {
            ResolvedAccess::Edit(location) => sensitive(location).map(|mut request| {
                let edits = *self.mode == PermissionMode::AcceptEdits;
                request.suggestions.extend((!edits).then(suggestions::accept_edits));
                request
            }),
            ResolvedAccess::Command(line) => {
                if let Some(danger) = line.script.danger() {
                    let request = safety(format!("`{}` {}", danger.command, danger.reason));
                    return Some(ApprovalRequest { may_be_remembered: false, ..request });
                }
                if let Some(request) = line.written_files().find_map(sensitive) {
                    return Some(request);
                }
                let restricts_files = self.policy.rules.restricts_files();
                let may_break_rule = line.hides
                    && (self.policy.rules.restricts_commands() || restricts_files)
                    || line.hides_files && restricts_files;
                may_break_rule.then(|| {
                    let text = "The command cannot be parsed completely, so it may contain \
                                something that a rule denies";
                    let message = format!("{} {text}.", needs_approval(call));
                    ApprovalRequest::new(
                        Reason::of(DecisionReasonType::Unspecified).text(text),
                        message,
                    )
                })
            }
            ResolvedAccess::Nothing
            | ResolvedAccess::Read(_)
            | ResolvedAccess::Fetch(_)
            | ResolvedAccess::Other => None,
        }
    }

    fn ask_outside(
        &self,
        call: &ProposedCall<'_>,
        outside: &Location,
        suggestions: Vec<PermissionUpdate>,
    ) -> Verdict {
        let path = outside.named().display();
        let text = format!("{path} is outside the working directories of this session");
        let message = format!("{} {text}.", needs_approval(call));
        let reason = Reason::of(DecisionReasonType::WorkingDir).text(text);
        let mut request = ApprovalRequest::new(reason, message);
        request.blocked_path = Some(path.to_string());
        request.suggestions = suggestions;
        Verdict::Ask(Box::new(request))
    }

    fn ask_edit(&self, call: &ProposedCall<'_>, location: &Location, inside: bool) -> Verdict {
        if !inside {
            let suggestions = suggestions::for_edit_outside(location, self.mode);
            return self.ask_outside(call, location, suggestions);
        }
        let mut request = ApprovalRequest::new(Reason::default(), needs_approval(call));
        request.suggestions = vec![suggestions::accept_edits()];
        Verdict::Ask(Box::new(request))
    }
}

pub(super) fn allowed(rule: &Rule) -> Verdict {
    Verdict::Allow(Reason::rule(DecisionReasonType::Rule, rule.matched()))
}

pub(super) fn needs_approval(call: &ProposedCall<'_>) -> String {
    format!("This call of {} needs approval, which has not been given.", call.tool)
}

fn hook_reason(reason: &Option<String>, source: &str) -> Reason {
    Reason {
        text: reason.clone(),
        hook_source: Some(source.to_owned()),
        ..Reason::of(DecisionReasonType::Hook)
    }
}

fn is_allowed_by_hook(call: &ProposedCall<'_>) -> bool {
    call.hook.is_some_and(|hook| hook.decision == HookPermissionDecision::Allow)
}

/// The verdict of a hook's decision, after rules and safety checks.
fn hook_verdict(call: &ProposedCall<'_>, hook: &HookOpinion) -> Option<Verdict> {
    let reason = hook_reason(&hook.reason, &hook.source);
    match hook.decision {
        HookPermissionDecision::Allow => Some(Verdict::Allow(reason)),
        HookPermissionDecision::Ask => {
            let message = hook.reason.clone().unwrap_or_else(|| needs_approval(call));
            Some(Verdict::Ask(Box::new(ApprovalRequest::new(reason, message))))
        }
        _ => None,
    }
}

fn denied_by(rule: &Rule, call: &ProposedCall<'_>, access: &ResolvedAccess) -> Denial {
    let tool = call.tool;
    let by_path = matches!(rule.subject, Subject::Read(_) | Subject::Edit(_));
    let kind = match (&rule.subject, access) {
        (Subject::Command(_), _) => DecisionReasonType::SubcommandResults,
        (_, ResolvedAccess::Command(_)) if by_path => DecisionReasonType::SubcommandResults,
        _ => DecisionReasonType::Rule,
    };
    let reason = Reason::rule(kind, rule.matched());
    match access {
        ResolvedAccess::Command(line) => Denial::new(
            reason,
            format!("Permission to use {tool} with command {} has been denied.", line.text),
        ),
        ResolvedAccess::Read(_) | ResolvedAccess::Edit(_) if by_path => Denial {
            announced: false,
            ..Denial::new(
                reason,
                format!("Permission to use {tool} here has been denied by the rule {}.", rule.text),
            )
        },
        _ => Denial::new(reason, format!("Permission to use {tool} has been denied.")),
    }
}
