//! `/compact`.

use bowline_engine::settings::{Settings, SettingsPaths};
use serde_json::{Value, json};

use crate::{
    request_log::RequestLog,
    rig::{Rig, shapes, text},
};

fn content(frame: &Value) -> &str {
    frame["message"]["content"].as_str().unwrap_or_else(|| text(frame))
}

#[tokio::test]
async fn summary_replaces_the_conversation() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    rig.run("SUMMARY talked about one and two\nSAY one").await;
    let second = rig.run("SAY two").await;
    let frames = rig.run("/compact").await;
    assert_eq!(
        shapes(&frames),
        [
            "status",
            "status",
            "init",
            "compact_boundary",
            "user:text",
            "user:text",
            "result:success",
        ]
    );
    let [begun, done, _, boundary, summary, printed, result] = &frames[..] else { unreachable!() };
    assert_eq!(begun["status"], "compacting");
    assert_eq!((&done["status"], &done["compact_result"]), (&Value::Null, &json!("success")));
    let metadata = &boundary["compact_metadata"];
    assert_eq!(metadata["trigger"], "manual");
    assert!(metadata["pre_tokens"].as_u64().unwrap() > 0);
    assert!(metadata["post_tokens"].as_u64().unwrap() > 0);
    let last = &second[1]["uuid"];
    assert_eq!(boundary["logical_parent_uuid"], *last);
    assert_eq!(
        metadata["preserved_segment"],
        json!({"head_uuid": last, "anchor_uuid": summary["uuid"], "tail_uuid": last})
    );
    assert_eq!(
        metadata["preserved_messages"],
        json!({"anchor_uuid": summary["uuid"], "uuids": [last], "all_uuids": [last]})
    );
    assert_eq!((&summary["isReplay"], &summary["isSynthetic"]), (&json!(false), &json!(true)));
    assert!(content(summary).contains("talked about one and two"), "{summary}");
    assert_eq!(content(printed), "<local-command-stdout>Compacted </local-command-stdout>");
    assert_eq!(printed["isReplay"], true);
    assert_eq!(result["local_command"], "compact");
    assert_eq!((&result["num_turns"], &result["result"]), (&json!(0), &json!("")));
    rig.run("SAY after").await;
    let received = log.conversation();
    let expected = [format!("U: {}", content(summary)), "A: two".into(), "U: SAY after".into()];
    assert_eq!(received, expected);
}

#[tokio::test]
async fn the_request_for_a_summary_repeats_the_conversation_and_costs_what_it_costs() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    rig.run("SUMMARY short\nSAY one").await;
    let before = log.newest();
    let result = rig.run("/compact keep the names").await.pop().unwrap();
    let asked = log.newest();
    assert_eq!(asked.system, before.system, "the request keeps the cached prefix");
    assert_eq!(asked.tools, before.tools);
    assert_eq!(asked.messages[0], before.messages[0]);
    let received = log.conversation();
    assert_eq!(received[1], "A: one");
    for word in ["Task", "Decisions", "Files", "Open to-dos", "keep the names"] {
        assert!(received[2].contains(word), "{word}");
    }
    assert!(result["modelUsage"]["script"]["outputTokens"].as_u64().unwrap() > 0);
    assert_eq!(result["usage"]["output_tokens"], 0, "no part of a turn");
}

#[tokio::test]
async fn compaction_hooks_run_in_order() {
    let mut rig = Rig::new();
    let hooks = json!({
        "PreCompact": [{"hookCallbackIds": ["pre"]}],
        "PostCompact": [{"hookCallbackIds": ["post"]}],
        "SessionStart": [{"hookCallbackIds": ["start"]}],
        "SubagentStart": [{"hookCallbackIds": ["sent"]}],
        "SubagentStop": [{"hookCallbackIds": ["back"]}],
    });
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.run("SUMMARY short\nSAY one").await;
    let frames = rig.run("/compact keep it short").await;
    assert_eq!(
        shapes(&frames),
        [
            "status",
            "hook:PreCompact",
            "hook:SubagentStop",
            "hook:SessionStart",
            "hook:PostCompact",
            "status",
            "init",
            "compact_boundary",
            "user:text",
            "user:text",
            "result:success",
        ]
    );
    let input = |place: usize| &frames[place]["call"]["input"];
    assert_eq!(input(1)["trigger"], "manual");
    assert_eq!(input(1)["custom_instructions"], "keep it short");
    assert_eq!(input(2)["agent_type"], "", "the writer of a summary has no kind");
    assert!(input(2)["agent_id"].as_str().is_some_and(|id| id.len() == 17));
    assert_eq!(input(2)["last_assistant_message"], "<summary>short</summary>");
    assert_eq!((&input(3)["source"], &input(3)["model"]), (&json!("compact"), &json!("script")));
    assert_eq!(input(4)["compact_summary"], "<summary>short</summary>");
    assert_eq!(
        content(&frames[9]),
        "<local-command-stdout>Compacted PreCompact [callback] completed successfully\n\
         PostCompact [callback] completed successfully</local-command-stdout>"
    );
    assert_eq!(frames[7]["compact_metadata"].get("preserved_segment"), None, "all is summarized");
}

