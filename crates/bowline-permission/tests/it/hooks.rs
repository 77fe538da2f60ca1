//! Precedence of the decisions of `PreToolUse` hooks.

use bowline_permission::Verdict;
use bowline_protocol::{DecisionReasonType, DecisionSource};

use super::bench::Bench;

#[test]
fn a_hook_allows_only_what_no_rule_and_no_safety_check_holds_back() {
    let rules = ["deny Bash(rm *)", "ask Bash(git push *)"];
    Bench::new().hook("allow").rules(&rules).check(&[
        ("Bash touch made.txt", "allow hook"),
        ("Write OUTSIDE/w.txt", "allow hook"),
        ("Bash rm x", "deny subcommandResults"),
        ("Bash git push", "ask rule"),
        ("Write .git/config", "ask safetyCheck"),
        ("Bash chmod -R 777 /", "ask safetyCheck"),
    ]);
    Bench::new().mode("plan").hook("allow").check(&[("Write w.txt", "allow hook")]);
}

#[test]
fn a_hook_that_asks_overrides_allow_rules_and_bypass() {
    Bench::new().hook("ask").rules(&["allow Bash"]).check(&[("Bash touch x", "ask hook")]);
    Bench::new().hook("ask").mode("bypassPermissions").check(&[("Bash touch x", "ask hook")]);
    Bench::new().hook("ask").mode("dontAsk").check(&[("Bash touch x", "deny hook")]);
    let question = Bench::new().hook("ask").question("Bash touch made.txt");
    assert_eq!(question.reason.text.as_deref(), Some("because hook"));
    assert_eq!((question.suggestions, question.blocked_path), (vec![], None));
}

#[test]
fn a_hook_denies_quietly() {
    let bench = Bench::new().hook("deny").mode("bypassPermissions");
    let denial = bench.denial("Bash touch made.txt");
    assert_eq!(denial.message, "PreToolUse:Bash hook error: because hook");
    assert!(!denial.announced);
    let decision = denial.rejected();
    assert_eq!(decision.source, DecisionSource::Hook);
    assert_eq!(decision.reason_type, Some(DecisionReasonType::Hook));
}

#[test]
fn an_opinion_without_decision_changes_nothing() {
    Bench::new().hook("defer").check(&[("Bash touch x", "ask"), ("Read a.txt", "allow mode")]);
    let Verdict::Allow(reason) = Bench::new().verdict("Read a.txt") else { panic!("allowed") };
    assert_eq!(reason.accepted().source, DecisionSource::Config);
}
