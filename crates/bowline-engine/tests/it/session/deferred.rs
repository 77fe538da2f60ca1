//! Calls that hooks defer: each runs once when the session is resumed.

use std::path::Path;

use bowline_engine::settings::SettingsPaths;
use bowline_sessions::{StartFrom, StartOptions};
use serde_json::{Value, json};

use crate::rig::{Rig, text};

/// A session in `folder` whose host has a hook before commands, with these decisions.
async fn session(folder: &Path, from: StartFrom, decisions: &[&str]) -> Rig {
    let path = folder.canonicalize().unwrap();
    let rig = Rig::with(|config| {
        config.cwd = path.clone();
        config.places = SettingsPaths::new(path.join("home"), &path);
        config.resume(&StartOptions { from, ..StartOptions::default() }, None).unwrap();
    });
    for decision in decisions {
        rig.will_hook(json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": decision,
        }}));
    }
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["pre"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig
}

fn results(frames: &[Value]) -> Vec<&str> {
    let results = frames.iter().filter(|it| it["message"]["content"][0]["type"] == "tool_result");
    results.map(text).collect()
}

/// The command of the last deferred call in a result.
fn put_off(frames: &[Value]) -> &Value {
    let end = frames.last().unwrap();
    assert_eq!(end["terminal_reason"], "tool_deferred", "{end}");
    &end["deferred_tool_use"]["input"]["command"]
}

#[tokio::test]
async fn deferred_calls_run_and_may_be_deferred_again() {
    let folder = tempfile::tempdir().unwrap();
    let decisions = ["defer", "allow", "defer", "defer"];
    let mut rig = session(folder.path(), StartFrom::Nothing, &decisions).await;
    let echo = |word: &str| format!("TOOL Bash {}\n", json!({"command": format!("echo {word}")}));
    let calls = ["one", "two", "three", "four"].map(echo).concat();
    let frames = rig.run(&format!("{calls}NEXT\nSAY all done")).await;
    assert_eq!((results(&frames), put_off(&frames)), (vec!["two"], &json!("echo four")));
    rig.finish().await;

    let decisions = ["allow", "defer", "deny"];
    let mut rig = session(folder.path(), StartFrom::Newest, &decisions).await;
    let frames = rig.turn().await;
    let [made, denied] = results(&frames)[..] else { panic!("{frames:#?}") };
    assert_eq!((made, put_off(&frames)), ("one", &json!("echo three")));
    assert!(denied.contains("hook"), "{denied}");
    let denials = &frames.last().unwrap()["permission_denials"];
    assert_eq!(denials[0]["tool_input"], json!({"command": "echo four"}));
    rig.finish().await;

    let mut rig = session(folder.path(), StartFrom::Newest, &["allow"]).await;
    let frames = rig.turn().await;
    assert_eq!(results(&frames), ["three"]);
    assert_eq!(frames.last().unwrap()["result"], "all done");
    rig.finish().await;
}

/// After an interrupting denial there are no permission requests for the other calls.
#[tokio::test]
async fn interrupting_denial_skips_other_deferred_calls() {
    let folder = tempfile::tempdir().unwrap();
    let mut rig = session(folder.path(), StartFrom::Nothing, &["defer", "defer"]).await;
    let touch = |word: &str| format!("TOOL Bash {}\n", json!({"command": format!("touch {word}")}));
    rig.run(&format!("{}{}NEXT\nSAY x", touch("one"), touch("two"))).await;
    rig.finish().await;
    let mut rig = session(folder.path(), StartFrom::Newest, &[]).await;
    rig.will_permit(json!({"behavior": "deny", "message": "stop", "interrupt": true}));
    let frames = rig.turn().await;
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "can_use_tool").count(), 1);
    assert_eq!(results(&frames).len(), 2, "{frames:#?}");
    assert_eq!(frames.last().unwrap()["terminal_reason"], "aborted_tools");
    rig.finish().await;
}
