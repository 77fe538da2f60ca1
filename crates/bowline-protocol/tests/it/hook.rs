//! Hook input and output of every event, and hooks in settings files.

use std::{collections::BTreeSet, fmt::Debug, time::Duration};

use bowline_protocol::*;
use expect_test::expect;
use serde::Serialize;
use serde_json::Value;

const INPUTS: &str = include_str!("../fixtures/hook-inputs.ndjson");
const OUTPUTS: &str = include_str!("../fixtures/hook-outputs.ndjson");

/// Checks that `value`, read from `json`, keeps all of it.
fn is_whole(value: &(impl Serialize + Debug), json: &str) {
    let debug = format!("{value:?}");
    for escape in ["Unknown(", "Other(", "extra: {\""] {
        assert!(!debug.contains(escape), "{escape} in\n{debug}\n{json}");
    }
    // As text, because duplicate keys would vanish in a tree.
    let written = serde_json::to_string(value).unwrap();
    assert_eq!(written.len(), json.len(), "{written}\n{json}");
    let tree = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(tree(&written), tree(json));
}

#[test]
fn every_input_survives_a_round_trip() {
    let mut seen = BTreeSet::new();
    for line in INPUTS.lines() {
        let input = HookInput::parse(line).unwrap();
        is_whole(&input, line);
        assert_eq!(input.base.session_id.as_str(), "s");
        seen.insert(input.event_name());
    }
    assert_eq!(seen, HookEvent::KNOWN.iter().cloned().collect());
    let tags: BTreeSet<_> = EventInput::TAGS.iter().map(|&tag| HookEvent::from(tag)).collect();
    assert_eq!(seen, tags);
}

#[test]
fn every_output_survives_a_round_trip() {
    let mut seen = BTreeSet::new();
    for line in OUTPUTS.lines() {
        let output = HookOutput::parse(line).unwrap();
        is_whole(&output, line);
        let tree: Value = serde_json::from_str(line).unwrap();
        seen.extend(tree["hookSpecificOutput"]["hookEventName"].as_str().map(str::to_owned));
    }
    assert_eq!(seen, HookSpecificOutput::TAGS.iter().map(|&tag| tag.to_owned()).collect());
}

