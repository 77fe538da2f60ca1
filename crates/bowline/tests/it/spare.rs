//! Processes that a host starts before it knows what for.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Host, Place};

/// A folder with things that a session can find, other than the one in which the process waits.
fn project(place: &Place) -> String {
    let folder = place.cwd().join("claimed");
    fs::create_dir_all(folder.join(".claude/commands")).unwrap();
    fs::write(folder.join(".claude/commands/knot.md"), "SAY a knot").unwrap();
    folder.display().to_string()
}

fn claim(cwd: &str) -> Value {
    json!({
        "subtype": "claim_session", "cwd": cwd, "sdk_mcp_servers": [], "include_initialize": true,
    })
}

/// The answer to a question.
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
    let place = Place::new();
    let folder = project(&place);
    let mut host = place.open(&["--await-claim", "--allowedTools", "Bash"]);
    host.ask("i", json!({"subtype": "initialize", "hooks": null}));
    host.await_kind("control_response");
    let mut request = claim(&folder);
    request["title"] = "Knots".into();
    request["permission_mode"] = "plan".into();
    request["agents"] = json!({"pilot": {"description": "d", "prompt": "p"}});
    host.ask("c", request);
    // Right behind it, without waiting, as the SDK does.
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
    let kept = place.transcripts();
    let id = init["session_id"].as_str().unwrap();
    assert!(kept.len() == 1 && kept[0].ends_with(format!("{id}.jsonl")), "{kept:?}");
}

#[test]
fn what_the_host_brought_before_holds_for_what_it_claims() {
    let place = Place::new();
    let folder = project(&place);
    let mut host = place.open(&["--await-claim"]);
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
    assert!(place.cwd().join("claimed/made").exists());
    host.close_input();
    host.end();
}

#[test]
fn claims_that_cannot_be_met_leave_the_process_waiting() {
    let place = Place::new();
    let folder = project(&place);
    let mut host = place.open(&["--await-claim"]);
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
        let said = refused["error"].as_str().unwrap_or_default();
        assert!(said.starts_with(why), "{refused}");
    }
    host.prompt("SAY too early");
    let refused = host.await_kind("result");
    let said = refused["errors"][0].as_str().unwrap();
    assert!(said.starts_with("not_claimed: "), "{refused}");
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
fn hooks_of_settings_hear_of_one_session() {
    let place = Place::new();
    let folder = project(&place);
    let log = place.cwd().join("log");
    let hook = |event: &str| {
        let command = format!("echo {event} $PWD >> {}", log.display());
        json!([{"hooks": [{"type": "command", "command": command}]}])
    };
    place.configure(json!({"hooks": {"SessionStart": hook("begun"), "SessionEnd": hook("over")}}));
    let mut host = place.open(&["--await-claim"]);
    assert_eq!(answer(&mut host, claim(&folder))["subtype"], "success");
    host.close_input();
    assert_eq!(host.end().code, Some(0));
    let heard = fs::read_to_string(&log).unwrap();
    assert_eq!(heard, format!("begun {folder}\nover {folder}\n"));
}

#[test]
fn a_process_that_nobody_claims_ends_quietly() {
    let mut host = Place::new().open(&["--await-claim"]);
    host.ask("i", json!({"subtype": "initialize"}));
    host.await_kind("control_response");
    host.close_input();
    let ran = host.end();
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn managed_settings_can_come_with_initialize() {
    let place = Place::new();
    let mut host = place.open(&["--await-initialize", "--managed-settings-in-initialize"]);
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
    let place = Place::new();
    let mut host = place.open(&["--await-initialize", "--managed-settings-in-initialize"]);
    host.ask("i", json!({"subtype": "initialize"}));
    let ran = host.end();
    let why = "Error: --managed-settings-in-initialize requires initialize.managedSettings to be a \
               JSON object.\n";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", why));
}

#[test]
fn a_first_line_other_than_initialize_can_be_heard_of_in_a_result() {
    let place = Place::new();
    let args = [
        "--output-format=stream-json",
        "--input-format=stream-json",
        "--verbose",
        "--model=script",
        "--await-initialize",
    ];
    let mut command = place.bowline(args);
    command.env("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1");
    let mut host = Host::of(command, &place);
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
