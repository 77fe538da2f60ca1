//! Interrupts: during a model response, a tool call, or a permission request.

use serde_json::{Value, json};

use crate::rig::{Rig, shapes, text};

async fn interrupt(rig: &Rig) {
    let answer = rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    assert_eq!(answer, json!({"still_queued": []}));
}

#[tokio::test]
async fn while_the_model_speaks() {
    let mut rig = Rig::with(|config| config.include_partial_messages = true);
    rig.prompt("SAY partial text that never ends\nHANG").await;
    rig.until(|frame| frame["event"]["type"] == "content_block_delta").await;
    interrupt(&rig).await;
    let frames = rig.turn().await;
    let shapes = shapes(&frames);
    let tail: Vec<_> = shapes.iter().filter(|shape| !shape.ends_with("_delta")).collect();
    assert_eq!(
        tail,
        [
            "assistant:text",
            "user:text",
            "event:content_block_stop",
            "event:message_stop",
            "result:error_during_execution"
        ]
    );
    let aborted = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(aborted["aborted"], true);
    let result = frames.last().unwrap();
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    assert!(result.get("result").is_none());
    assert_eq!(rig.run("SAY alive").await.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn while_a_command_runs_and_it_dies() {
    let mut rig = Rig::new();
    let pid_file = rig.path().join("pid");
    rig.prompt(&format!(
        "TOOL Bash {}\nNEXT\nSAY not reached",
        json!({"command": format!("echo $$ > {}; sleep 300", pid_file.display())})
    ))
    .await;
    rig.until(|frame| frame["type"] == "can_use_tool").await;
    let pid = loop {
        match std::fs::read_to_string(&pid_file) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => tokio::time::sleep(std::time::Duration::from_millis(5)).await,
        }
    };
    interrupt(&rig).await;
    let frames = rig.turn().await;
    assert_eq!(shapes(&frames), ["user:tool_result", "user:text", "result:error_during_execution"]);
    assert_eq!(frames[0]["tool_use_result"], "User rejected tool use");
    assert_eq!(text(&frames[1]), "[Request interrupted by user for tool use]");
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the command is gone");
    assert_eq!(rig.run("SAY alive").await.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn while_a_question_is_open() {
    let mut rig = Rig::new();
    rig.will_not_answer();
    rig.prompt("TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY not reached").await;
    rig.until(|frame| frame["type"] == "can_use_tool").await;
    interrupt(&rig).await;
    let frames = rig.turn().await;
    assert_eq!(frames.last().unwrap()["terminal_reason"], "aborted_tools");
    assert!(!rig.path().join("made.txt").exists());
}

#[tokio::test]
async fn when_nothing_runs() {
    let mut rig = Rig::new();
    interrupt(&rig).await;
    let frames = rig.run("SAY fine").await;
    assert_eq!(frames.last().unwrap()["result"], "fine");
}

#[tokio::test]
async fn the_history_stays_one_that_the_api_accepts() {
    let mut rig = Rig::new();
    rig.will_not_answer();
    rig.prompt("TOOL Read {\"file_path\": \"/etc/hostname\"}\nNEXT\nSAY not reached").await;
    rig.until(|frame| frame["type"] == "can_use_tool").await;
    interrupt(&rig).await;
    rig.turn().await;
    // The script model refuses a conversation in which a call has no result.
    let frames: Vec<Value> = rig.run("SAY alive").await;
    assert_eq!(frames.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn a_turn_that_runs_when_the_session_is_shut_down_still_has_its_result() {
    let mut rig = Rig::new();
    rig.prompt("SAY part\nHANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    rig.session.shutdown();
    let result = rig.until(|frame| frame["type"] == "result").await.pop().unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
}

#[tokio::test]
async fn host_gets_no_request_while_a_hook_decides() {
    let mut rig = Rig::new();
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_not_hook();
    rig.prompt("TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY not reached").await;
    rig.until(|frame| frame["type"] == "hook_callback").await;
    interrupt(&rig).await;
    let frames = rig.turn().await;
    assert_eq!(shapes(&frames), ["user:tool_result", "user:text", "result:error_during_execution"]);
    assert_eq!(frames.last().unwrap()["permission_denials"], json!([]), "no call was denied");
}

#[tokio::test]
async fn while_hooks_decide_about_a_prompt_the_model_never_sees_it() {
    let mut rig = Rig::new();
    let hooks = json!({"UserPromptSubmit": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_not_hook();
    rig.prompt("SAY the unchecked one").await;
    rig.until(|frame| frame["type"] == "hook_callback").await;
    interrupt(&rig).await;
    let frames = rig.turn().await;
    assert_eq!(shapes(&frames), ["init", "user:text", "result:error_during_execution"]);
    let result = frames.last().unwrap();
    assert_eq!(
        (&result["num_turns"], &result["terminal_reason"]),
        (&json!(0), &json!("aborted_streaming"))
    );
    // The model echoes its whole context.
    let received = rig.run("what now").await.last().unwrap()["result"].clone();
    assert_eq!(received, "[Request interrupted by user]\nwhat now");
}

#[tokio::test]
async fn background_commands_survive_an_interrupt() {
    let mut rig = Rig::with(|config| config.background_wait = None);
    let command =
        json!({"command": "until test -e go; do sleep 0.02; done", "run_in_background": true});
    rig.prompt(&format!("TOOL Bash {command}\nNEXT\nSAY waiting\nHANG")).await;
    rig.until(|frame| frame["subtype"] == "background_tasks_changed").await;
    rig.until(|frame| frame["type"] == "user").await;
    interrupt(&rig).await;
    rig.turn().await;
    std::fs::write(rig.path().join("go"), "").unwrap();
    let ended = rig.until(|frame| frame["subtype"] == "task_notification").await;
    assert_eq!(ended.last().unwrap()["status"], "completed");
}

#[tokio::test]
async fn after_the_last_response_only_hooks_are_interrupted() {
    let mut rig = Rig::new();
    let hooks = json!({"Stop": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_not_hook();
    rig.prompt("SAY done").await;
    rig.until(|frame| frame["type"] == "hook_callback").await;
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    let frames = rig.turn().await;
    assert_eq!(shapes(&frames), ["result:success"]);
    assert_eq!(frames[0]["result"], "done");
}
