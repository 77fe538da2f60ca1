//! Permission rules as people write them, and the results of permission requests.

use bowline_protocol::{
    PermissionBehavior, PermissionMode, PermissionResult, PermissionRule, PermissionUpdate,
    UpdateDestination, split_rules,
};
use expect_test::expect;
use serde_json::json;

/// Text, tool, specifier, and the text it is written back as.
const RULES: &[(&str, &str, Option<&str>, &str)] = &[
    ("Bash", "Bash", None, "Bash"),
    ("  Bash  ", "Bash", None, "Bash"),
    ("Bash()", "Bash", None, "Bash"),
    ("Bash(*)", "Bash", None, "Bash"),
    ("Bash(git *)", "Bash", Some("git *"), "Bash(git *)"),
    ("Bash(git:*)", "Bash", Some("git:*"), "Bash(git:*)"),
    ("Bash( a )", "Bash", Some(" a "), "Bash( a )"),
    ("Edit(/src/**/*.rs)", "Edit", Some("/src/**/*.rs"), "Edit(/src/**/*.rs)"),
    ("Read(//etc/**)", "Read", Some("//etc/**"), "Read(//etc/**)"),
    (
        "WebFetch(domain:example.com)",
        "WebFetch",
        Some("domain:example.com"),
        "WebFetch(domain:example.com)",
    ),
    ("mcp__calc__*", "mcp__calc__*", None, "mcp__calc__*"),
    (r"Bash(echo \(a\))", "Bash", Some("echo (a)"), r"Bash(echo \(a\))"),
    (r"Bash(a \\ b)", "Bash", Some(r"a \ b"), r"Bash(a \\ b)"),
    // Parentheses may also stand unescaped, and other backslashes are no escapes.
    ("Bash(f(1))", "Bash", Some("f(1)"), r"Bash(f\(1\))"),
    (r"Bash(printf \n)", "Bash", Some(r"printf \n"), r"Bash(printf \\n)"),
    ("Bash(écho ü)", "Bash", Some("écho ü"), "Bash(écho ü)"),
];

#[test]
fn rules_are_read_and_written() {
    for &(text, tool, content, written) in RULES {
        let rule: PermissionRule = text.parse().unwrap();
        assert_eq!((rule.tool_name.as_str(), rule.content()), (tool, content), "{text}");
        assert_eq!(rule.to_string(), written, "{text}");
        assert_eq!(written.parse::<PermissionRule>().unwrap(), rule, "{text}");
    }
}

#[test]
fn invalid_rule_error_names_fault_and_position() {
    let errors: Vec<String> = ["", "(git)", "Bash(git", r"Bash(git\)", "Bash)", "Bash(a) b"]
        .iter()
        .map(|text| text.parse::<PermissionRule>().unwrap_err().to_string())
        .collect();
    expect![[r#"
        rule `` names no tool
        rule `(git)` names no tool
        rule `Bash(git`: the parenthesis at 4 is not closed
        rule `Bash(git\)`: the parenthesis at 4 is not closed
        rule `Bash)`: the parenthesis at 4 was not opened
        rule `Bash(a) b`: unexpected text at 7, after the closing parenthesis"#]]
    .assert_eq(&errors.join("\n"));
}

#[test]
fn lists_are_split_outside_parentheses() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        (" , ,", &[]),
        ("Bash", &["Bash"]),
        ("Bash,Read Edit", &["Bash", "Read", "Edit"]),
        ("Bash(git *), Read(a, b)", &["Bash(git *)", "Read(a, b)"]),
        ("Bash(f(1, 2) x) Read", &["Bash(f(1, 2) x)", "Read"]),
        (r"Bash(echo \), x) Read", &[r"Bash(echo \), x)", "Read"]),
        ("Bash(git, Read", &["Bash(git, Read"]),
    ];
    for (text, rules) in cases {
        assert_eq!(split_rules(text).collect::<Vec<_>>(), *rules, "{text}");
    }
    assert_eq!(PermissionRule::parse_list("Bash(ls *) Read").unwrap().len(), 2);
}

#[test]
fn any_specifier_survives_a_round_trip() {
    proptest::proptest!(|(content in ".*")| {
        let rule = PermissionRule::scoped("Tool", content.clone());
        let read: PermissionRule = rule.to_string().parse().unwrap();
        proptest::prop_assert_eq!(read.content(), rule.content());
    });
}

#[test]
fn manual_mode_is_an_alias_of_default() {
    let mode = PermissionMode::from("manual");
    assert_eq!(mode.as_str(), "manual");
    assert_eq!(mode.canonical(), PermissionMode::Default);
}

#[test]
fn permission_updates_have_the_wire_format() {
    let (user, git) = (UpdateDestination::UserSettings, PermissionRule::scoped("Bash", "git *"));
    let rules = |kind| {
        json!({
            "type": kind,
            "rules": [{"toolName": "Bash", "ruleContent": "git *"}],
            "behavior": "ask",
            "destination": "userSettings",
        })
    };
    let ask = PermissionBehavior::Ask;
    let change = PermissionUpdate::add_rules(user.clone(), ask.clone(), [git.clone()]);
    assert_eq!(json!(change), rules("addRules"));
    let change = PermissionUpdate::replace_rules(user.clone(), ask.clone(), [git.clone()]);
    assert_eq!(json!(change), rules("replaceRules"));
    let change = PermissionUpdate::remove_rules(user, ask, [git]);
    assert_eq!(json!(change), rules("removeRules"));
    let folders = |kind| json!({"type": kind, "directories": ["/a"], "destination": "session"});
    let change = PermissionUpdate::add_directories(UpdateDestination::Session, ["/a"]);
    assert_eq!(json!(change), folders("addDirectories"));
    let change = PermissionUpdate::remove_directories(UpdateDestination::Session, ["/a"]);
    assert_eq!(json!(change), folders("removeDirectories"));
    let change = PermissionUpdate::set_mode(UpdateDestination::CliArg, PermissionMode::Plan);
    let told = json!({"type": "setMode", "mode": "plan", "destination": "cliArg"});
    assert_eq!(json!(change), told);

    let yes = PermissionResult::allow_with(json!({"a": 1})).and_from_now_on([change.clone()]);
    let told = json!({"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [told]});
    assert_eq!(json!(yes), told);
    let no = PermissionResult::deny("no");
    assert_eq!(no.clone().and_from_now_on([change]), no);
}

#[test]
fn unclear_permission_result_is_an_error_that_names_the_field() {
    let error = |json| PermissionResult::parse(json).unwrap_err().to_string();
    expect!["deny: .: missing field `message` at line 1 column 19"]
        .assert_eq(&error(r#"{"behavior":"deny"}"#));
    expect!["PermissionResult: behavior: unknown value `Allow`, expected `allow` or `deny`"]
        .assert_eq(&error(r#"{"behavior":"Allow"}"#));
    expect!["PermissionResult: behavior: missing, expected `allow` or `deny`"]
        .assert_eq(&error(r#"{"updatedInput":{}}"#));
    expect![[
        r#"deny: interrupt: invalid type: string "yes", expected a boolean at line 1 column 51"#
    ]]
    .assert_eq(&error(r#"{"behavior":"deny","message":"no","interrupt":"yes"}"#));
    expect!["allow: updatedPermissions[0]: setMode: .: missing field `mode` at line 1 column 42"].assert_eq(&error(
        r#"{"behavior":"allow","updatedPermissions":[{"type":"setMode","destination":"session"}]}"#,
    ));
    expect!["not a message: invalid type: boolean `true`, expected an object at line 1 column 4"]
        .assert_eq(&error("true"));
}
