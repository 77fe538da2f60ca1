//! Files and directories.

use bowline_protocol::{MessageUuid, UserMessage};
use serde_json::{Value, json};

use super::{hook, hook_inputs};
use crate::rig::{Rig, text};

async fn run_as(rig: &mut Rig, uuid: &str, prompt: &str) -> Vec<Value> {
    let uuid = Some(MessageUuid::from(uuid));
    rig.session.prompt(UserMessage { uuid, ..UserMessage::prompt(prompt) }).await;
    rig.turn().await
}

fn write(path: &std::path::Path, content: &str) -> String {
    format!("TOOL Write {}\n", json!({"file_path": path, "content": content}))
}

#[tokio::test]
async fn files_go_back_to_what_they_were() {
    let mut rig = Rig::with(|config| config.file_checkpointing = true);
    let (old, new) = (rig.path().join("old.txt"), rig.path().join("new.txt"));
    run_as(&mut rig, "u1", &format!("{}NEXT\nSAY done", write(&old, "alpha\n"))).await;
    let script = format!("{}NEXT\n{}NEXT\nSAY done", write(&old, "beta\n"), write(&new, "n\n"));
    run_as(&mut rig, "u2", &script).await;
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "beta\n");

    let rewind = |uuid: &str, dry: bool| json!({"subtype": "rewind_files", "user_message_id": uuid, "dry_run": dry});
    let dry = rig.control(rewind("u2", true)).await.unwrap();
    assert_eq!(dry["canRewind"], true);
    assert_eq!(dry["filesChanged"].as_array().unwrap().len(), 2);
    assert_eq!((&dry["insertions"], &dry["deletions"]), (&json!(1), &json!(2)));
    assert!(new.exists(), "nothing happened yet");

    let done = rig.control(rewind("u2", false)).await;
    assert_eq!(done, Ok(json!({"canRewind": true, "skippedLinks": 0})));
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "alpha\n");
    assert!(!new.exists());

    let none = "No file checkpoint found for this message.";
    let unknown = rig.control(rewind("u3", true)).await;
    assert_eq!(unknown, Ok(json!({"canRewind": false, "error": none})));
    assert_eq!(rig.control(rewind("u3", false)).await, Err(none.to_owned()));
}

#[tokio::test]
async fn rewind_needs_checkpoints() {
    let rig = Rig::new();
    let request = json!({"subtype": "rewind_files", "user_message_id": "u1", "dry_run": true});
    let expected = json!({"canRewind": false, "error": "File rewinding is not enabled."});
    assert_eq!(rig.control(request).await, Ok(expected));
    let request = json!({"subtype": "rewind_files", "user_message_id": "u1"});
    assert_eq!(rig.control(request).await, Err("File rewinding is not enabled.".to_owned()));
}

#[tokio::test]
async fn file_seeded_by_the_host_can_be_edited() {
    let mut rig = Rig::with(|config| config.read_before_write = Some(true));
    let path = rig.path().canonicalize().unwrap().join("a.txt");
    std::fs::write(&path, "alpha\n").unwrap();
    let edit = json!({"file_path": path, "old_string": "alpha", "new_string": "beta"});
    let script = format!("TOOL Edit {edit}\nNEXT\nSAY done");
    rig.run(&script).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "alpha\n", "it was not read before");
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let millis = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
    let request = json!({"subtype": "seed_read_state", "path": path, "mtime": millis.ceil()});
    assert_eq!(rig.control(request).await, Ok(Value::Null));
    let frames = rig.run(&script).await;
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "beta\n", "{}", text(result));
}

#[tokio::test]
async fn a_file_is_read_as_far_as_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let rig = Rig::in_folder(folder, |config| {
        let deny = &bowline_protocol::PermissionBehavior::Deny;
        let source = bowline_engine::permission::RuleSource::User;
        config.policy.rules.add(source, deny, "Read(secret.txt)");
    });
    let path = rig.path().canonicalize().unwrap().join("a.txt");
    std::fs::write(&path, "alpha\n").unwrap();
    std::fs::write(rig.path().join("secret.txt"), "psst").unwrap();
    let read = |path: &str, more: Value| {
        let mut request = json!({"subtype": "read_file", "path": path});
        request.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        request
    };
    let whole =
        json!({"contents": "alpha\n", "absPath": path, "lossy": false, "requested_path": "a.txt"});
    assert_eq!(rig.control(read("a.txt", json!({}))).await, Ok(whole));
    let part = rig.control(read("a.txt", json!({"max_bytes": 2}))).await.unwrap();
    assert_eq!((&part["contents"], &part["truncated"]), (&json!("al"), &json!(true)));
    let bytes = rig.control(read("a.txt", json!({"encoding": "base64"}))).await.unwrap();
    assert_eq!((&bytes["contents"], &bytes["encoding"]), (&json!("YWxwaGEK"), &json!("base64")));
    for denied in ["none.txt", "secret.txt", "/etc/hostname"] {
        let answer = rig.control(read(denied, json!({}))).await;
        assert_eq!(answer, Err(format!("read denied: {denied}")));
    }
}

#[tokio::test]
async fn files_are_suggested_by_what_was_typed() {
    let rig = Rig::new();
    std::fs::write(rig.path().join("alpha.txt"), "").unwrap();
    std::fs::write(rig.path().join("beta.txt"), "").unwrap();
    let answer = rig.control(json!({"subtype": "file_suggestions", "query": "alp"})).await.unwrap();
    assert_eq!(answer["suggestions"], json!([{"path": "alpha.txt", "type": "file"}]));
    assert_eq!(answer["cwd"], json!(rig.path().canonicalize().unwrap()));
}

#[tokio::test]
async fn another_root_can_be_worked_in() {
    let mut rig = Rig::new();
    let other = tempfile::tempdir().unwrap();
    let file = other.path().canonicalize().unwrap().join("b.txt");
    std::fs::write(&file, "beta\n").unwrap();
    let read = json!({"subtype": "read_file", "path": file});
    assert!(rig.control(read.clone()).await.is_err());
    hook(&rig, "DirectoryAdded").await;
    let register = json!({"subtype": "register_repo_root", "directory": other.path(), "reload_claude_md": true});
    let registered = rig.control(register.clone()).await.unwrap();
    assert_eq!(registered["directory"], json!(other.path()));
    assert_eq!(rig.control(read).await.unwrap()["contents"], "beta\n");
    let received = rig.received();
    assert_eq!(hook_inputs(&received, "DirectoryAdded")[0]["source"], "register_repo_root");
    assert!(rig.control(register).await.unwrap_err().contains("already"));
    let missing = json!({"subtype": "register_repo_root", "directory": "nowhere"});
    assert!(rig.control(missing).await.is_err());
}
