//! Work in the background: commands and registered tasks.

use std::{fs, time::Duration};

use bowline_tools::{NewTask, TaskEvent, TaskKind, TaskStatus};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::rig::{Rig, eventually, is_alive, pid_in, refused};

fn task_id(object: &Value) -> String {
    object["backgroundTaskId"].as_str().unwrap().to_owned()
}

async fn start(rig: &Rig, command: &str) -> String {
    let call = json!({ "command": command, "description": "a job", "run_in_background": true });
    task_id(&rig.ok("Bash", call).await.1)
}

#[tokio::test]
async fn background_command_runs_from_start_to_end() {
    let rig = Rig::new();
    let call = json!({
        "command": "while [ ! -e go ]; do sleep 0.01; done; echo done; echo oops >&2",
        "description": "wait and print",
        "run_in_background": true,
    });
    let (text, object) = rig.ok("Bash", call).await;
    let id = task_id(&object);
    let file = rig.outside().join("tasks").join(format!("{id}.output"));
    assert!(text.starts_with(&format!(
        "Command running in background with ID: {id}. Output is being written to: {}. ",
        file.display()
    )));
    assert_eq!(object["stdout"], "");

    let (text, object) = rig.ok("TaskOutput", json!({ "task_id": id, "block": false })).await;
    assert_eq!(
        text,
        format!(
            "<retrieval_status>not_ready</retrieval_status>\n\n<task_id>{id}</task_id>\n\n\
             <task_type>local_bash</task_type>\n\n<status>running</status>"
        )
    );
    assert_eq!(object["task"]["exitCode"], Value::Null);
    let (_, object) = rig.ok("TaskOutput", json!({ "task_id": id, "timeout": 1 })).await;
    assert_eq!(object["retrieval_status"], "timeout");

    rig.file("go", "");
    let (text, object) = rig.ok("TaskOutput", json!({ "task_id": id })).await;
    assert!(
        text.ends_with(
            "<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<output>\ndone\noops\n\n\
             [exited with code 0]\n</output>"
        ),
        "{text}"
    );
    assert_eq!(object["retrieval_status"], "success");
    assert_eq!(object["task"]["description"], "wait and print");
    assert_eq!(fs::read_to_string(file).unwrap(), "done\noops\n\n[exited with code 0]\n");

    let events = rig.events.lock().unwrap().clone();
    match events.as_slice() {
        [TaskEvent::Started(started), TaskEvent::Finished(finished)] => {
            assert!(started.backgrounded && started.status == TaskStatus::Running);
            assert_eq!(started.tool_use_id, Some("toolu_test".into()));
            assert_eq!(finished.status, TaskStatus::Completed);
            assert_eq!(
                finished.summary(),
                "Background command \"wait and print\" completed (exit code 0)"
            );
        }
        other => panic!("{other:?}"),
    }
    let gone = refused(&format!("No task found with ID: {id}"));
    assert_eq!(rig.error("TaskStop", json!({ "task_id": id })).await, gone);
}

#[tokio::test]
async fn stopped_command_ends_with_its_children() {
    let rig = Rig::new();
    let id = start(&rig, "sleep 60 & echo $! > child; wait").await;
    let child = pid_in(&rig.path("child")).await;
    let (text, object) = rig.ok("KillShell", json!({ "shell_id": id })).await;
    assert_eq!(
        object,
        json!({
            "message": format!(
                "Successfully stopped task: {id} (sleep 60 & echo $! > child; wait)"
            ),
            "task_id": id,
            "task_type": "local_bash",
            "command": "sleep 60 & echo $! > child; wait",
        })
    );
    assert_eq!(text, object.to_string());
    eventually("the child is gone", || !is_alive(child)).await;
    let info = rig.workspace.tasks().get(&id.as_str().into()).unwrap();
    assert_eq!((info.status, info.exit_code), (TaskStatus::Killed, None));
}

#[tokio::test]
async fn timed_out_command_continues_in_the_background() {
    let rig = Rig::new();
    let command = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second";
    let (text, object) = rig.ok("Bash", json!({ "command": command, "timeout": 300 })).await;
    let id = task_id(&object);
    assert!(text.starts_with("first\n\nThe command did not finish within 0.3s"), "{text}");
    assert!(text.contains(&format!("moved to the background (ID: {id})")), "{text}");
    assert_eq!(object["timedOutAfterMs"], 300);
    rig.file("go", "");
    let (_, object) = rig.ok("TaskOutput", json!({ "task_id": id })).await;
    assert_eq!(object["task"]["output"], "first\nsecond\n\n[exited with code 0]\n");
}

