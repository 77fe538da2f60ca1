//! Instruction files: where they are found, what they import, when hooks receive them.

use serde_json::{Value, json};

use super::write;
use crate::{request_log::RequestLog, rig::Rig};

/// The positions of some words in a text, which must contain all of them.
fn places(text: &str, words: &[&str]) -> Vec<usize> {
    words.iter().map(|word| text.find(word).unwrap_or_else(|| panic!("{word} in {text}"))).collect()
}

#[tokio::test]
async fn the_users_file_comes_first_and_those_of_inner_folders_last() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, text) in [
        ("config/CLAUDE.md", "from the user"),
        ("CLAUDE.md", "from above"),
        ("inner/CLAUDE.md", "from the project"),
        ("inner/.claude/CLAUDE.md", "from its folder"),
        ("inner/AGENTS.md", "from agents"),
        ("inner/CLAUDE.local.md", "from here only"),
        ("inner/deeper/CLAUDE.md", "not yet"),
    ] {
        write(&root, name, text);
    }
    let mut rig = Rig::in_folder(folder, |config| {
        log.record(config);
        config.cwd = root.join("inner");
        config.places =
            bowline_engine::settings::SettingsPaths::new(root.join("config"), &config.cwd);
    });
    rig.run("SAY hi").await;
    let received = log.system().pop().unwrap();
    let order = places(
        &received,
        &[
            "from the user",
            "from above",
            "from the project",
            "from its folder",
            "from agents",
            "from here only",
        ],
    );
    assert!(order.is_sorted(), "{order:?}");
    assert!(!received.contains("not yet"));
}

#[tokio::test]
async fn imports_are_followed_once_and_not_forever() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("CLAUDE.md", "top, see @docs/a.md and @missing.md and `@docs/code.md`"),
        ("docs/a.md", "first, see @b.md"),
        ("docs/b.md", "second, back to @../CLAUDE.md and @a.md"),
        ("docs/code.md", "in code"),
        ("chain/1.md", "@2.md"),
    ] {
        write(folder.path(), name, text);
    }
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.run("SAY hi").await;
    let received = log.system().pop().unwrap();
    assert!(places(&received, &["top, see", "first, see", "second, back"]).is_sorted());
    assert_eq!(received.matches("top, see").count(), 1);
    assert!(!received.contains("in code"));
}

#[tokio::test]
async fn folder_instructions_follow_the_first_result_from_it() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sub/CLAUDE.md", "Mind the sub folder.");
    write(folder.path(), "sub/code.txt", "code");
    let root = folder.path().canonicalize().unwrap();
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    let request = json!({
        "subtype": "initialize",
        "hooks": {"InstructionsLoaded": [{"hookCallbackIds": ["h"]}]},
    });
    rig.control(request).await.unwrap();
    let file = root.join("sub/code.txt");
    let read = format!("TOOL Read {}", json!({"file_path": file}));
    let frames = rig.run(&format!("{read}\nNEXT\n{read}\nNEXT\nSAY done")).await;
    let received: Vec<_> =
        log.conversation().into_iter().filter(|it| it.contains("Mind the sub")).collect();
    assert_eq!(received.len(), 1, "once, though it was read twice");
    assert!(received[0].starts_with("U: <system-reminder>"));
    let inputs: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "hook_callback")
        .map(|frame| &frame["call"]["input"])
        .collect();
    assert_eq!(inputs.len(), 1);
    assert_eq!(inputs[0]["load_reason"], "nested_traversal");
    assert_eq!(inputs[0]["memory_type"], "Project");
    assert_eq!(inputs[0]["file_path"], json!(root.join("sub/CLAUDE.md")));
    assert_eq!(inputs[0]["trigger_file_path"], json!(file));
}

#[tokio::test]
async fn hooks_receive_loaded_instructions() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "CLAUDE.md", "See @more.md");
    write(folder.path(), "more.md", "more");
    let root = folder.path().canonicalize().unwrap();
    let mut rig = Rig::in_folder(folder, |_| {});
    let request = json!({
        "subtype": "initialize",
        "hooks": {"InstructionsLoaded": [{"hookCallbackIds": ["h"]}]},
    });
    rig.control(request).await.unwrap();
    let frames = rig.run("SAY hi").await;
    let received: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "hook_callback")
        .map(|frame| {
            let input = &frame["call"]["input"];
            (input["file_path"].clone(), input["load_reason"].clone())
        })
        .collect();
    let path = |name| json!(root.join(name));
    assert_eq!(
        received,
        [(path("CLAUDE.md"), json!("session_start")), (path("more.md"), json!("include"))]
    );
    let again = rig.run("SAY again").await;
    assert!(again.iter().all(|frame| frame["type"] != "hook_callback"));
}
