//! Processes that a host starts before it knows what for.

use std::fs;

use serde_json::{Value, json};

use crate::test_home::{Host, TestHome};

/// A folder with things that a session can find, other than the one in which the process waits.
fn project(rig: &TestHome) -> String {
    let folder = rig.cwd().join("claimed");
    fs::create_dir_all(folder.join(".claude/commands")).unwrap();
    fs::write(folder.join(".claude/commands/knot.md"), "SAY a knot").unwrap();
    folder.display().to_string()
}

fn claim(cwd: &str) -> Value {
    json!({
        "subtype": "claim_session", "cwd": cwd, "sdk_mcp_servers": [], "include_initialize": true,
    })
}

/// The response to a request.
fn answer(host: &mut Host, request: Value) -> Value {
    host.ask("q", request);
    loop {
        let line = host.await_kind("control_response");
        if line["response"]["request_id"] == "q" {
            return line["response"].clone();
        }
    }
}

#[test]
fn a_claim_decides_where_the_session_works() {
    let rig = TestHome::new();
    let folder = project(&rig);
    let mut host = rig.open(&["--await-claim", "--allowedTools", "Bash"]);
    host.ask("i", json!({"subtype": "initialize", "hooks": null}));
    host.await_kind("control_response");
    let mut request = claim(&folder);
    request["title"] = "Knots".into();
    request["permission_mode"] = "plan".into();
    request["agents"] = json!({"pilot": {"description": "d", "prompt": "p"}});
    host.ask("c", request);
    // Right after it, without waiting, as the SDK does.
    host.prompt("TOOL Bash {\"command\":\"pwd\"}\nNEXT\nSAY done");
    let news = ["commands_changed", "status", "session_title_changed"];
    let news = news.map(|kind| host.await_kind(kind)["session_id"].clone());
    let claimed = host.await_kind("control_response")["response"]["response"].clone();
    assert_eq!((&claimed["status"], &claimed["cwd"]), (&json!("ok"), &json!(folder)), "{claimed}");
    assert_eq!(claimed["sdk_mcp_settled"], true);
    assert!(claimed["parked_ms"].is_u64(), "{claimed}");
    let found = claimed["initialize"].to_string();
    assert!(found.contains("knot") && found.contains("pilot"), "{found}");
    let init = host.await_kind("init");
    assert_eq!((&init["cwd"], &init["permissionMode"]), (&json!(folder), &json!("plan")));
    assert!(news.iter().all(|id| *id == init["session_id"]), "{news:?}");
    assert!(host.await_kind("user").to_string().contains(&folder));
    assert_eq!(host.await_kind("result")["result_index"], 0);
    host.close_input();
    assert_eq!(host.end().code, Some(0));
    let kept = rig.transcripts();
    let id = init["session_id"].as_str().unwrap();
    assert!(kept.len() == 1 && kept[0].ends_with(format!("{id}.jsonl")), "{kept:?}");
}

#[test]
fn initialize_before_claim_applies_to_claimed_session() {
    let rig = TestHome::new();
    let folder = project(&rig);
    let mut host = rig.open(&["--await-claim"]);
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]});
    host.ask("i", json!({"subtype": "initialize", "hooks": hooks}));
    host.await_kind("control_response");
    let settings = json!({"permissions": {"allow": ["Bash"]}});
    host.ask("s", json!({"subtype": "apply_flag_settings", "settings": settings}));
    host.ask("c", claim(&folder));
    host.prompt("TOOL Bash {\"command\":\"touch made\"}\nNEXT\nSAY done");
    let call = host.await_kind("hook_callback");
    assert_eq!(call["request"]["input"]["cwd"], json!(folder));
    host.answer(&call, json!({}));
    assert_eq!(host.await_kind("result")["permission_denials"], json!([]));
    assert!(rig.cwd().join("claimed/made").exists());
    host.close_input();
    host.end();
}

