//! An agent that misbehaves in every way we have seen.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bowline_host::{
    Client, Error, HookCall, HookEvent, HookMatcher, HookOutput, McpServerConfig, Message, Options,
    PermissionResult, ProcessError, Settings, ToolRequest,
    protocol::{HookFailure, McpStdioServer},
    query,
};
use serde_json::{Value, json};
use tokio::{
    process::{Child, Command},
    sync::{Barrier, Notify},
};

use crate::rig::{
    PATIENCE, example, fake, fake_path, gone, last_error, pid, result, soon, stopped, told,
    write_script,
};

fn with_code(mut options: Options, code: i32) -> Options {
    options.process.extra_args.insert("code".to_owned(), Some(code.to_string()));
    options
}

fn process_error(error: Error) -> ProcessError {
    match error {
        Error::Process(error) => error,
        other => panic!("not about a process: {other:?}"),
    }
}

#[tokio::test]
async fn unreadable_message_does_not_end_the_session() {
    let expected = [
        "unknown",
        "system",
        "assistant [unknown, text 2]",
        "error json",
        "error message",
        "result odd",
    ];
    assert_eq!(told(query("go", fake("odd"))).await, expected);
}

#[tokio::test]
async fn five_megabytes_are_a_line_like_any_other() {
    assert_eq!(told(query("go", fake("big"))).await, ["assistant [text 5000000]", "result big"]);
}

#[tokio::test]
async fn line_beyond_a_raised_limit_is_read_and_beyond_the_limit_is_one_error() {
    let mut options = fake("big");
    options.process.extra_args.insert("length".to_owned(), Some("10000000".to_owned()));
    options.limits.line = 8_000_000;
    assert_eq!(told(query("go", options.clone())).await, ["error json", "result big"]);
    options.limits.line = 30_000_000;
    assert_eq!(told(query("go", options)).await, ["assistant [text 10000000]", "result big"]);
}

#[tokio::test]
async fn a_line_beyond_the_limit_is_an_error_of_its_own() {
    let mut options = fake("big");
    options.limits.line = 1_000_000;
    assert_eq!(told(query("go", options)).await, ["error json", "result big"]);
}

#[tokio::test]
async fn an_end_in_mid_turn_is_an_error_whatever_the_code() {
    for code in [0, 3] {
        let error = last_error(query("go", with_code(fake("exit"), code))).await;
        let error = process_error(error);
        assert_eq!((error.code, error.signal), (Some(code), None));
        assert_eq!(&*error.stderr, "something broke\n");
    }
}

#[tokio::test]
async fn end_before_the_first_response_is_known_at_once() {
    for code in [0, 3] {
        let start = Instant::now();
        let connected = Client::connect(with_code(fake("exit_first"), code)).await;
        let error = process_error(connected.unwrap_err());
        assert_eq!((error.code, &*error.stderr), (Some(code), "something broke\n"));
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }
}

#[tokio::test]
async fn agents_end_fails_every_pending_call() {
    let client = Client::connect(with_code(fake("serve"), 4)).await.unwrap();
    client.query("go").await.unwrap();
    assert_eq!(result(client.receive_response()).await, "heard");
    let mut messages = client.receive_messages();
    let (reader, asker, killer) = soon("the pending calls", async {
        tokio::join!(messages.next(), client.set_model(Some("die")), client.set_model(Some("die")))
    })
    .await;
    for error in [reader.unwrap().unwrap_err(), asker.unwrap_err(), killer.unwrap_err()] {
        assert_eq!(process_error(error).code, Some(4));
    }
    let late = soon("a late asker", client.set_model(None)).await;
    assert_eq!(process_error(late.unwrap_err()).code, Some(4));
}

