//! Background tasks.

use serde_json::json;

use crate::rig::{Rig, shapes};

async fn background(rig: &mut Rig, command: &str) -> String {
    let input = json!({"command": command, "run_in_background": true, "description": "a job"});
    let frames = rig.run(&format!("TOOL Bash {input}\nNEXT\nSAY started")).await;
    let started = frames.iter().find(|frame| frame["subtype"] == "task_started").unwrap();
    started["task_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn stopped_task_is_reported_before_the_response() {
    let mut rig = Rig::new();
    let id = background(&mut rig, "sleep 30").await;
    let request = json!({"subtype": "stop_task", "task_id": id});
    assert_eq!(rig.control(request.clone()).await, Ok(json!({})));
    let received = rig.received();
    assert_eq!(
        shapes(&received),
        ["task_updated", "task_notification", "background_tasks_changed"]
    );
    assert_eq!(received[0]["patch"]["status"], "killed");
    assert_eq!(received[1]["status"], "stopped");
    assert_eq!(rig.control(request).await, Ok(json!({})), "it is still stopped");
    assert_eq!(
        rig.control(json!({"subtype": "stop_task", "task_id": "nobody"})).await,
        Ok(json!({}))
    );
}

#[tokio::test]
async fn running_command_moves_to_the_background() {
    let mut rig = Rig::new();
    rig.prompt("TOOL Bash {\"command\": \"echo begun; sleep 20\"}\nNEXT\nSAY done").await;
    rig.until(|frame| frame["subtype"] == "task_started").await;
    assert_eq!(rig.control(json!({"subtype": "background_tasks"})).await, Ok(json!({})));
    let frames = rig.turn().await;
    let names = shapes(&frames);
    assert_eq!(names[..2], ["background_tasks_changed", "task_updated"]);
    assert_eq!(frames[1]["patch"]["is_backgrounded"], true);
    assert_eq!(frames.last().unwrap()["result"], "done");
    let task = frames[0]["tasks"][0]["task_id"].clone();
    let output = rig.control(json!({"subtype": "get_task_output", "task_id": task})).await.unwrap();
    assert_eq!(output, json!({"output": "begun\n", "total_bytes": 6, "truncated": false}));
    rig.control(json!({"subtype": "stop_task", "task_id": task})).await.unwrap();
}

#[tokio::test]
async fn a_call_that_does_not_run_cannot_be_moved() {
    let rig = Rig::new();
    let request = json!({"subtype": "background_tasks", "tool_use_id": "toolu_1"});
    assert_eq!(rig.control(request).await, Ok(json!({"backgrounded": false})));
}

#[tokio::test]
async fn output_of_an_unknown_task_is_an_error() {
    let rig = Rig::new();
    let unknown = rig.control(json!({"subtype": "get_task_output", "task_id": "b1"})).await;
    assert_eq!(unknown, Err("get_task_output: No task found with ID: b1".to_owned()));
}
