//! Approval requests: suggestions, paths and reasons as the recordings have them.

use bowline_permission::{NoApproval, Verdict};
use bowline_protocol::CanUseTool;
use serde_json::{Value, json};

use super::bench::Bench;

/// What the host is told beside tool and input.
#[track_caller]
fn described(bench: &Bench, call: &str) -> Value {
    let mut request = CanUseTool::default();
    bench.question(call).describe(&mut request);
    let mut value = serde_json::to_value(request).unwrap();
    let fields = value.as_object_mut().unwrap();
    for field in ["tool_name", "input", "tool_use_id"] {
        fields.remove(field);
    }
    value
}

fn rule(tool: &str, content: &str, destination: &str) -> Value {
    json!({
        "type": "addRules",
        "rules": [{ "toolName": tool, "ruleContent": content }],
        "behavior": "allow",
        "destination": destination,
    })
}

fn accept_edits() -> Value {
    json!({ "type": "setMode", "mode": "acceptEdits", "destination": "session" })
}

fn directory(path: &str) -> Value {
    json!({ "type": "addDirectories", "directories": [path], "destination": "session" })
}

#[test]
fn a_file_command_offers_itself_its_directory_and_the_mode() {
    let bench = Bench::new().rules(&["allow Bash(touch:*)"]);
    let project = bench.project.to_str().unwrap();
    assert_eq!(
        described(&bench, "Bash rm a.txt"),
        json!({
            "permission_suggestions": [
                rule("Bash", "rm a.txt", "localSettings"), directory(project), accept_edits(),
            ],
            "blocked_path": bench.path("a.txt"),
        })
    );
    assert_eq!(
        described(&bench, "Bash touch b.txt && rm b.txt"),
        json!({
            "permission_suggestions": [
                rule("Bash", "touch b.txt && rm b.txt", "localSettings"),
                directory(project),
                accept_edits(),
            ],
            "blocked_path": bench.path("b.txt"),
        })
    );
}

#[test]
fn an_edit_offers_the_mode_and_outside_also_the_directory() {
    let bench = Bench::new();
    let inside = json!({ "permission_suggestions": [accept_edits()] });
    assert_eq!(described(&bench, "Write w.txt"), inside);
    let outside = described(&bench, "Write OUTSIDE/w.txt");
    let expected = json!([accept_edits(), directory(bench.outside.to_str().unwrap())]);
    assert_eq!(outside["permission_suggestions"], expected);
    assert_eq!(outside["decision_reason_type"], "workingDir");
}

#[test]
fn suggestions_are_the_narrowest_rules() {
    let bench = Bench::new();
    let outside = format!("/{}/**", bench.outside.display());
    let local = "localSettings";
    for (call, expected) in [
        ("Read OUTSIDE/b.txt", rule("Read", &outside, "session")),
        ("Grep OUTSIDE", rule("Read", &outside, "session")),
        ("Bash npm test", rule("Bash", "npm test *", local)),
        ("Bash cargo build --release", rule("Bash", "cargo build *", local)),
        ("Bash make", rule("Bash", "make", local)),
        ("Bash python x.py", rule("Bash", "python x.py", local)),
        ("Bash python run", rule("Bash", "python run", local)),
        ("Bash sudo apt install", rule("Bash", "sudo apt install", local)),
        ("Bash foo ./x *", rule("Bash", "foo ./x \\*", local)),
        ("Bash npm test && npm run x", rule("Bash", "npm test && npm run x", local)),
        ("WebFetch https://example.com/x", rule("WebFetch", "domain:example.com", local)),
        ("Skill review", rule("Skill", "review", local)),
    ] {
        assert_eq!(described(&bench, call)["permission_suggestions"], json!([expected]), "{call}");
    }
    let file = bench.outside.join("b.txt");
    let command = rule("Bash", &format!("cat {}", file.display()), local);
    assert_eq!(
        described(&bench, "Bash cat OUTSIDE/b.txt")["permission_suggestions"],
        json!([command, rule("Read", &outside, "session")])
    );
    let unknown = described(&bench, "Bash npm test");
    assert_eq!(unknown["decision_reason"], "This command requires approval");
    let tool = json!([{
        "type": "addRules", "rules": [{ "toolName": "mcp__calc__add" }],
        "behavior": "allow", "destination": "localSettings",
    }]);
    assert_eq!(described(&bench, "mcp__calc__add"), json!({ "permission_suggestions": tool }));
    assert_eq!(
        described(&bench, "Bash a b \\\n c")["permission_suggestions"],
        json!([rule("Bash", "a b *", local)])
    );
    assert_eq!(described(&bench, "Bash ./a\n./b").get("permission_suggestions"), None);
}

/// Accepting a suggestion answers the same question from then on.
#[test]
fn suggested_rules_allow_the_call() {
    for call in [
        "Read OUTSIDE/b.txt",
        "Bash cat OUTSIDE/b.txt",
        "Bash npm test",
        "Bash foo ./x * 'a (b)'",
        "Bash touch b.txt && rm b.txt",
        "Bash echo x > y",
        "WebFetch https://example.com/x",
        "Skill review",
        "mcp__calc__add",
        "Write w.txt",
        "Write OUTSIDE/w.txt",
        "Bash case x in *) a;; esac",
        "Bash rm $x",
        "Bash x :*",
    ] {
        let mut bench = Bench::new();
        for suggestion in bench.question(call).suggestions {
            bench.policy.apply(&suggestion).unwrap();
        }
        assert!(matches!(bench.verdict(call), Verdict::Allow(_)), "{call}: {}", bench.short(call));
    }
}

#[test]
fn a_hook_and_a_rule_say_who_asks() {
    let hook = Bench::new().hook("ask");
    assert_eq!(
        described(&hook, "Bash touch made.txt"),
        json!({
            "decision_reason": "because hook",
            "decision_reason_type": "hook",
            "decision_reason_hook_event": "PreToolUse",
            "decision_reason_hook_source": "settings",
        })
    );
    let asked = Bench::new().rules(&["ask Bash(git push *)"]);
    let found = described(&asked, "Bash git push");
    assert_eq!(found["decision_reason_type"], "rule");
    assert_eq!(
        found["matched_ask_rule"],
        json!({ "source": "cliArg", "tool_name": "Bash", "rule_content": "git push *" })
    );
    let person = described(&Bench::new().needs_person(), "AskUserQuestion");
    assert_eq!(person, json!({ "requires_user_interaction": true }));
}

#[test]
fn a_question_without_answer_is_a_refusal_with_its_reason() {
    let bench = Bench::new();
    let denial = bench.question("Bash touch made.txt").unapproved(NoApproval::NoSurface);
    let path = bench.path("made.txt");
    assert!(denial.message.starts_with(&format!("touch in '{path}' needs approval")));
    assert!(denial.announced);
    assert_eq!(
        serde_json::to_value(denial.rejected()).unwrap(),
        json!({ "decision": "reject", "source": "config" })
    );
    assert_eq!(denial.non_execution_kind.as_str(), "user-rejected");
    let denial = bench.question("Write w.txt").unapproved(NoApproval::PromptsOff);
    assert_eq!(denial.rejected().reason_type.unwrap().as_str(), "asyncAgent");
}
