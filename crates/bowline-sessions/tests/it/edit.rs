//! Renaming, labeling, forking, branching, deleting.

use std::{collections::HashSet, fs};

use bowline_protocol::SessionId;
use bowline_sessions::{
    ForkOptions, ListOptions, Page, ResumeAt, SessionError, archive, branch, delete, fork, info,
    list, messages, rename, resume, tag, unarchive,
};
use serde_json::{Value, json};

use crate::transcript::{Home, ID, answer, boundary, brief, text, user, with};

fn lines(home: &Home, id: &SessionId) -> Vec<Value> {
    let text = fs::read_to_string(home.files(id.as_str()).transcript()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn conversation() -> Vec<Value> {
    vec![
        user("u", None, "one"),
        json!({ "type": "progress", "uuid": "p", "parentUuid": "u", "timestamp": "t" }),
        with(answer("a", "p", "1"), "slug", "plan"),
        with(user("s", Some("a"), "aside"), "isSidechain", true),
        json!({ "type": "content-replacement", "sessionId": ID, "replacements": [{ "x": 1 }] }),
        user("v", Some("a"), "two"),
        answer("b", "v", "2"),
    ]
}

#[test]
fn titles_and_labels_are_appended() {
    let home = Home::new();
    let files = home.write(ID, &[user("u", None, "one")]);
    let id = SessionId::from(ID);
    rename(&home.home, &id, None, "  A title ").unwrap();
    // Full-width letters become plain ones; what cannot be seen goes.
    tag(&home.home, &id, None, Some(" ｅｘｐ\u{200b} ")).unwrap();
    let found = info(&home.home, &id, Some(&home.directory())).unwrap();
    assert_eq!(
        (found.custom_title.as_deref(), found.tag.as_deref()),
        (Some("A title"), Some("exp"))
    );
    tag(&home.home, &id, None, None).unwrap();
    assert_eq!(info(&home.home, &id, None).unwrap().tag, None);
    let text = fs::read_to_string(files.transcript()).unwrap();
    assert!(
        text.contains("\n{\"type\":\"tag\",\"tag\":\"exp\""),
        "as listings look for it: {text}"
    );
}

#[test]
fn session_is_archived_until_the_next_prompt() {
    let home = Home::new();
    let files = home.write(ID, &[user("u", None, "one")]);
    let id = SessionId::from(ID);
    let listed = || list(&home.home, &ListOptions::default())[0].archived;
    assert_eq!((listed(), info(&home.home, &id, None).unwrap().archived), (None, None));
    archive(&home.home, &id, None).unwrap();
    assert_eq!((listed(), info(&home.home, &id, None).unwrap().archived), (Some(true), Some(true)));
    let mark = fs::read_to_string(files.side_folder().join("archived.json")).unwrap();
    assert!(mark.starts_with("{\"archived\":true,\"at\":\"2"), "{mark}");
    unarchive(&home.home, &id, None).unwrap();
    assert_eq!(listed(), Some(false));

    archive(&home.home, &id, None).unwrap();
    let later = "2999-01-01T00:00:00.000Z";
    let result = json!({ "type": "tool_result", "tool_use_id": "t", "content": "x" });
    let program = with(user("p", Some("u"), "beep"), "origin", json!({ "kind": "timer" }));
    let quiet = [
        with(answer("a", "u", "1"), "timestamp", later),
        with(with(user("m", Some("a"), "meta"), "isMeta", true), "timestamp", later),
        with(user("r", Some("a"), "x"), "message", json!({ "role": "user", "content": [result] })),
        with(program, "timestamp", later),
        user("o", Some("a"), "said before"),
    ];
    home.write(ID, &quiet);
    assert_eq!(listed(), Some(true), "nobody has said anything since");
    home.write(ID, &[with(user("n", None, "two"), "timestamp", later)]);
    assert_eq!(listed(), Some(false));
    fs::write(files.side_folder().join("archived.json"), "nonsense").unwrap();
    assert_eq!(listed(), None);
}

#[test]
fn invalid_titles_tags_and_ids_are_rejected() {
    let home = Home::new();
    home.write(ID, &[user("u", None, "one")]);
    let id = SessionId::from(ID);
    let gone = SessionId::from("00000000-0000-4000-8000-000000000000");
    let refused = |result: Result<(), SessionError>| result.unwrap_err();
    assert!(matches!(refused(rename(&home.home, &id, None, " ")), SessionError::EmptyText(_)));
    assert!(matches!(
        refused(tag(&home.home, &id, None, Some("\u{200b}"))),
        SessionError::EmptyText(_)
    ));
    assert!(matches!(
        refused(rename(&home.home, &"../x".into(), None, "t")),
        SessionError::BadId(_)
    ));
    assert!(matches!(refused(delete(&home.home, &gone, None)), SessionError::NotFound { .. }));
    let unknown = ForkOptions { up_to: Some("z".into()), ..ForkOptions::default() };
    let error = fork(&home.home, &id, None, &unknown).unwrap_err();
    assert!(matches!(error, SessionError::NoSuchMessage(_)));
}

#[test]
fn a_title_is_not_spoiled_by_a_torn_line() {
    let home = Home::new();
    let files = home.write(ID, &[]);
    fs::write(files.transcript(), text(&[user("u", None, "one")]) + "{\"type\":\"us").unwrap();
    rename(&home.home, files.id(), None, "kept").unwrap();
    let context = resume(&files.transcript(), &ResumeAt::End).unwrap();
    assert_eq!(context.title.as_deref(), Some("kept"));
}

#[test]
fn a_fork_is_the_same_conversation_under_new_names() {
    let home = Home::new();
    let source = home.write(ID, &conversation());
    let before = fs::read(source.transcript()).unwrap();
    let copy = fork(&home.home, source.id(), None, &ForkOptions::default()).unwrap();
    assert_eq!(fs::read(source.transcript()).unwrap(), before);
    let said = |id: &SessionId| -> Vec<Value> {
        let messages = messages(&home.home, id, None, Page::default());
        messages.iter().map(|message| message.message.to_value()).collect()
    };
    assert_eq!(said(copy.id()), said(source.id()));
    let lines = lines(&home, copy.id());
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["user", "assistant", "user", "assistant", "content-replacement", "custom-title"]
    );
    let names: HashSet<_> = lines.iter().map(|line| line["uuid"].as_str().unwrap()).collect();
    assert_eq!(names.len(), lines.len());
    assert!(!names.contains("u"));
    assert_eq!(lines[1]["parentUuid"], lines[0]["uuid"], "links are skipped");
    assert_eq!(lines[1]["forkedFrom"], json!({ "sessionId": ID, "messageUuid": "a" }));
    assert_eq!(lines[1].get("slug"), None);
    assert_eq!(lines[0]["timestamp"], "2026-01-02T03:04:05.678Z");
    assert_ne!(lines[3]["timestamp"], lines[0]["timestamp"], "the last line is of now");
    assert_eq!(lines[5]["customTitle"], "one (fork)");
}

#[test]
fn a_fork_can_end_early_and_have_a_title() {
    let home = Home::new();
    let source = home.write(ID, &conversation());
    let options = ForkOptions { up_to: Some("a".into()), title: Some(" Mine ".into()) };
    let copy = fork(&home.home, source.id(), None, &options).unwrap();
    let context = resume(&copy.transcript(), &ResumeAt::End).unwrap();
    assert_eq!(brief(&context), "user: one | assistant: 1");
    assert_eq!(context.title.as_deref(), Some("Mine"));
}

#[test]
fn a_fork_keeps_what_a_compaction_kept() {
    let mut lines = conversation();
    let kept = json!({ "anchorUuid": "k", "uuids": ["b"], "allUuids": ["b"] });
    lines.push(boundary("c", json!({ "trigger": "auto", "preservedMessages": kept })));
    lines.push(with(user("k", Some("c"), "sum"), "isCompactSummary", true));
    let home = Home::new();
    let source = home.write(ID, &lines);
    let copy = fork(&home.home, source.id(), None, &ForkOptions::default()).unwrap();
    let context = resume(&copy.transcript(), &ResumeAt::End).unwrap();
    assert_eq!(brief(&context), "user: sum | assistant: 2");
}

#[test]
fn a_branch_keeps_the_names() {
    let home = Home::new();
    let source = home.write(ID, &conversation());
    let target = home.files("00000000-0000-4000-8000-000000000000");
    branch(&source.transcript(), &target).unwrap();
    let copied = lines(&home, target.id());
    assert_eq!(copied.len(), conversation().len());
    for (copy, original) in copied.iter().zip(conversation()) {
        assert_eq!(copy["uuid"], original["uuid"]);
        assert_ne!(copy["sessionId"], ID);
    }
    assert!(matches!(branch(&source.transcript(), &target), Err(SessionError::InUse(_))));
}

#[test]
fn deleting_takes_everything() {
    let home = Home::new();
    let files = home.write(ID, &[user("u", None, "one")]);
    fs::create_dir_all(files.subagents()).unwrap();
    fs::create_dir_all(home.home.file_history(files.id())).unwrap();
    delete(&home.home, files.id(), None).unwrap();
    assert_eq!(fs::read_dir(files.project_folder()).unwrap().count(), 0);
    assert!(!home.home.file_history(files.id()).exists());
}
