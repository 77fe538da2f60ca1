//! End of a session: by input, output and signals.

use std::{fs, process::Command, thread, time::Duration};

use serde_json::json;

use crate::test_home::{Host, TestHome};

fn signal(host: &Host, name: &str) {
    let kill = Command::new("kill").args([format!("-{name}"), host.pid().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[test]
fn empty_input_ends_without_a_turn() {
    let mut host = TestHome::new().open(&[]);
    host.close_input();
    let ran = host.end();
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn running_turn_finishes_after_end_of_input() {
    let mut host = TestHome::new().open(&["--allowedTools", "Bash"]);
    host.prompt("TOOL Bash {\"command\":\"sleep 0.3; echo slept\"}\nNEXT\nSAY one");
    host.close_input();
    let ran = host.end();
    assert_eq!(ran.lines().last().unwrap()["result"], "one", "{}", ran.stdout);
    assert!(ran.stdout.contains("slept"), "{}", ran.stdout);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn a_session_without_work_ends_by_itself_where_that_is_wanted() {
    let rig = TestHome::new();
    let fixed = ["--output-format=stream-json", "--verbose", "--model=script", "--max-turns=1"];
    let mut command = rig.bowline(fixed);
    command.arg("--input-format=stream-json").env("CLAUDE_CODE_EXIT_AFTER_STOP_DELAY", "50");
    let mut host = Host::of(command, &rig);
    host.prompt("TOOL Bash {\"command\":\"ls\"}\nNEXT\nSAY x");
    assert_eq!(host.await_kind("result")["subtype"], "error_max_turns");
    // Input stays open, and what the turn came to is no matter.
    let ran = host.end_with_open_input();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn pending_permission_request_is_denied_at_end_of_input() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--permission-prompt-tool", "stdio"]);
    host.prompt("TOOL Bash {\"command\":\"touch made.txt\"}\nNEXT\nSAY after");
    host.await_kind("can_use_tool");
    host.close_input();
    let refused = host.await_kind("user").to_string();
    assert!(refused.contains("stream closed"), "{refused}");
    assert_eq!(host.await_kind("result")["result"], "after");
    assert_eq!(host.end().code, Some(0));
    assert!(!rig.cwd().join("made.txt").exists());
}

#[test]
fn an_open_hook_says_nothing() {
    let mut host = TestHome::new().open(&["--allowedTools", "Bash"]);
    let hooks = json!({"PreToolUse": [{"matcher": null, "hookCallbackIds": ["hook_0"]}]});
    host.ask("i", json!({"subtype": "initialize", "hooks": hooks}));
    host.prompt("TOOL Bash {\"command\":\"echo ran\"}\nNEXT\nSAY after");
    host.await_kind("hook_callback");
    host.close_input();
    assert_eq!(host.await_kind("result")["result"], "after");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn the_last_result_decides() {
    let mut host = TestHome::new().open(&["--max-turns", "1"]);
    host.prompt("TOOL Bash {\"command\":\"ls\"}\nNEXT\nSAY x");
    assert_eq!(host.await_kind("result")["subtype"], "error_max_turns");
    host.close_input();
    assert_eq!(host.end().code, Some(1));
}

#[test]
fn ctrl_c_ends_the_turn_and_the_session() {
    let mut host = TestHome::new().open(&[]);
    host.prompt("SAY part\nHANG");
    host.await_kind("init");
    signal(&host, "INT");
    assert_eq!(host.await_kind("result")["subtype"], "error_during_execution");
    assert_eq!(host.end().code, Some(0));
}

#[test]
fn to_be_terminated_is_to_say_no_more() {
    for (name, code) in [("TERM", 143), ("HUP", 129)] {
        let mut host = TestHome::new().open(&[]);
        host.prompt("SAY part\nHANG");
        host.await_kind("init");
        signal(&host, name);
        let ran = host.end();
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "{name}");
        assert!(!ran.stdout.contains("\"result\""), "{}", ran.stdout);
    }
}

#[test]
fn commands_die_with_the_session() {
    let rig = TestHome::new();
    let mut host = rig.open(&["--allowedTools", "Bash"]);
    let command = "echo $$ > pid; exec sleep 300";
    host.prompt(&format!("TOOL Bash {}\nNEXT\nSAY x", json!({"command": command})));
    host.await_kind("assistant");
    let file = rig.cwd().join("pid");
    let pid = loop {
        match fs::read_to_string(&file) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => std::thread::yield_now(),
        }
    };
    signal(&host, "TERM");
    assert_eq!(host.end().code, Some(143));
    let alive = Command::new("kill").args(["-0", &pid]).output().unwrap();
    assert!(!alive.status.success(), "{pid} still runs");
}

#[test]
fn a_host_that_stops_listening_ends_it() {
    let mut host = TestHome::new().open(&[]);
    host.prompt("SAY one");
    host.await_kind("result");
    host.close_output();
    host.prompt("SAY two");
    // Input stays open: the closed output alone has to be enough.
    let ran = host.end_with_open_input();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_host_that_does_not_read_stalls_the_agent_and_not_its_memory() {
    let mut host = TestHome::new().open(&["--include-partial-messages"]);
    host.prompt("SAY hello");
    host.await_kind("result");
    let before = resident_kilobytes(host.pid());

    // Tens of megabytes of messages, none of which is read.
    host.prompt("TOKENS 80000");
    let mut spent = ticks(host.pid());
    let mut still = 0;
    while still < 10 {
        thread::sleep(Duration::from_millis(50));
        let now = ticks(host.pid());
        still = if now == spent { still + 1 } else { 0 };
        spent = now;
    }
    let grown = resident_kilobytes(host.pid()) - before;
    assert!(grown < 12 * 1024, "{grown} KB more");

    let whole = host.await_kind("result");
    assert_eq!(whole["result"].as_str().unwrap().split_whitespace().count(), 80_000);
    host.close_input();
    assert_eq!(host.end().code, Some(0));
}

/// The memory that a process has at the moment.
fn resident_kilobytes(pid: i32) -> i64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The time that a process has used so far.
fn ticks(pid: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}