#[tokio::test]
async fn an_end_in_a_callback_drops_the_callback() {
    for code in [0, 3] {
        let started = Arc::new(Notify::new());
        let dropped = Arc::new(AtomicBool::new(false));
        let (start, drops) = (started.clone(), dropped.clone());
        let mut options = fake("exit_in_callback").can_use_tool(move |_: ToolRequest| {
            let (start, guard) = (start.clone(), OnDrop(drops.clone()));
            async move {
                let _guard = guard;
                start.notify_one();
                std::future::pending::<PermissionResult>().await
            }
        });
        // A caller that waited for one of our own limits would be found to hang.
        options.limits.close = PATIENCE * 10;
        options.limits.request = PATIENCE * 10;
        let client = Client::connect(with_code(options, code)).await.unwrap();
        client.query("go").await.unwrap();
        soon("the callback", started.notified()).await;
        client.query("now").await.unwrap();
        let error = process_error(last_error(client.receive_messages()).await);
        assert_eq!((error.code, &*error.stderr), (Some(code), "something broke\n"));
        assert!(dropped.load(Ordering::SeqCst));
    }
}

/// Notes that it was dropped.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn callbacks_run_side_by_side() {
    // Neither callback returns before both have begun.
    let both = Arc::new(Barrier::new(2));
    let options = fake("two_questions").can_use_tool(move |request: ToolRequest| {
        let both = both.clone();
        async move {
            both.wait().await;
            PermissionResult::deny(request.tool_name.clone())
        }
    });
    let text = result(query("go", options)).await;
    let mut answers: Vec<_> = text.lines().collect();
    answers.sort_unstable();
    let expected = [
        r#"1: {"behavior":"deny","message":"Bash"}"#,
        r#"2: {"behavior":"deny","message":"Read"}"#,
    ];
    assert_eq!(answers, expected);
}

#[tokio::test]
async fn cancelled_permission_request_drops_its_callback() {
    let started = Arc::new(Notify::new());
    let dropped = Arc::new(AtomicBool::new(false));
    let (start, drops) = (started.clone(), dropped.clone());
    let options = fake("withdraw").can_use_tool(move |_: ToolRequest| {
        let (start, guard) = (start.clone(), OnDrop(drops.clone()));
        async move {
            let _guard = guard;
            start.notify_one();
            std::future::pending::<PermissionResult>().await
        }
    });
    let client = Client::connect(options).await.unwrap();
    client.query("go").await.unwrap();
    soon("the callback", started.notified()).await;
    client.query("now").await.unwrap();
    let heard = result(client.receive_response()).await;
    assert_eq!(heard, "2: Unsupported control request subtype: no_such_request");
    assert!(dropped.load(Ordering::SeqCst));
    client.disconnect().await;
}

#[tokio::test]
async fn unsupported_requests_get_an_error_response() {
    let client = Client::connect(fake("nobody")).await.unwrap();
    client.query("go").await.unwrap();
    let heard = result(client.receive_response()).await;
    let expected = [
        "1: no permission callback is installed",
        "2: no hook callback is named hook_9",
        "3: SDK MCP server not found: none",
        r#"4: {"action":"decline"}"#,
    ];
    assert_eq!(heard.lines().collect::<Vec<_>>(), expected);
    client.disconnect().await;
}

#[tokio::test]
async fn failures_and_panics_of_callbacks_are_error_responses() {
    let count = Arc::new(AtomicUsize::new(0));
    let options = fake("two_questions").can_use_tool(move |_: ToolRequest| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            if first {
                panic!("boom");
            }
            Err::<PermissionResult, _>("no idea")
        }
    });
    let heard = result(query("go", options)).await;
    let mut answers: Vec<_> = heard.lines().map(|line| &line[3..]).collect();
    answers.sort_unstable();
    assert_eq!(answers, ["no idea", "the callback panicked: boom"]);
}