#[tokio::test]
async fn running_command_is_moved_to_the_background() {
    let rig = Rig::new();
    let call = rig.call("Bash", json!({ "command": "echo $$ > shell; sleep 60" }));
    let person = async {
        pid_in(&rig.path("shell")).await;
        rig.workspace.tasks().move_to_background(None)
    };
    let (output, moved) = tokio::join!(call, person);
    assert_eq!(moved, 1);
    let object = output.unwrap().structured.unwrap();
    assert_eq!(object["backgroundedByUser"], true);
    let info = rig.workspace.tasks().get(&task_id(&object).as_str().into()).unwrap();
    assert!(info.backgrounded && info.status == TaskStatus::Running);
    assert_eq!(rig.workspace.tasks().move_to_background(None), 0);
    rig.workspace.tasks().stop_all().await;
}

#[tokio::test]
async fn a_background_command_has_a_lifetime() {
    let rig = Rig::new();
    let call = json!({ "command": "sleep 60", "timeout": 50, "run_in_background": true });
    let id = task_id(&rig.ok("Bash", call).await.1);
    let info =
        rig.workspace.tasks().wait(&id.as_str().into(), Duration::from_secs(60)).await.unwrap();
    assert_eq!(info.status, TaskStatus::Killed);
}

#[tokio::test]
async fn failing_background_command_is_reported_as_failed() {
    let rig = Rig::new();
    let id = start(&rig, "exit 7").await;
    let (text, _) = rig.ok("TaskOutput", json!({ "task_id": id })).await;
    assert!(text.contains("<status>failed</status>\n\n<exit_code>7</exit_code>"), "{text}");
}

#[tokio::test]
async fn long_output_is_truncated_to_its_end() {
    let rig = Rig::new();
    let id = start(&rig, "seq 1 20000").await;
    let (_, object) = rig.ok("TaskOutput", json!({ "task_id": id })).await;
    let output = object["task"]["output"].as_str().unwrap();
    assert!(output.starts_with("[Truncated. Full output: "));
    assert!(output.ends_with("\n20000\n\n[exited with code 0]\n"));
    assert!(output.len() < 34_000, "{}", output.len());
}

#[tokio::test]
async fn dropping_the_workspace_ends_background_commands() {
    let rig = Rig::new();
    start(&rig, "trap '' TERM; echo $$ > shell; while :; do sleep 1; done").await;
    let shell = pid_in(&rig.path("shell")).await;
    let Rig { workspace, .. } = rig;
    drop(workspace);
    eventually("the shell is gone", || !is_alive(shell)).await;
}

fn new_agent(stop: &CancellationToken) -> NewTask {
    NewTask {
        id: None,
        kind: TaskKind::Agent,
        description: "look around".to_owned(),
        prompt: Some("Look around.".to_owned()),
        tool_use_id: None,
        backgrounded: true,
        output_file: None,
        stop: stop.clone(),
    }
}

#[tokio::test]
async fn registered_task_is_listed_and_stopped() {
    let rig = Rig::new();
    let stop = CancellationToken::new();
    let handle = rig.workspace.tasks().register(new_agent(&stop));
    let id = handle.id().clone();
    handle.set_output("so far");
    let (_, object) = rig.ok("TaskOutput", json!({ "task_id": id, "block": false })).await;
    assert_eq!(object["task"]["output"], "so far");
    assert_eq!(object["task"]["task_type"], "local_agent");

    let (_, object) = rig.ok("TaskStop", json!({ "task_id": id })).await;
    assert_eq!(object["task_type"], "local_agent");
    assert!(stop.is_cancelled());
    // Its own end comes too late to count.
    handle.finish(TaskStatus::Completed, Some("late".to_owned()));
    assert_eq!(rig.workspace.tasks().get(&id).unwrap().status, TaskStatus::Killed);
}

#[tokio::test]
async fn registered_task_finishes_once() {
    let rig = Rig::new();
    let stop = CancellationToken::new();
    let done = rig.workspace.tasks().register(new_agent(&stop));
    let lost = rig.workspace.tasks().register(new_agent(&stop));
    let (done_id, lost_id) = (done.id().clone(), lost.id().clone());
    done.finish(TaskStatus::Completed, Some("all is well".to_owned()));
    drop(lost);
    let (_, object) = rig.ok("TaskOutput", json!({ "task_id": done_id })).await;
    assert_eq!(object["task"]["result"], "all is well");
    assert_eq!(rig.workspace.tasks().get(&lost_id).unwrap().status, TaskStatus::Failed);
    let finished = rig
        .events
        .lock()
        .unwrap()
        .iter()
        .filter(|event| matches!(event, TaskEvent::Finished(_)))
        .count();
    assert_eq!(finished, 2);
}

#[tokio::test]
async fn unknown_task_is_reported() {
    let rig = Rig::new();
    let unknown = refused("No task found with ID: bnone");
    assert_eq!(rig.error("TaskOutput", json!({ "task_id": "bnone" })).await, unknown);
    assert_eq!(rig.error("TaskStop", json!({ "task_id": "bnone" })).await, unknown);
    let missing = refused("Missing required parameter: task_id");
    assert_eq!(rig.error("TaskStop", json!({})).await, missing);
    let text = rig.error("TaskOutput", json!({ "task_id": "bnone", "timeout": 700_000 })).await;
    assert!(text.contains("\"too_big\""), "{text}");
}
