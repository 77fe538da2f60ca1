//! A host on the other end of the pipes.

use std::fs;

use serde_json::{Value, json};

use crate::test_home::TestHome;

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

#[test]
fn initialize_then_a_prompt() {
    let mut host = TestHome::new().open(&[]);
    host.ask("i", json!({"subtype": "initialize", "hooks": null}));
    // Right after it, without waiting, as one of the SDKs does.
    host.prompt("SAY hi");
    host.close_input();
    let ran = host.end();
    let lines = ran.lines();
    assert_eq!(kinds(&lines), ["control_response", "system", "assistant", "result"]);
    let answer = &lines[0]["response"];
    assert_eq!((&answer["subtype"], &answer["request_id"]), (&"success".into(), &"i".into()));
    assert_eq!(answer["pending_permission_requests"], json!([]));
    for field in ["commands", "agents", "models", "account", "pid"] {
        assert!(!answer["response"][field].is_null(), "{field}: {answer}");
    }
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn prompts_without_initialize_run_in_order() {
    let mut host = TestHome::new().open(&[]);
    host.prompt("SAY one");
    host.await_kind("result");
    host.prompt("SAY two");
    assert_eq!(host.await_kind("result")["result"], "two");
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn a_permission_round_trip() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--permission-prompt-tool", "stdio"]);
    let file = rig.cwd().join("made.txt");
    let script = json!({"file_path": file, "content": "x"});
    host.prompt(&format!("TOOL Write {script}\nNEXT\nSAY done"));
    let question = host.await_kind("can_use_tool");
    assert_eq!(question["request"]["tool_name"], "Write");
    assert!(!file.exists());
    let input = json!({"file_path": file, "content": "changed by the host"});
    host.answer(&question, json!({"behavior": "allow", "updatedInput": input}));
    assert_eq!(host.await_kind("result")["result"], "done");
    assert_eq!(fs::read_to_string(&file).unwrap(), "changed by the host");
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn reconnecting_host_receives_pending_requests() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--permission-prompt-tool", "stdio"]);
    host.prompt("TOOL Bash {\"command\":\"touch made.txt\"}\nNEXT\nSAY done");
    let question = host.await_kind("can_use_tool");
    host.ask("again", json!({"subtype": "initialize"}));
    let answer = host.await_kind("control_response");
    assert_eq!(answer["response"]["pending_permission_requests"], json!([question]));
    host.answer(&question, json!({"behavior": "allow"}));
    assert_eq!(host.await_kind("result")["result"], "done");
    host.ask("and again", json!({"subtype": "initialize"}));
    let answer = host.await_kind("control_response");
    assert_eq!(answer["response"]["pending_permission_requests"], json!([]));
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn a_hook_round_trip() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--allowedTools", "Bash"]);
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]});
    host.ask("i", json!({"subtype": "initialize", "hooks": hooks}));
    host.prompt("TOOL Bash {\"command\":\"touch made.txt\"}\nNEXT\nSAY done");
    let call = host.await_kind("hook_callback");
    assert_eq!(call["request"]["callback_id"], "hook_0");
    assert_eq!(call["request"]["input"]["tool_name"], "Bash");
    host.answer(
        &call,
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "not today",
        }}),
    );
    let denied = host.await_kind("user").to_string();
    assert!(denied.contains("not today"), "{denied}");
    host.await_kind("result");
    assert!(!rig.cwd().join("made.txt").exists());
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn interrupt_response_precedes_its_effects() {
    let mut host = TestHome::new().open(&[]);
    host.prompt("SAY part\nHANG");
    host.await_kind("init");
    host.ask("stop", json!({"subtype": "interrupt"}));
    let mut seen = Vec::new();
    let result = loop {
        let line = host.receive().expect("a result");
        if line["type"] == "result" {
            break line;
        }
        seen.push(line);
    };
    let position = |kind: &str| seen.iter().position(|line| line["type"] == kind);
    assert!(position("control_response") < position("user"), "{seen:?}");
    assert_eq!(result["subtype"], "error_during_execution");
    host.prompt("SAY still here");
    assert_eq!(host.await_kind("result")["result"], "still here");
    host.close_input();
    // An error that was followed by a success is forgotten.
    assert_eq!(host.end().code, Some(0));
}

/// A prompt with a name.
fn named(uuid: &str, text: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}})
}