#[tokio::test]
async fn output_of_compaction_hooks_is_used_and_shown() {
    let log = RequestLog::default();
    let settings = json!({"hooks": {
        "PreCompact": [{"hooks": [{"type": "command", "command": "echo keep the depths"}]}],
        "PostCompact": [{"hooks": [{"type": "command", "command": "true"}]}],
    }});
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".claude")).unwrap();
    std::fs::write(folder.path().join(".claude/settings.json"), settings.to_string()).unwrap();
    let mut rig = Rig::in_folder(folder, |config| {
        log.record(config);
        config.places = SettingsPaths::new(config.cwd.join("config"), &config.cwd);
        config.settings = Settings::load(&config.places, &crate::rig::trusted()).unwrap();
    });
    rig.run("SUMMARY short\nSAY one").await;
    let frames = rig.run("/compact keep the names").await;
    let asked = log.conversation().pop().unwrap();
    assert!(asked.ends_with("keep the names\n\nkeep the depths"), "{asked}");
    assert_eq!(
        content(&frames[frames.len() - 2]),
        "<local-command-stdout>Compacted PreCompact [echo keep the depths] completed successfully: \
         keep the depths\nPostCompact [true] completed successfully</local-command-stdout>"
    );
}

#[tokio::test]
async fn a_compaction_that_fails_leaves_the_conversation_as_it_was() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    let hooks = json!({"PreCompact": [{"hookCallbackIds": ["pre"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.run("SAY one").await;
    rig.will_hook(json!({"decision": "block", "reason": "too early"}));
    let frames = rig.run("/compact").await;
    let failed = &frames[2];
    assert_eq!(failed["compact_result"], "failed");
    assert_eq!(failed["compact_error"], "a PreCompact hook objects to compaction: too early");
    let answer = &frames[frames.len() - 2];
    assert_eq!(answer["local_command_outcome"], json!({"kind": "failed"}));
    assert_eq!(frames.last().unwrap()["is_error"], false, "the hook has done what it is for");
    assert!(!shapes(&frames).contains(&"compact_boundary".to_owned()));
    rig.run("SAY two").await;
    assert_eq!(log.conversation(), ["U: SAY one", "A: one", "U: SAY two"]);
}

#[tokio::test]
async fn an_interrupted_compaction_leaves_the_conversation_as_it_was() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    let hooks = json!({"PreCompact": [{"hookCallbackIds": ["pre"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.run("SAY one").await;
    rig.will_not_hook();
    rig.prompt("/compact").await;
    rig.until(|frame| frame["type"] == "hook_callback").await;
    assert!(rig.session.interrupt());
    let frames = rig.turn().await;
    assert_eq!(frames[0]["compact_result"], "failed");
    assert_eq!(frames[0]["compact_error"], "interrupted");
    rig.run("SAY two").await;
    assert_eq!(log.conversation(), ["U: SAY one", "A: one", "U: SAY two"]);
}

#[tokio::test]
async fn an_empty_conversation_has_nothing_to_compact() {
    let mut rig = Rig::new();
    let frames = rig.run("/compact").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
    let why = "There is nothing to compact yet.";
    assert_eq!(text(&frames[1]), why);
    let source = format!("<local-command-stderr>{why}</local-command-stderr>");
    assert_eq!(frames[1]["local_command_source"], source);
    assert_eq!((&frames[2]["is_error"], &frames[2]["result"]), (&json!(false), &json!("")));
}

#[tokio::test]
async fn open_to_dos_and_files_survive() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("code.txt");
    std::fs::write(&file, "code").unwrap();
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    let todos = json!({"todos": [
        {"content": "Finish this", "status": "in_progress", "activeForm": "Finishing this"},
        {"content": "Old thing", "status": "completed", "activeForm": "Doing the old thing"},
    ]});
    let read = json!({"file_path": file});
    let script = format!("SUMMARY short\nTOOL TodoWrite {todos}\nTOOL Read {read}\nNEXT\nSAY done");
    rig.run(&script).await;
    rig.run("/compact").await;
    rig.run("SAY after").await;
    let received = &log.conversation()[0];
    assert!(received.contains("- Finish this (in progress)"), "{received}");
    assert!(!received.contains("Old thing"));
    assert!(received.contains(&format!("- {}", file.display())), "{received}");
}