#[tokio::test]
async fn control_does_not_wait_for_a_flood_of_unread_messages() {
    let asked = Arc::new(Notify::new());
    let signal = asked.clone();
    let options = fake("flood").can_use_tool(move |_: ToolRequest| {
        signal.notify_one();
        async { PermissionResult::allow() }
    });
    let client = Client::connect(options).await.unwrap();
    client.query("go").await.unwrap();
    // The request comes after all the messages, and none of them was read.
    tokio::time::timeout(Duration::from_secs(60), asked.notified()).await.expect("it is asked");
    soon("a request", client.set_model(None)).await.unwrap();
    let mut messages = client.receive_response();
    let mut count = 0;
    while let Some(message) = messages.next().await {
        match message.unwrap() {
            Message::Assistant(_) => count += 1,
            Message::Result(result) => {
                let expected = r#"1: {"behavior":"allow","updatedInput":{}}"#;
                assert_eq!(result.result.as_deref(), Some(expected));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, 50_000);
    client.disconnect().await;
}

#[tokio::test]
async fn requests_in_a_row_and_refusals() {
    let client = Client::connect(fake("serve")).await.unwrap();
    for _ in 0..300 {
        soon("a request", client.set_model(Some("some"))).await.unwrap();
    }
    let error = client.set_model(Some("none")).await.unwrap_err();
    assert_eq!(error.code(), "control_protocol");
    assert_eq!(error.to_string(), "set_model: no such model");
    assert_eq!(client.supported_commands().len(), 1);
    client.disconnect().await;
    assert_eq!(client.set_model(None).await.unwrap_err().code(), "closed");
    assert!(client.receive_messages().next().await.is_none());
}

#[tokio::test]
async fn unresponsive_agent_times_out() {
    let mut options = fake("mute");
    options.limits.initialize = Duration::from_millis(50);
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.to_string(), "initialize: no response within 50ms");
    assert_eq!(error.code(), "timeout");
}

#[tokio::test]
async fn timeout_quotes_the_stderr_of_an_unresponsive_agent() {
    let mut options = fake("stuck");
    let mut told = String::new();
    // A busy machine may take its time to start it.
    for limit in [50, 500, 5_000, 50_000].map(Duration::from_millis) {
        options.limits.initialize = limit;
        let error = Client::connect(options.clone()).await.unwrap_err();
        assert_eq!(error.code(), "timeout");
        told = error.to_string();
        if told.contains("stderr") {
            break;
        }
    }
    let (_, words) = told.split_once("; ").unwrap();
    assert_eq!(words, "the agent's stderr ends with: waiting for a login");
}

#[tokio::test]
async fn megabyte_on_stderr_does_not_block_the_agent() {
    let last = Arc::new(Mutex::new(String::new()));
    let hear = last.clone();
    let options = fake("loud").stderr(move |line| hear.lock().unwrap().replace_range(.., line));
    assert_eq!(told(query("go", options)).await, ["result heard"]);
    assert_eq!(*last.lock().unwrap(), "the last line");
    assert_eq!(told(query("go", fake("loud"))).await, ["result heard"]);
}

#[tokio::test]
async fn closing_ends_also_an_agent_that_will_not() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("stubborn");
    // What is ignored stays ignored across exec.
    write_script(&program, &format!("trap '' TERM\nexec '{}' \"$@\"", fake_path().display()));
    let mut options = fake("stubborn").cli_path(program);
    options.limits.close = Duration::from_millis(100);
    let client = Client::connect(options).await.unwrap();
    let pid = pid(&client);
    let start = Instant::now();
    soon("closing", client.disconnect()).await;
    assert!(start.elapsed() >= Duration::from_millis(200), "both limits were granted");
    gone(pid).await;
}

#[tokio::test]
async fn a_client_that_is_dropped_takes_the_process_with_it() {
    let client = Client::connect(fake("stubborn")).await.unwrap();
    let pid = pid(&client);
    drop(client);
    gone(pid).await;
}

/// Starts the same program in the same way, but by a command of its own, which leads no process group.
fn by_a_command_of_its_own(command: Command) -> io::Result<Child> {
    let command = command.into_std();
    let mut own = Command::new(command.get_program());
    own.args(command.get_args());
    own.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own.spawn()
}

