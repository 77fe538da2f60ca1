//! The judge of commands: any text is parsed and judged without a panic, soon, and never more
//! leniently than it may be.
#![no_main]

use std::{
    path::Path,
    sync::LazyLock,
    time::{Duration, Instant},
};

use bowline_permission::{EvaluationContext, Policy, ProposedCall, Roots, RuleSource, Verdict};
use bowline_protocol::{PermissionBehavior, PermissionMode};
use bowline_shell::parse;
use bowline_tools::Access;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

/// A line is short, so that its judgment is, too.
const SOON: Duration = Duration::from_secs(2);

/// A project that exists, so that patterns and links have something to be held against.
static PROJECT: LazyLock<&Path> = LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")));

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leniency {
    Deny,
    Ask,
    Allow,
}

fn policy(mode: PermissionMode, rules: &[(PermissionBehavior, &str)]) -> Policy {
    let home = Some("/home/nobody".into());
    let mut policy = Policy::new(Roots { current_directory: PROJECT.to_path_buf(), home });
    policy.mode = mode;
    for (behavior, rule) in rules {
        policy.rules.add(RuleSource::CliArg, behavior, rule);
    }
    policy
}

fn judge(policy: &Policy, line: &str) -> Leniency {
    let input = json!({ "command": line });
    let access = Access::Command(line.to_owned());
    let call = ProposedCall {
        tool: "Bash",
        input: &input,
        access: &access,
        current_directory: &PROJECT,
        hook: None,
        needs_person: false,
    };
    match policy.evaluate(&call, EvaluationContext::default()) {
        Verdict::Allow(_) => Leniency::Allow,
        Verdict::Ask(_) => Leniency::Ask,
        Verdict::Deny(_) => Leniency::Deny,
    }
}

fuzz_target!(|line: &str| {
    use PermissionBehavior::{Allow, Ask, Deny};
    let start = Instant::now();
    let script = parse(line);
    let plain = judge(&policy(PermissionMode::Default, &[]), line);
    let edits = judge(&policy(PermissionMode::AcceptEdits, &[]), line);
    if script.opaque.is_some() {
        assert_ne!(plain, Leniency::Allow, "opaque and allowed");
        assert_ne!(edits, Leniency::Allow, "opaque and allowed where edits are accepted");
    }

    // A rule that restricts never lets more run, whatever else there is.
    let open = [(Allow, "Bash"), (Allow, "Read(//**)")];
    for restriction in [
        (Deny, "Read(.env)"),
        (Deny, "Read(./fuzz_targets/**)"),
        (Deny, "Edit(**)"),
        (Deny, "Bash(rm:*)"),
        (Deny, "Bash(cat *)"),
        (Ask, "Bash(git *)"),
        (Ask, "Read(//etc/**)"),
    ] {
        for (mode, rules) in [
            (PermissionMode::Default, &[][..]),
            (PermissionMode::Default, &open[..]),
            (PermissionMode::AcceptEdits, &[][..]),
            (PermissionMode::BypassPermissions, &[][..]),
        ] {
            let before = judge(&policy(mode.clone(), rules), line);
            let mut restricted = rules.to_vec();
            restricted.push(restriction.clone());
            let after = judge(&policy(mode.clone(), &restricted), line);
            assert!(after <= before, "{restriction:?} in {mode:?} makes {before:?} {after:?}");
        }
    }
    assert_eq!(judge(&policy(PermissionMode::BypassPermissions, &[(Deny, "Bash")]), line), Leniency::Deny);

    // Stricter modes are stricter.
    let planned = judge(&policy(PermissionMode::Plan, &[]), line);
    assert!(planned <= plain, "plan mode lets more run");
    let silent = judge(&policy(PermissionMode::DontAsk, &[]), line);
    assert!(silent == Leniency::Deny || plain == Leniency::Allow, "dontAsk lets more run");
    assert!(plain <= edits, "accepting edits takes something away");

    // Nothing but space around it is nothing.
    assert_eq!(judge(&policy(PermissionMode::Default, &[]), &format!(" {line}")), plain);
    assert!(start.elapsed() < SOON, "{:?} for {} bytes", start.elapsed(), line.len());
});
