//! Hooks of rare events.

use bowline_protocol::PermissionMode;
use serde_json::{Value, json};

use crate::rig::{Rig, text};

/// A session whose host has a hook for one event.
async fn listening(event: &str) -> Rig {
    let rig = Rig::new();
    let hooks = json!({event: [{"matcher": null, "hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig
}

/// The inputs of the hooks.
fn hook_inputs(frames: &[Value]) -> Vec<&Value> {
    let calls = frames.iter().filter(|frame| frame["type"] == "hook_callback");
    calls.map(|frame| &frame["call"]["input"]).collect()
}

fn results(frames: &[Value]) -> Vec<&str> {
    let results =
        frames.iter().filter(|frame| frame["message"]["content"][0]["type"] == "tool_result");
    results.map(text).collect()
}

#[tokio::test]
async fn a_command_that_changes_the_directory() {
    let mut rig = listening("CwdChanged").await;
    std::fs::create_dir(rig.path().join("sub")).unwrap();
    let frames = rig
        .run(
            "TOOL Bash {\"command\": \"cd sub\"}\nNEXT\nTOOL Bash {\"command\": \"ls\"}\nNEXT\nSAY x",
        )
        .await;
    let received = hook_inputs(&frames);
    assert_eq!(received.len(), 1, "{received:#?}");
    assert_eq!(received[0]["new_cwd"], format!("{}/sub", received[0]["old_cwd"].as_str().unwrap()));
}

#[tokio::test]
async fn a_task_that_is_added() {
    let mut rig = listening("TaskCreated").await;
    let frames = rig
        .run("TOOL TaskCreate {\"subject\": \"dig\", \"description\": \"a hole\"}\nNEXT\nSAY x")
        .await;
    let received = hook_inputs(&frames);
    assert_eq!(received.len(), 1, "{frames:#?}");
    assert_eq!(received[0]["task_id"], "1");
    assert_eq!(received[0]["task_subject"], "dig");
    assert_eq!(received[0]["task_description"], "a hole");
}

#[tokio::test]
async fn a_task_that_is_not_done_before_hooks_agree() {
    let mut rig = listening("TaskCompleted").await;
    let create = "TOOL TaskCreate {\"subject\": \"dig\", \"description\": \"a hole\"}";
    let done = "TOOL TaskUpdate {\"taskId\": \"1\", \"status\": \"completed\"}";
    rig.will_hook(json!({"decision": "block", "reason": "not deep enough"}));
    let script =
        format!("{create}\nNEXT\n{done}\nNEXT\nTOOL TaskList {{}}\nNEXT\n{done}\nNEXT\nSAY x");
    let frames = rig.run(&script).await;
    let results = results(&frames);
    assert!(results[1].contains("not deep enough"), "{results:?}");
    assert_eq!(results[2], "#1 [pending] dig");
    assert_eq!(results[3], "Updated task #1 status");
    assert_eq!(hook_inputs(&frames).len(), 2);
}

#[tokio::test]
async fn a_call_that_the_auto_mode_refuses() {
    let mut rig = Rig::with(|config| config.policy.mode = PermissionMode::Auto);
    let hooks = json!({"PermissionDenied": [{"matcher": "Bash", "hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let output = json!({"hookEventName": "PermissionDenied", "retry": true});
    rig.will_hook(json!({"hookSpecificOutput": output}));
    let frames = rig.run("TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY x").await;
    let received = hook_inputs(&frames);
    assert_eq!(received.len(), 1, "{frames:#?}");
    assert_eq!(received[0]["tool_input"], json!({"command": "touch x"}));
    let results = results(&frames);
    assert!(results[0].contains("denied") && results[0].contains("tried again"), "{results:?}");
}

#[tokio::test]
async fn stop_hook_receives_background_tasks() {
    let mut rig = listening("Stop").await;
    let frames = rig
        .run(
            "TOOL Bash {\"command\": \"sleep 300\", \"description\": \"wait\", \
             \"run_in_background\": true}\nNEXT\nSAY x",
        )
        .await;
    let received = hook_inputs(&frames);
    let tasks = received[0]["background_tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 1, "{received:#?}");
    assert_eq!(tasks[0]["type"], "local_bash");
    assert_eq!(tasks[0]["status"], "running");
    assert_eq!(tasks[0]["description"], "wait");
    assert_eq!(tasks[0]["command"], "sleep 300");
    rig.abort().await;
}

#[tokio::test]
async fn hooks_know_the_agent_that_was_chosen_for_the_conversation() {
    let mut rig = Rig::with(|config| config.agent = Some("Explore".to_owned()));
    let hooks = json!({"Stop": [{"matcher": null, "hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let frames = rig.run("SAY x").await;
    assert_eq!(hook_inputs(&frames)[0]["agent_type"], "Explore");
}

#[tokio::test]
async fn batch_hook_ends_the_turn_after_its_calls() {
    let mut rig = listening("PostToolBatch").await;
    rig.will_hook(json!({"decision": "block", "reason": "enough"}));
    let frames = rig.run("TOOL Bash {\"command\": \"echo hi\"}\nNEXT\nSAY not reached").await;
    let result = frames.last().unwrap();
    assert_eq!(
        (&result["subtype"], &result["terminal_reason"]),
        (&json!("success"), &json!("hook_stopped"))
    );
    assert_eq!(result["result"], "");
}

#[tokio::test]
async fn stop_hook_context_is_for_the_model_alone() {
    let mut rig = listening("Stop").await;
    let context = json!({"hookEventName": "Stop", "additionalContext": "SAY informed"});
    rig.will_hook(json!({"hookSpecificOutput": context}));
    let frames = rig.run("SAY one").await;
    assert!(frames.iter().all(|frame| frame["type"] != "user"), "{frames:?}");
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "assistant").count(), 2);
}

#[tokio::test]
async fn stop_hook_objection_is_notified_after_its_message() {
    let mut rig = listening("Stop").await;
    rig.will_hook(json!({"decision": "block", "reason": "go on"}));
    let frames = rig.run("SAY one").await;
    let place = |fits: &dyn Fn(&Value) -> bool| frames.iter().position(fits);
    let received = place(&|frame| frame["type"] == "user" && frame["isSynthetic"] == true).unwrap();
    let announced = place(&|frame| frame["subtype"] == "notification").unwrap();
    assert_eq!(announced, received + 1, "{frames:?}");
}

#[tokio::test]
async fn a_prompt_that_names_the_session() {
    let mut rig = listening("UserPromptSubmit").await;
    let title = json!({"hookEventName": "UserPromptSubmit", "sessionTitle": "Mending"});
    rig.will_hook(json!({"hookSpecificOutput": title, "systemMessage": "named it"}));
    let frames = rig.run("SAY hi").await;
    let shapes = crate::rig::shapes(&frames);
    let received: Vec<_> = shapes.iter().map(String::as_str).collect();
    assert_eq!(
        received,
        [
            "hook:UserPromptSubmit",
            "session_title_changed",
            "init",
            "informational",
            "assistant:text",
            "result:success"
        ]
    );
    assert_eq!(frames[1]["title"], "Mending");
}
