//! `/clear`: a new session replaces the old one.

use bowline_sessions::{ConfigHome, LineOrigin, ProjectKey, ResumeAt, TranscriptWriter, resume};
use serde_json::json;

use crate::{
    request_log::RequestLog,
    rig::{Rig, shapes},
};

#[tokio::test]
async fn clear_resets_conversation_usage_and_session() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    let first = rig.run("SAY one").await;
    let old = first[0]["session_id"].clone();
    let frames = rig.run("/clear").await;
    assert_eq!(
        shapes(&frames),
        ["conversation_reset", "background_tasks_changed", "init", "result:success"]
    );
    let [reset, tasks, init, result] = &frames[..] else { unreachable!() };
    assert_eq!(reset["session_id"], old);
    assert_eq!(reset["trigger"], "clear");
    assert_eq!(reset["new_conversation_id"], reset["uuid"]);
    assert!(reset["user_message_uuid"].is_string());
    assert_eq!(tasks["session_id"], old);
    assert_ne!(init["session_id"], old);
    assert_eq!(result["session_id"], init["session_id"]);
    assert_eq!(result["result"], "");
    assert_eq!(result["local_command"], "clear");
    assert_eq!(result["modelUsage"], json!({}));
    rig.run("SAY two").await;
    assert_eq!(log.conversation(), ["U: SAY two"]);
    assert_eq!(rig.session.id().0, init["session_id"].as_str().unwrap());
}

#[tokio::test]
async fn clear_runs_session_end_and_start_hooks() {
    let log = RequestLog::default();
    let mut rig = Rig::with(|config| log.record(config));
    let hooks = json!({
        "SessionStart": [{"hookCallbackIds": ["start"]}],
        "SessionEnd": [{"hookCallbackIds": ["end"]}],
    });
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    let old = rig.run("SAY one").await.pop().unwrap()["session_id"].clone();
    let context = json!({
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "from start"},
    });
    rig.will_hook(json!({})).will_hook(context);
    let frames = rig.run("/clear").await;
    assert_eq!(
        shapes(&frames),
        [
            "hook:SessionEnd",
            "conversation_reset",
            "background_tasks_changed",
            "hook:SessionStart",
            "init",
            "result:success",
        ]
    );
    let end = &frames[0]["call"]["input"];
    assert_eq!((&end["reason"], &end["session_id"]), (&json!("clear"), &old));
    let start = &frames[3]["call"]["input"];
    assert_eq!(start["source"], "clear");
    assert_eq!(start["session_id"], frames[4]["session_id"]);
    assert_eq!(start.get("prompt_id"), None);
    rig.run("SAY two").await;
    assert_eq!(
        log.conversation(),
        ["U: SAY two", "U: SessionStart:clear hook additional context: from start"]
    );
}

#[tokio::test]
async fn new_session_has_its_own_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let home = ConfigHome::new(folder.path().join("config"));
    let key = ProjectKey::for_directory(folder.path());
    let mut rig = Rig::in_folder(folder, |config| {
        let files = home.session(&key, &config.session_id);
        config.transcript = Some(TranscriptWriter::create(files, LineOrigin::default()).unwrap());
    });
    let old = rig.session.id();
    rig.run("SAY one").await;
    rig.run("/clear second try").await;
    rig.run("SAY two").await;
    let new = rig.session.id();
    let texts = |id| {
        let path = home.session(&key, id).transcript();
        let context = resume(&path, &ResumeAt::End).unwrap();
        let blocks = context.messages.into_iter().flat_map(|message| message.content);
        let texts: Vec<_> = blocks.map(|it| it.as_text().unwrap().to_owned()).collect();
        (texts, context.title)
    };
    assert_eq!(texts(&old), (vec!["SAY one".to_owned(), "one".to_owned()], None));
    let expected = vec!["SAY two".to_owned(), "two".to_owned()];
    assert_eq!(texts(&new), (expected, Some("second try".to_owned())));
}