#[test]
fn claims_that_cannot_be_met_leave_the_process_waiting() {
    let rig = TestHome::new();
    let folder = project(&rig);
    let mut host = rig.open(&["--await-claim"]);
    let mut strange = claim(&folder);
    strange["env"] = json!({"PATH": "/"});
    let mut bypassing = claim(&folder);
    bypassing["permission_mode"] = "bypassPermissions".into();
    for (request, why) in [
        (claim("/no/such/folder"), "cwd_not_found: "),
        (strange, "env_key_not_claimable: PATH is read during start-up"),
        (bypassing, "permission_mode_not_claimable: Cannot set permission mode"),
    ] {
        let refused = answer(&mut host, request);
        let output = refused["error"].as_str().unwrap_or_default();
        assert!(output.starts_with(why), "{refused}");
    }
    host.prompt("SAY too early");
    let refused = host.await_kind("result");
    let output = refused["errors"][0].as_str().unwrap();
    assert!(output.starts_with("not_claimed: "), "{refused}");
    assert_eq!(answer(&mut host, claim(&folder))["subtype"], "success");
    let again = answer(&mut host, claim(&folder));
    assert!(again["error"].as_str().unwrap().starts_with("not_a_spare: "), "{again}");
    host.prompt("SAY now");
    let result = host.await_kind("result");
    assert_eq!((&result["result"], &result["result_index"]), (&json!("now"), &json!(1)));
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn settings_hooks_run_for_the_claimed_session_only() {
    let rig = TestHome::new();
    let folder = project(&rig);
    let log = rig.cwd().join("log");
    let hook = |event: &str| {
        let command = format!("echo {event} $PWD >> {}", log.display());
        json!([{"hooks": [{"type": "command", "command": command}]}])
    };
    rig.configure(json!({"hooks": {"SessionStart": hook("begun"), "SessionEnd": hook("over")}}));
    let mut host = rig.open(&["--await-claim"]);
    assert_eq!(answer(&mut host, claim(&folder))["subtype"], "success");
    host.close_input();
    assert_eq!(host.end().code, Some(0));
    let received = fs::read_to_string(&log).unwrap();
    assert_eq!(received, format!("begun {folder}\nover {folder}\n"));
}

#[test]
fn unclaimed_process_ends_quietly() {
    let mut host = TestHome::new().open(&["--await-claim"]);
    host.ask("i", json!({"subtype": "initialize"}));
    host.await_kind("control_response");
    host.close_input();
    let ran = host.end();
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn managed_settings_can_come_with_initialize() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--await-initialize", "--managed-settings-in-initialize"]);
    let settings = json!({"permissions": {"deny": ["Bash"]}});
    host.ask("i", json!({"subtype": "initialize", "managedSettings": settings}));
    let answer = host.await_kind("control_response");
    assert_eq!(answer["response"]["response"]["managed_settings_applied"], true, "{answer}");
    // Later ones do not count.
    host.ask("again", json!({"subtype": "initialize", "managedSettings": {}}));
    let answer = host.await_kind("control_response");
    assert_eq!(answer["response"]["response"]["managed_settings_applied"], false, "{answer}");
    host.prompt("SAY hi");
    let tools = host.await_kind("init")["tools"].to_string();
    assert!(tools.contains("\"Read\"") && !tools.contains("\"Bash\""), "{tools}");
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn managed_settings_that_were_promised_must_come() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--await-initialize", "--managed-settings-in-initialize"]);
    host.ask("i", json!({"subtype": "initialize"}));
    let ran = host.end();
    let why = "Error: --managed-settings-in-initialize requires initialize.managedSettings to be a \
               JSON object.\n";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", why));
}

#[test]
fn first_line_other_than_initialize_is_reported_in_a_result() {
    let rig = TestHome::new();
    let args = [
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--verbose",
        "--model=script",
        "--await-initialize",
    ];
    let mut command = rig.bowline(args);
    command.env("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1");
    let mut host = Host::of(command, &rig);
    host.prompt("SAY hi");
    let ran = host.end();
    let result = &ran.lines()[0];
    assert_eq!(
        (ran.code, &result["startup_failure_reason"]),
        (Some(1), &json!("initialize_not_first"))
    );
    let why = result["errors"][0].as_str().unwrap();
    assert_eq!(ran.stderr, format!("{why}\n"));
    assert!(why.starts_with("Error: --await-initialize requires the initialize"), "{why}");
}
