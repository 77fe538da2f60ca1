//! The listing of rules.

use bowline_permission::RuleSource;
use bowline_protocol::PermissionBehavior::{Allow, Deny};
use serde_json::json;

use super::bench::Bench;

#[test]
fn rules_are_listed_as_recorded() {
    let bench = Bench::new().rules(&["allow Bash(ls:*)"]);
    assert_eq!(
        serde_json::to_value(bench.policy.list()).unwrap(),
        json!({
            "rules": [{
                "behavior": "allow",
                "source": "cliArg",
                "rule": "Bash(ls:*)",
                "description": { "prefix": "Any Bash command starting with ", "emphasis": "ls" },
                "editability": "session",
            }],
            "workspaceDirectories": [],
            "originalCwd": bench.project,
            "managedOnly": false,
        })
    );
}

#[test]
fn rules_without_effect_say_why() {
    let mut bench = Bench::new();
    bench.policy.rules.add(RuleSource::User, &Deny, "Write(x)");
    bench.policy.rules.add(RuleSource::User, &Allow, "Bash(");
    let outside = bench.outside.clone();
    bench.policy.add_directory(RuleSource::CliArg, &outside);
    let listed = serde_json::to_value(bench.policy.list()).unwrap();
    assert_eq!(listed["rules"].as_array().unwrap().len(), 1);
    assert_eq!(listed["rules"][0]["notInEffect"], "the rule matches nothing");
    assert_eq!(listed["errors"][0]["source"], "userSettings");
    assert_eq!(listed["errors"][1]["rule"], "Bash(");
    assert_eq!(listed["workspaceDirectories"][0]["path"], outside.to_str().unwrap());
}
