//! `bowline rpc` as people start it.

use std::{fs, path::Path, process::Command, thread, time::Duration};

use serde_json::{Value, json};

use crate::test_home::{Host, Ran, TestHome};

fn run(client: &mut Host, id: u64, params: Value) {
    client.send(json!({"jsonrpc": "2.0", "id": id, "method": "run", "params": params}));
}

/// Everything up to the last response of a run.
fn result(client: &mut Host) -> Value {
    loop {
        let line = client.receive().unwrap();
        if line["result"]["type"] == "result" || line.get("error").is_some() {
            return line;
        }
    }
}

#[test]
fn a_session_is_kept_and_goes_on() {
    let rig = TestHome::new();
    let mut client = rig.speak(["rpc", "--model", "script"]);
    run(&mut client, 1, json!({"prompt": "SAY one"}));
    let first = result(&mut client)["result"]["session_id"].clone();
    run(&mut client, 2, json!({"prompt": "SAY two", "session_id": first}));
    let second = result(&mut client);
    assert_eq!(second["result"]["session_id"], first);
    assert_eq!(second["result"]["result"], "two");
    client.close_input();
    assert_eq!(client.end().code, Some(0));
    assert_eq!(rig.transcripts().len(), 1);
}

#[test]
fn a_client_names_sessions_not_files() {
    let rig = TestHome::new();
    fs::write(rig.cwd().join("talk.jsonl"), "").unwrap();
    let mut client = rig.speak(["rpc", "--model", "script"]);
    let unknown = "11111111-1111-4111-8111-111111111111";
    for session in ["talk.jsonl", "", unknown] {
        run(&mut client, 1, json!({"prompt": "SAY x", "session_id": session}));
        let refused = result(&mut client);
        assert_eq!(refused["error"]["code"], -32602, "{session}: {refused}");
    }
}

#[test]
fn settings_errors_are_reported_at_start() {
    let rig = TestHome::new();
    let args = ["rpc", "--settings", "{oops"];
    let ran = Ran::from(rig.bowline(args).output().unwrap());
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("Error: "), "{}", ran.stderr);
}

#[test]
fn a_signal_ends_what_runs() {
    let rig = TestHome::new();
    let mut client = rig.speak(["rpc", "--model", "script", "--allowedTools", "Bash"]);
    let command = json!({"command": "echo $$ > pid && sleep 60"});
    run(&mut client, 1, json!({"prompt": format!("TOOL Bash {command}\nNEXT\nSAY late")}));
    let pid = loop {
        match fs::read_to_string(rig.cwd().join("pid")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => thread::sleep(Duration::from_millis(5)),
        }
    };
    Command::new("kill").arg(client.pid().to_string()).status().unwrap();
    assert_eq!(client.end_with_open_input().code, Some(128 + 15));
    let left = fs::read_to_string(Path::new("/proc").join(pid).join("cmdline"));
    assert!(left.unwrap_or_default().is_empty());
}
