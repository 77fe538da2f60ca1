//! Changes during a session.

use bowline_protocol::{PermissionUpdate, UpdateDestination};
use serde_json::{Value, json};

use super::bench::Bench;

fn update(value: Value) -> PermissionUpdate {
    serde_json::from_value(value).unwrap()
}

fn rules(kind: &str, rule: &str, destination: &str) -> PermissionUpdate {
    let (tool, content) = rule.split_once('(').unwrap();
    update(json!({
        "type": kind,
        "rules": [{ "toolName": tool, "ruleContent": content.trim_end_matches(')') }],
        "behavior": "allow",
        "destination": destination,
    }))
}

#[test]
fn rules_come_and_go() {
    let mut bench = Bench::new();
    let kept = bench.policy.apply(&rules("addRules", "Bash(npm *)", "session")).unwrap();
    assert_eq!(kept, None);
    assert_eq!(bench.short("Bash npm test"), "allow subcommandResults");
    bench.policy.apply(&rules("replaceRules", "Bash(make *)", "session")).unwrap();
    assert_eq!(bench.short("Bash npm test"), "ask");
    assert_eq!(bench.short("Bash make x"), "allow subcommandResults");
    // The rule of another destination is another rule.
    bench.policy.apply(&rules("removeRules", "Bash(make *)", "localSettings")).unwrap();
    assert_eq!(bench.short("Bash make x"), "allow subcommandResults");
    bench.policy.apply(&rules("removeRules", "Bash(make *)", "session")).unwrap();
    assert_eq!(bench.short("Bash make x"), "ask");
}

#[test]
fn only_settings_files_are_written() {
    let mut bench = Bench::new();
    for (destination, written) in [
        ("userSettings", true),
        ("projectSettings", true),
        ("localSettings", true),
        ("session", false),
        ("cliArg", false),
        ("somethingNewer", false),
    ] {
        let change = rules("addRules", "Bash(npm *)", destination);
        let kept = bench.policy.apply(&change).unwrap();
        let expected = written.then(|| UpdateDestination::from(destination));
        assert_eq!(kept.map(|kept| kept.destination), expected);
    }
}

#[test]
fn modes_and_directories_change_at_once() {
    let mut bench = Bench::new();
    let mode =
        |mode: &str| update(json!({ "type": "setMode", "mode": mode, "destination": "session" }));
    bench.policy.apply(&mode("acceptEdits")).unwrap();
    assert_eq!(bench.short("Write w.txt"), "allow mode");
    assert_eq!(
        bench.policy.apply(&mode("bypassPermissions")).unwrap_err().code(),
        "bypass_not_launched"
    );
    assert_eq!(bench.short("Write w.txt"), "allow mode");
    let directories = |kind: &str| {
        update(json!({ "type": kind, "directories": [bench.outside], "destination": "session" }))
    };
    let (add, remove) = (directories("addDirectories"), directories("removeDirectories"));
    bench.policy.apply(&add).unwrap();
    assert_eq!(bench.short("Write OUTSIDE/w.txt"), "allow mode");
    bench.policy.apply(&remove).unwrap();
    assert_eq!(bench.short("Write OUTSIDE/w.txt"), "ask workingDir");
    let newer = update(json!({ "type": "somethingNewer", "x": 1 }));
    assert_eq!(bench.policy.apply(&newer), Ok(None));
}
