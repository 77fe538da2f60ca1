//! Commands in the foreground.

use std::time::{Duration, Instant};

use bowline_tools::{Access, FailureStage};
use serde_json::json;

use crate::rig::{Rig, eventually, is_alive, pid_in, refused};

#[tokio::test]
async fn stdout_and_stderr_arrive_in_order() {
    let rig = Rig::new();
    let call = json!({ "command": "echo out; echo err 1>&2; echo again" });
    let output = rig.call("Bash", call).await.unwrap();
    assert_eq!(output.content, "out\nerr\nagain".into());
    assert_eq!(output.is_error, Some(false));
    assert_eq!(
        output.structured.unwrap(),
        json!({
            "stdout": "out\nerr\nagain", "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false,
        })
    );
}

#[tokio::test]
async fn failing_command_is_an_error_with_its_output() {
    let rig = Rig::new();
    let failure = rig.call("Bash", json!({ "command": "echo before; exit 3" })).await.unwrap_err();
    assert_eq!(failure.stage, FailureStage::Running);
    assert_eq!(failure.content, "Exit code 3\nbefore");
    assert_eq!(failure.structured, json!("Error: Exit code 3\nbefore"));
    let text = rig.error("Bash", json!({ "command": "kill -TERM $$" })).await;
    assert_eq!(text, "Exit code 143");
    let text = rig.error("Bash", json!({ "command": "if" })).await;
    assert!(text.starts_with("Exit code 2\n") && text.contains("syntax error"), "{text}");
    let text = rig.error("Bash", json!({ "command": "no_such_program_here" })).await;
    assert!(text.starts_with("Exit code 127\n") && text.contains("not found"), "{text}");
}

#[tokio::test]
async fn exit_code_of_grep_or_test_is_not_an_error() {
    let rig = Rig::new();
    let (text, object) = rig.ok("Bash", json!({ "command": "echo a | grep b" })).await;
    assert_eq!(text, "(Bash completed with no output)");
    assert_eq!(object["returnCodeInterpretation"], "No matches found");
    let (_, object) = rig.ok("Bash", json!({ "command": "test 1 = 2" })).await;
    assert_eq!(object["returnCodeInterpretation"], "Condition is false");
    let (_, object) = rig.ok("Bash", json!({ "command": "mkdir new" })).await;
    assert_eq!(object["noOutputExpected"], true);
}

#[tokio::test]
async fn blank_lines_are_trimmed_at_the_ends_only() {
    let rig = Rig::new();
    let text = rig.text("Bash", json!({ "command": r"printf '\n\n  a\n\n\033[1mb\n \n'" })).await;
    assert_eq!(text, "  a\n\n\u{1b}[1mb");
    assert_eq!(rig.text("Bash", json!({ "command": "" })).await, "(Bash completed with no output)");
    assert_eq!(rig.text("Bash", json!({ "command": "echo \"$#:$1\"" })).await, "0:");
}

#[tokio::test]
async fn working_directory_persists_between_commands_and_variables_do_not() {
    let rig = Rig::new();
    std::fs::create_dir(rig.path("sub")).unwrap();
    rig.text("Bash", json!({ "command": "X=1; export Y=2; cd sub" })).await;
    let text = rig.text("Bash", json!({ "command": "pwd; echo $X$Y." })).await;
    assert_eq!(text, format!("{}\n.", rig.path("sub").display()));
    // However the shell ends, it reports its directory.
    rig.error("Bash", json!({ "command": "cd ..; exit 4" })).await;
    assert_eq!(rig.workspace.current_dir(), rig.project());
    rig.text("Bash", json!({ "command": "cd sub; exec true" })).await;
    assert_eq!(rig.workspace.current_dir(), rig.project());
}

#[tokio::test]
async fn directory_outside_the_workspace_is_reset() {
    let rig = Rig::new();
    let reset = format!("Shell cwd was reset to {}", rig.project().display());
    let (text, object) = rig.ok("Bash", json!({ "command": "cd /; echo x" })).await;
    assert_eq!(text, format!("x\n{reset}"));
    assert_eq!(object["stderr"], format!("\n{reset}"));
    assert_eq!(rig.workspace.current_dir(), rig.project());
    rig.workspace.set_added_roots(vec!["/".into()]);
    assert_eq!(rig.text("Bash", json!({ "command": "cd /; echo x" })).await, "x");
    assert_eq!(rig.workspace.current_dir().to_str(), Some("/"));
}