#[test]
fn matchers_are_compared_with_one_field_of_the_event() {
    let targets: Vec<String> = INPUTS
        .lines()
        .map(|line| HookInput::parse(line).unwrap())
        .inspect(|input| {
            let name = input.event_name();
            assert_eq!(input.matcher_target().is_some(), name.supports_matcher(), "{name}");
        })
        .filter_map(|input| Some(format!("{} {}", input.event_name(), input.matcher_target()?)))
        .collect();
    expect![[r#"
        PreToolUse Bash
        PostToolUse Bash
        PostToolUseFailure Bash
        Notification idle
        UserPromptExpansion c
        SessionStart resume
        SessionEnd other
        StopFailure rate_limit
        SubagentStart helper
        SubagentStop helper
        PreCompact manual
        PostCompact auto
        PreModelSwitch b
        PostModelSwitch b
        PermissionRequest Bash
        PermissionDenied Bash
        Setup init
        Elicitation std
        ElicitationResult std
        ConfigChange user_settings
        InstructionsLoaded include
        FileChanged .env
        DirectoryAdded slash_command"#]]
    .assert_eq(&targets.join("\n"));
}

#[test]
fn an_unknown_event_keeps_its_bytes_and_shows_its_base() {
    let json = r#"{"cwd":"/p","hook_event_name":"Novel","session_id":"s","transcript_path":"/t", "x":1.0}"#;
    let input = HookInput::parse(json).unwrap();
    assert_eq!(input.event_name(), HookEvent::Other("Novel".to_owned()));
    assert_eq!(input.base.cwd, "/p");
    assert_eq!(serde_json::to_string(&input).unwrap(), json);
}

#[test]
fn unknown_fields_of_an_input_are_kept_once() {
    let json = r#"{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"Setup","trigger":"init","novel":[1],"type":3}"#;
    let input = HookInput::parse(json).unwrap();
    assert_eq!(serde_json::to_string(&input).unwrap(), json);
}

#[test]
fn an_output_that_is_not_async_is_sync() {
    let output = HookOutput::parse("{}").unwrap();
    assert_eq!(output, HookOutput::default());
    let output = HookOutput::parse(r#"{"async":false,"decision":"block"}"#).unwrap();
    assert!(matches!(output, HookOutput::Sync(_)));
    assert_eq!(serde_json::to_string(&output).unwrap(), r#"{"decision":"block","async":false}"#);
}

#[test]
fn specific_output_names_its_event() {
    let name = |json: &str| HookSpecificOutput::parse(json).unwrap().event_name();
    for event in HookSpecificOutput::TAGS.iter().filter(|it| **it != "PermissionRequest") {
        let json = format!(r#"{{"hookEventName":"{event}","worktreePath":"/w"}}"#);
        assert_eq!(name(&json).as_str(), *event);
    }
    let json = r#"{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}"#;
    assert_eq!(name(json), HookEvent::PermissionRequest);
    assert_eq!(name(r#"{"hookEventName":"Novel"}"#), HookEvent::Other("Novel".to_owned()));
}

#[test]
fn errors_name_event_and_field() {
    let input = |json| HookInput::parse(json).unwrap_err().to_string();
    expect!["Setup: .: missing field `transcript_path` at line 1 column 44"]
        .assert_eq(&input(r#"{"hook_event_name":"Setup","session_id":"s"}"#));
    expect!["Setup: .: missing field `trigger` at line 1 column 76"].assert_eq(&input(
        r#"{"hook_event_name":"Setup","session_id":"s","transcript_path":"t","cwd":"c"}"#,
    ));
    let output = |json| HookOutput::parse(json).unwrap_err().to_string();
    expect![[r#"hook output: continue: invalid type: string "no", expected a boolean at line 1 column 16"#]].assert_eq(&output(r#"{"continue":"no"}"#));
    expect!["hook output: hookSpecificOutput: PermissionRequest: decision: HookPermissionResult: behavior: unknown value `maybe`, expected `allow` or `deny` at line 1 column 69"].assert_eq(&output(
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"maybe"}}}"#,
    ));
}

#[test]
fn settings_name_hooks_by_event_and_kind() {
    let json = r#"{"PreToolUse":[{"matcher":"Bash","hooks":[
        {"type":"command","command":"./check.sh","args":["-v"],"shell":"bash","onFailure":"block","async":true,"asyncRewake":false,"if":"Bash(git *)","timeout":10,"statusMessage":"checking","once":true},
        {"type":"prompt","prompt":"ok? $ARGUMENTS","model":"m","continueOnBlock":true},
        {"type":"agent","prompt":"look","model":"m","timeout":0.25},
        {"type":"http","url":"https://example.invalid","headers":{"A":"$B"},"allowedEnvVars":["B"],"onFailure":"continue"},
        {"type":"mcp_tool","server":"calc","tool":"add","input":{"a":"${tool_input.a}"}}
    ]}],"Stop":[{"hooks":[{"type":"novel","x":1}]}]}"#;
    let settings: HookSettings = serde_json::from_str(json).unwrap();
    let tree: Value = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_value(&settings).unwrap(), tree);

    let hooks = &settings[&HookEvent::PreToolUse][0].hooks;
    assert!(!format!("{hooks:?}").contains("extra: {\""), "{hooks:?}");
    assert_eq!(hooks[0].condition(), Some("Bash(git *)"));
    let limits: Vec<_> = hooks.iter().map(HookCommand::time_limit).collect();
    let expected =
        [Some(Duration::from_secs(10)), None, Some(Duration::from_millis(250)), None, None];
    assert_eq!(limits, expected);
    assert!(matches!(settings[&HookEvent::Stop][0].hooks[0], HookCommand::Unknown(_)));
}