#[test]
fn an_interrupt_knows_the_prompts_before_it() {
    let [one, two, three] = [1, 2, 3].map(|n| format!("{n}1111111-1111-4111-8111-111111111111"));
    let mut host = TestHome::new().open(&[]);
    host.send(named(&one, "SAY part\nHANG"));
    host.await_kind("init");
    // In one write, so that they wait when the interrupt is read.
    let stop = json!({"type": "control_request", "request_id": "s", "request": {
        "subtype": "interrupt",
    }});
    host.say_raw(
        format!("{}\n{}\n{stop}\n", named(&two, "SAY two"), named(&three, "SAY three")).as_bytes(),
    );
    let answer = host.await_kind("control_response");
    assert_eq!(answer["response"]["response"]["still_queued"], json!([two, three]));
    host.await_kind("result");
    let ended = host.await_kind("command_lifecycle");
    assert_eq!((&ended["command_uuid"], &ended["state"]), (&json!(one), &json!("cancelled")));
    assert_eq!(host.await_kind("result")["user_message_uuids"], json!([two, three]));
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn prompts_for_later_have_a_turn_of_their_own() {
    let mut host = TestHome::new().open(&["--replay-user-messages"]);
    host.prompt("DELAY 300\nSAY one");
    host.await_kind("init");
    let prompt = |text: &str, priority: &str| json!({"type": "user", "priority": priority, "message": {"role": "user", "content": text}});
    for (text, priority) in [("SAY later", "later"), ("SAY two", "next"), ("SAY three", "next")] {
        host.send(prompt(text, priority));
    }
    host.close_input();
    let ran = host.end();
    let lines = ran.lines();
    let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
    let output: Vec<_> = results.iter().map(|result| &result["result"]).collect();
    assert_eq!(output, ["one", "three", "later"]);
    // Prompts of one turn are echoed together.
    let repeated = lines.iter().filter(|line| line["isReplay"] == true);
    let repeated: Vec<_> = repeated.map(|line| &line["message"]["content"]).collect();
    assert!(repeated.contains(&&json!("SAY two\nSAY three")), "{repeated:?}");
}

#[test]
fn cancelled_permission_request_is_denied() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--permission-prompt-tool", "stdio"]);
    host.prompt("TOOL Write {\"file_path\":\"w.txt\",\"content\":\"x\"}\nNEXT\nSAY done");
    let question = host.await_kind("can_use_tool");
    let path = json!(rig.cwd().join("w.txt"));
    assert_eq!(question["request"]["input"]["file_path"], path);
    host.ask("stop", json!({"subtype": "interrupt"}));
    let denials = host.await_kind("result")["permission_denials"].clone();
    assert_eq!(
        (&denials[0]["tool_name"], &denials[0]["tool_input"]["file_path"]),
        (&json!("Write"), &path)
    );
    host.close_input();
    host.end();
}

#[test]
fn control_requests_keep_their_order_among_prompts() {
    let mut host = TestHome::new().open(&[]);
    let mode = json!({"type": "control_request", "request_id": "m", "request": {
        "subtype": "set_permission_mode", "mode": "plan",
    }});
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "SAY hi"}});
    // In one write, so that the prompt is there when the request is read.
    host.say_raw(format!("{mode}\n{prompt}\n").as_bytes());
    host.close_input();
    let ran = host.end();
    let lines = ran.lines();
    let init = lines.iter().find(|line| line["subtype"] == "init");
    assert_eq!(init.map(|init| &init["permissionMode"]), Some(&json!("plan")), "{ran:?}");
}

#[test]
fn unknown_control_requests_are_refused_by_name() {
    let mut host = TestHome::new().open(&[]);
    host.ask("q", json!({"subtype": "no_such_thing"}));
    host.close_input();
    assert_eq!(
        host.end().lines(),
        [json!({"type": "control_response", "response": {
            "subtype": "error", "request_id": "q",
            "error": "Unsupported control request subtype: no_such_thing",
            "error_code": "unsupported_request",
        }})]
    );
}

#[test]
fn new_variables_reach_later_commands() {
    let mut host = TestHome::new().open(&["--allowedTools", "Bash"]);
    host.send(json!({"type": "update_environment_variables", "variables": {"FROM_HOST": "yes"}}));
    host.prompt("TOOL Bash {\"command\":\"echo [$FROM_HOST]\"}\nNEXT\nSAY done");
    let result = host.await_kind("user").to_string();
    assert!(result.contains("[yes]"), "{result}");
    host.close_input();
    host.end();
}

/// What a refused host sees that writes its first line once it has read why.
fn refused(rig: &TestHome, args: &[&str]) -> (bool, Option<i32>, String) {
    let mut host = rig.open(args);
    let why = host.read_stderr();
    let written = host.try_say(json!({"type": "control_request", "request_id": "i", "request": {
        "subtype": "initialize",
    }}));
    (written, host.end().code, why)
}

#[test]
fn a_refused_host_can_still_write_its_first_line() {
    let rig = TestHome::new();
    let id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    rig.ask(&["--session-id", id], "SAY one");
    let in_use = format!("Error: Session ID {id} is already in use.\n");
    assert_eq!(refused(&rig, &["--session-id", id]), (true, Some(1), in_use));
    let unknown = "error: unknown option '--nonsense'\n".to_owned();
    assert_eq!(refused(&rig, &["--nonsense"]), (true, Some(1), unknown));
}

#[test]
fn a_refused_host_that_says_nothing_is_not_waited_for() {
    let host = TestHome::new().open(&["--session-id", "nonsense"]);
    let ran = host.end_with_open_input();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
}