#[tokio::test]
async fn variables_are_set_and_removed_and_stdin_is_empty() {
    let rig = Rig::new();
    rig.workspace.update_environment([
        ("CLAUDECODE".to_owned(), Some("1".to_owned())),
        ("HOME".to_owned(), None),
    ]);
    let text = rig.text("Bash", json!({ "command": "echo $CLAUDECODE-${HOME-none}; cat" })).await;
    assert_eq!(text, "1-none");
}

#[tokio::test]
async fn flood_of_output_stays_in_bounded_memory() {
    let rig = Rig::options(|options| options.max_output_chars = 1000);
    let command = "yes 0123456789 | head -c 100000000; echo; echo the end";
    let (text, object) = rig.ok("Bash", json!({ "command": command })).await;
    assert!(
        text.starts_with("<persisted-output>\nOutput too large (95.4MB). Full output saved to: ")
    );
    assert!(text.len() < 3000, "{}", text.len());
    assert_eq!(object["stdout"].as_str().unwrap().len(), 1000);
    assert_eq!(object["persistedOutputSize"], 100_000_009);
    let file = std::fs::read(object["persistedOutputPath"].as_str().unwrap()).unwrap();
    // 64 MiB from the start, 64 KiB of the end, and a word about what is missing.
    assert!(file.len() > 64 << 20 && file.len() < (64 << 20) + (65 << 10), "{}", file.len());
    assert!(file.starts_with(b"0123456789\n0123456789\n"));
    assert!(file.ends_with(b"\nthe end\n"));
}

#[tokio::test]
async fn long_failure_shows_both_ends_of_its_output() {
    let rig = Rig::new();
    let text = rig.error("Bash", json!({ "command": "seq 1 100000; exit 1" })).await;
    assert!(text.starts_with("Exit code 1\n1\n2\n3\n"), "{text}");
    assert!(text.contains("... [575.1KB of output, the middle is left out; all of it is in "));
    assert!(text.ends_with("\n99999\n100000"));
    assert!(text.len() < 10_000, "{}", text.len());
}

#[tokio::test]
async fn data_url_output_is_an_image_block() {
    let rig = Rig::new();
    let call = json!({ "command": "echo 'data:image/png;base64,aGk='" });
    let output = rig.call("Bash", call).await.unwrap();
    assert_eq!(output.structured.unwrap()["isImage"], true);
    assert_eq!(
        serde_json::to_value(&output.content).unwrap(),
        json!([{ "type": "image",
                 "source": { "type": "base64", "media_type": "image/png", "data": "aGk=" } }])
    );
}

#[tokio::test]
async fn sleep_is_stopped_at_its_timeout() {
    let rig = Rig::new();
    let text = rig.error("Bash", json!({ "command": "sleep 20", "timeout": 100 })).await;
    assert_eq!(text, "Exit code 143\nCommand timed out after 0.1s");
    assert!(rig.workspace.tasks().list().is_empty());
    let text = rig.error("Bash", json!({ "command": "sleep 25; ls" })).await;
    assert!(text.starts_with("<tool_use_error>Blocked: "), "{text}");
}

#[tokio::test]
async fn timed_out_command_is_killed_with_its_children_without_background() {
    let rig = Rig::options(|options| options.background_tasks = false);
    let command = "true; sleep 60 & echo $! > child; echo some; wait";
    let text = rig.error("Bash", json!({ "command": command, "timeout": 300 })).await;
    assert_eq!(text, "Exit code 143\nCommand timed out after 0.3s\nsome");
    let child = pid_in(&rig.path("child")).await;
    eventually("the child is gone", || !is_alive(child)).await;
    let text = rig.error("Bash", json!({ "command": "ls", "run_in_background": true })).await;
    assert!(text.contains("An unexpected parameter `run_in_background` was provided"), "{text}");
}

#[tokio::test]
async fn interrupt_ends_the_whole_process_group() {
    let rig = Rig::new();
    // The child ignores polite requests and closes its output.
    let command = "(trap '' TERM; echo $BASHPID > child; exec sleep 60 >/dev/null 2>&1) & \
                   echo $$ > shell; wait";
    let call = rig.call("Bash", json!({ "command": command }));
    let interrupt = async {
        let pids = (pid_in(&rig.path("shell")).await, pid_in(&rig.path("child")).await);
        let began = Instant::now();
        rig.cancel.cancel();
        (pids, began)
    };
    let (result, ((shell, child), began)) = tokio::join!(call, interrupt);
    assert_eq!(result.unwrap_err().stage, FailureStage::Interrupted);
    assert!(began.elapsed() < Duration::from_secs(40), "nobody waits for the minute to end");
    eventually("shell and child are gone", || !is_alive(shell) && !is_alive(child)).await;
}