#[tokio::test]
async fn a_process_that_leads_no_group_is_ended_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("stubborn");
    write_script(&program, &format!("trap '' TERM\nexec '{}' \"$@\"", fake_path().display()));
    let mut options = fake("stubborn").cli_path(program);
    options.limits.close = Duration::from_millis(100);
    options.process.spawner = Some(Arc::new(by_a_command_of_its_own));
    let client = Client::connect(options.clone()).await.unwrap();
    let closed = pid(&client);
    soon("closing", client.disconnect()).await;
    gone(closed).await;
    let client = Client::connect(options).await.unwrap();
    let dropped = pid(&client);
    drop(client);
    gone(dropped).await;
}

#[tokio::test]
async fn a_query_waits_for_work_in_the_background_and_answers_it() {
    let options = fake("works_on").can_use_tool(async |_: ToolRequest| PermissionResult::allow());
    let expected = ["result first", r#"result 1: {"behavior":"allow","updatedInput":{}}"#];
    assert_eq!(told(query("go", options)).await, expected);
}

#[tokio::test]
async fn a_run_of_a_client_ends_with_the_work_in_the_background() {
    let options = fake("works_on").can_use_tool(async |_: ToolRequest| PermissionResult::allow());
    let client = Client::connect(options).await.unwrap();
    client.query("go").await.unwrap();
    assert_eq!(told(client.receive_response()).await, ["result first"]);
    let expected = [r#"result 1: {"behavior":"allow","updatedInput":{}}"#];
    assert_eq!(told(client.receive_run()).await, expected);
    client.disconnect().await;
}

#[tokio::test]
async fn a_query_ends_also_if_the_agent_stays() {
    let mut options = fake("stays");
    options.limits.close = Duration::from_millis(50);
    assert_eq!(told(query("go", options)).await, ["result done"]);
}

#[tokio::test]
async fn a_result_that_is_a_failure_explains_the_exit_code() {
    assert_eq!(told(query("go", fake("fail"))).await, ["result it went wrong"]);
}

#[tokio::test]
async fn the_words_of_a_run_that_failed_are_an_error() {
    for (status, worth_retrying) in [("529", true), ("429", true), ("401", false)] {
        let mut options = fake("fail");
        options.process.extra_args.insert("status".to_owned(), Some(status.to_owned()));
        let error = soon("the run", query("go", options).text()).await.unwrap_err();
        assert_eq!((error.code(), error.is_worth_retrying()), ("result", worth_retrying));
        assert_eq!(error.to_string(), "the run failed: it went wrong");
    }
    let error = soon("the run", query("go", fake("fail")).output::<String>()).await.unwrap_err();
    assert_eq!((error.code(), error.is_worth_retrying()), ("result", false));
}

#[tokio::test]
async fn undecided_permission_request_times_out_as_denied() {
    let dropped = Arc::new(AtomicBool::new(false));
    let drops = dropped.clone();
    let mut options = fake("two_questions").can_use_tool(move |request: ToolRequest| {
        let guard = OnDrop(drops.clone());
        async move {
            if request.tool_name == "Bash" {
                let _guard = guard;
                std::future::pending::<()>().await;
            }
            PermissionResult::allow()
        }
    });
    options.limits.permission = Some(Duration::from_millis(30));
    let text = result(query("go", options)).await;
    let mut answers: Vec<_> = text.lines().collect();
    answers.sort_unstable();
    let expected = [
        r#"1: {"behavior":"deny","message":"No decision within 30ms."}"#,
        r#"2: {"behavior":"allow","updatedInput":{}}"#,
    ];
    assert_eq!(answers, expected);
    assert!(dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn long_values_are_in_files_deleted_with_the_session() {
    let long = "x".repeat(200_000);
    let mut options = fake("files");
    options.settings.additional = Some(Settings::Inline(json!({"model": "m", "note": long})));
    options.settings.sandbox = Some(json!({"enabled": false}));
    let server = McpStdioServer {
        command: "server".to_owned(),
        args: Some(vec![long]),
        ..McpStdioServer::default()
    };
    let options = options.mcp_server("s", McpServerConfig::Stdio(server));
    let client = Client::connect(options).await.unwrap();
    client.query("go").await.unwrap();
    let told: Value = serde_json::from_str(&result(client.receive_response()).await).unwrap();
    assert_eq!(told[0]["keys"], json!(["model", "note", "sandbox"]));
    assert_eq!(told[1]["keys"], json!(["mcpServers"]));
    let paths = [0, 1].map(|place| PathBuf::from(told[place]["path"].as_str().unwrap()));
    for path in &paths {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "there may be secrets in {path:?}");
    }
    client.disconnect().await;
    drop(client);
    assert!(paths.iter().all(|path| !path.exists()));
}

#[tokio::test]
async fn the_process_finds_its_folder_and_its_variables() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let options = fake("surroundings").cwd(&folder).env("GIVEN", "this");
    let expected = format!("{} this 1 unset", folder.display());
    assert_eq!(result(query("go", options)).await, expected);
    let options = Options::default().cwd(folder.join("none"));
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.code(), "options");
}

#[tokio::test]
async fn an_agent_that_cannot_do_what_is_asked_is_turned_down() {
    let mut options = fake("serve");
    options.process.extra_args.insert("claims".to_owned(), Some("1.0.128".to_owned()));
    let error = Client::connect(options).await.unwrap_err();
    let agent = format!("the agent {}", fake_path().display());
    let expected = format!("{agent} is version 1.0.128; at least 2.0.0 is required");
    assert_eq!(error.to_string(), expected);

    let strict = HookMatcher::always().run(async |_: HookCall| HookOutput::default()).or_block();
    let mut options = fake("serve").hook(HookEvent::PreToolUse, strict);
    options.process.extra_args.insert("claims".to_owned(), Some("2.1.7".to_owned()));
    let error = Client::connect(options).await.unwrap_err();
    assert_eq!(error.code(), "cli_connection");
    let expected = format!(
        "{agent} (version 2.1.7) does not support `on_failure` of hooks, which \
         `HookMatcher::or_block` requires"
    );
    assert_eq!(error.to_string(), expected);

    // Continuing after a failed hook is what any agent does.
    let mut lenient = HookMatcher::always().run(async |_: HookCall| HookOutput::default());
    lenient.on_failure = Some(HookFailure::Continue);
    let options = fake("serve").hook(HookEvent::PreToolUse, lenient);
    Client::connect(options).await.unwrap().disconnect().await;
}

#[tokio::test]
async fn agents_end_when_the_program_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    // One ends with its input, the other heeds neither that nor SIGTERM.
    for (part, first) in [("hang", ""), ("stubborn", "trap '' TERM\n")] {
        let (agent, note) = (folder.path().join("agent"), folder.path().join(part));
        let fake = format!("'{}' --play {part} --note '{}'", fake_path().display(), note.display());
        write_script(&agent, &format!("{first}exec {fake} \"$@\""));
        let mut host = Command::new(example("multi_turn"))
            .arg("--cli")
            .arg(&agent)
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let pid = soon("the agent's turn", async {
            loop {
                match fs::read_to_string(&note) {
                    Ok(pid) if !pid.is_empty() => break pid,
                    _ => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        })
        .await;
        host.kill().await.unwrap();
        let killed = Instant::now();
        // By itself the stubborn one would run for ever.
        stopped(&pid).await;
        // Two seconds are promised, of which one is granted. The rest is for a machine that is busy.
        assert!(killed.elapsed() < Duration::from_secs(10), "{part}: {:?}", killed.elapsed());
    }
}
