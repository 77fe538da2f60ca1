//! End of the session, and changes of its state.

use bowline_protocol::{MessageUuid, UserMessage};
use bowline_sessions::{LineOrigin, SessionFiles, TranscriptWriter};
use serde_json::{Value, json};

use super::{hook, hook_inputs};
use crate::rig::Rig;

#[tokio::test]
async fn title_is_sent_before_the_response() {
    let mut rig = Rig::new();
    let request = json!({"subtype": "rename_session", "title": " my title "});
    assert_eq!(rig.control(request).await, Ok(Value::Null));
    let received = rig.received();
    assert_eq!(received[0]["subtype"], "session_title_changed");
    assert_eq!(received[0]["title"], "my title");
    let empty = rig.control(json!({"subtype": "rename_session", "title": "  "})).await;
    assert!(empty.is_err());
    let unknown = "00000000-0000-4000-8000-000000000000";
    let other = json!({"subtype": "rename_session", "title": "x", "session_id": unknown});
    assert!(rig.control(other).await.unwrap_err().contains(unknown));
}

#[tokio::test]
async fn a_title_is_kept_in_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let mut path = std::path::PathBuf::new();
    let mut rig = Rig::in_folder(folder, |config| {
        let files = SessionFiles::in_folder(&config.cwd, config.session_id.clone());
        path = files.transcript();
        config.file_checkpointing = true;
        config.transcript = Some(TranscriptWriter::create(files, LineOrigin::default()).unwrap());
    });
    let target = rig.path().join("a.txt");
    let call = json!({"file_path": target, "content": "alpha"});
    rig.run(&format!("TOOL Write {call}\nNEXT\nSAY done")).await;
    rig.control(json!({"subtype": "rename_session", "title": "mine"})).await.unwrap();
    let written = std::fs::read_to_string(path).unwrap();
    let lines = written.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<_> = lines.collect();
    let kinds: Vec<_> = lines.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(kinds.last(), Some(&"custom-title"));
    assert_eq!(lines.last().unwrap()["customTitle"], "mine");
    assert!(kinds.contains(&"file-history-snapshot"), "{kinds:?}");
    assert!(kinds.contains(&"file-history-delta"), "{kinds:?}");
}

#[tokio::test]
async fn queued_prompt_can_be_cancelled_once() {
    let mut rig = Rig::new();
    rig.prompt("SAY first\nHANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    let uuid = Some(MessageUuid::from("u2"));
    rig.session.prompt(UserMessage { uuid, ..UserMessage::prompt("SAY second") }).await;
    rig.until(|frame| frame["state"] == "queued").await;
    let request = json!({"subtype": "cancel_async_message", "message_uuid": "u2"});
    assert_eq!(rig.control(request.clone()).await, Ok(json!({"cancelled": true})));
    assert_eq!(rig.received()[0]["state"], "cancelled");
    assert_eq!(rig.control(request).await, Ok(json!({"cancelled": false})));
    assert!(rig.session.interrupt());
    rig.turn().await;
    let (_, rest) = rig.finish().await;
    assert!(rest.iter().all(|frame| frame["type"] != "result"), "the second never ran");
}

#[tokio::test]
async fn another_directory_is_where_commands_start() {
    let mut rig = Rig::new();
    std::fs::create_dir(rig.path().join("sub")).unwrap();
    hook(&rig, "CwdChanged").await;
    let request = json!({"subtype": "set_cwd", "path": "sub"});
    let asked = rig.control(request.clone()).await.unwrap();
    assert_eq!(asked["status"], "needs_trust", "no user has trusted the folder");
    let mut request = request;
    request["trust_accepted"] = true.into();
    let answer = rig.control(request).await.unwrap();
    assert_eq!((&answer["status"], &answer["changed"]), (&json!("ok"), &json!(true)));
    assert!(answer["cwd"].as_str().unwrap().ends_with("/sub"));
    assert_eq!(hook_inputs(&rig.received(), "CwdChanged").len(), 1);
    let again = rig.control(json!({"subtype": "set_cwd", "path": "."})).await.unwrap();
    assert_eq!(again["changed"], false);
    let frames = rig.run("TOOL Bash {\"command\": \"pwd\"}\nNEXT\nSAY done").await;
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert!(result["message"]["content"][0]["content"].as_str().unwrap().ends_with("/sub"));
    std::fs::write(rig.path().join("file"), "").unwrap();
    for (path, reason) in [("nowhere", "not_found"), ("../file", "not_a_directory")] {
        let refused = rig.control(json!({"subtype": "set_cwd", "path": path})).await.unwrap();
        assert_eq!((&refused["status"], &refused["reason"]), (&json!("rejected"), &json!(reason)));
    }
    assert!(rig.control(json!({"subtype": "set_cwd"})).await.is_err(), "it says nothing");
}

#[tokio::test]
async fn the_directory_stays_while_a_turn_runs() {
    let mut rig = Rig::new();
    rig.prompt("HANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    let refused = rig.control(json!({"subtype": "set_cwd", "path": "/"})).await.unwrap();
    assert_eq!((&refused["status"], &refused["reason"]), (&json!("rejected"), &json!("busy")));
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    rig.finish().await;
}

#[tokio::test]
async fn ending_the_session_ends_it_even_in_a_turn() {
    let mut rig = Rig::new();
    rig.prompt("HANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    assert_eq!(rig.control(json!({"subtype": "end_session"})).await, Ok(Value::Null));
    rig.finish().await;
}

#[tokio::test]
async fn subscribers_and_thinking_are_noted() {
    let rig = Rig::new();
    for request in [
        json!({"subtype": "set_has_subscribers", "has_subscribers": true}),
        json!({"subtype": "set_has_subscribers", "has_subscribers": null}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": null, "thinking_display": "omitted"}),
    ] {
        assert_eq!(rig.control(request).await, Ok(Value::Null));
    }
}

#[tokio::test]
async fn unsupported_request_is_refused_by_name() {
    let rig = Rig::new();
    for subtype in ["no_such_thing", "set_color", "claude_authenticate", "get_memory_dialog"] {
        let request = json!({"subtype": subtype, "color": "red", "cwd": "/"});
        let error = rig.control(request).await.unwrap_err();
        assert_eq!(error, format!("Unsupported control request subtype: {subtype}"));
    }
}

#[tokio::test]
async fn too_many_requests_before_a_claim_are_refused() {
    let rig = Rig::with(|config| config.unclaimed = true);
    let request = json!({"subtype": "set_has_subscribers", "has_subscribers": true});
    for _ in 0..1024 {
        assert_eq!(rig.control(request.clone()).await, Ok(Value::Null));
    }
    let refused = rig.control(request).await.unwrap_err();
    assert!(refused.contains("more than 1024 requests"), "{refused}");
    assert!(rig.control(json!({"subtype": "mcp_status"})).await.is_ok(), "it keeps nothing");
}

#[tokio::test]
async fn missing_permission_mode_is_an_error() {
    let rig = Rig::new();
    let unnamed = rig.control(json!({"subtype": "set_permission_mode"})).await.unwrap_err();
    let unknown = json!({"subtype": "set_permission_mode", "mode": "nonsense"});
    assert_eq!(unnamed, rig.control(unknown).await.unwrap_err());
}