#[tokio::test]
async fn dropping_the_call_ends_the_command() {
    let rig = Rig::new();
    let call =
        rig.prepare("Bash", json!({ "command": "echo $$ > shell; sleep 20; echo" })).unwrap();
    let tool = rig.registry.find("Bash").unwrap();
    let mut running = tool.run(call);
    let path = rig.path("shell");
    let pid = tokio::select! {
        _ = &mut running => panic!("it sleeps"),
        pid = pid_in(&path) => pid,
    };
    assert!(is_alive(pid));
    drop(running);
    eventually("the shell is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn processes_left_running_end_with_the_workspace() {
    let rig = Rig::new();
    let began = Instant::now();
    rig.text("Bash", json!({ "command": "true; sleep 60 & echo $! > child" })).await;
    assert!(began.elapsed() < Duration::from_secs(40), "nobody waits for the child");
    let child = pid_in(&rig.path("child")).await;
    assert!(is_alive(child));
    rig.text("Bash", json!({ "command": "true" })).await;
    assert!(is_alive(child));
    let Rig { workspace, .. } = rig;
    drop(workspace);
    eventually("the child is gone", || !is_alive(child)).await;
}

#[test]
fn runtime_shutdown_ends_commands() {
    let rig = Rig::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pid = runtime.block_on(async {
        let call = json!({ "command": "echo $$ > shell; sleep 60", "run_in_background": true });
        rig.text("Bash", call).await;
        pid_in(&rig.path("shell")).await
    });
    assert!(is_alive(pid));
    drop(runtime);
    let began = Instant::now();
    while is_alive(pid) {
        assert!(began.elapsed() < Duration::from_secs(40));
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn access_and_concurrency_of_a_call() {
    let rig = Rig::new();
    let bash = rig.registry.find("Bash").unwrap();
    let look = json!({ "command": "ls | head" });
    assert_eq!(bash.access(&look, &rig.workspace), Access::Command("ls | head".to_owned()));
    assert!(bash.is_concurrency_safe(&look));
    assert!(!bash.is_concurrency_safe(&json!({ "command": "ls > x" })));
}

#[tokio::test]
async fn missing_working_directory_is_reported() {
    let rig = Rig::new();
    rig.workspace.set_current_dir(rig.path("gone"));
    let text = rig.error("Bash", json!({ "command": "ls" })).await;
    assert!(text.starts_with("Cannot start bash in "), "{text}");
    assert_eq!(
        rig.error("Bash", json!({})).await,
        refused(
            "InputValidationError: Bash failed due to the following issue:\nThe required \
             parameter `command` is missing"
        )
    );
}

#[tokio::test]
async fn shell_profile_definitions_are_usable_and_its_variables_do_not_leak() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let text = "case $- in *i*) ;; *) return ;; esac\n\
                echo noise; runs=$(cat RUNS 2>/dev/null); echo x >> RUNS\n\
                alias greet='echo hello'\n\
                twice() { \"$@\"; \"$@\"; }\n\
                _own() { :; }\n\
                export LEAK=yes\n";
    std::fs::write(&profile, text.replace("RUNS", &format!("{}/runs", folder.path().display())))
        .unwrap();
    let rig = Rig::options(|options| options.shell_profile = Some(profile));
    let (text, _) = rig.ok("Bash", json!({ "command": "greet you; twice echo \"a  b\"" })).await;
    assert_eq!(text, "hello you\na  b\na  b");
    let (text, _) =
        rig.ok("Bash", json!({ "command": "echo ${LEAK-none} $# ; type -t _own; true" })).await;
    assert_eq!(text, "none 0");
    assert_eq!(std::fs::read_to_string(folder.path().join("runs")).unwrap(), "x\n", "it runs once");
    let (text, _) = rig.ok("Bash", json!({ "command": "cd /; cd - > /dev/null; pwd" })).await;
    assert_eq!(text, rig.project().display().to_string());
}
