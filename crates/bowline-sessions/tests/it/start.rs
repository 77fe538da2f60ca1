//! Going on with what was kept: lines from elsewhere, copies of sessions.

use std::fs;

use bowline_protocol::{MessageUuid, RawJson};
use bowline_sessions::{
    LineOrigin, ProjectKey, ResumeAt, StartFrom, StartOptions, StartedSession, UserLine, resume,
};

use serde_json::json;

use crate::transcript::{Home, ID, answer, brief, user};

fn origin(home: &Home) -> LineOrigin {
    LineOrigin {
        cwd: home.directory().display().to_string(),
        version: "1".to_owned(),
        git_branch: "HEAD".to_owned(),
        entrypoint: "test".to_owned(),
    }
}

/// Resumes a session of two lines; also returns the names of the transcripts that are there then.
fn start(change: impl FnOnce(&mut StartOptions)) -> (Option<StartedSession>, Vec<String>) {
    let home = Home::new();
    let lines = [user("u", None, "hi"), answer("a", "u", "yes")];
    let lines = lines.iter().map(|line| RawJson::from_value(line).unwrap()).collect();
    let mut wanted = StartOptions { from: StartFrom::Lines(lines), ..StartOptions::default() };
    change(&mut wanted);
    let project = ProjectKey::for_directory(home.directory());
    let started = wanted.open(&home.home, &project, origin(&home)).ok();
    let folder = home.files("any").project_folder().to_owned();
    let found = fs::read_dir(folder).into_iter().flatten();
    let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    (started, names.filter(|name| name.ends_with(".jsonl")).collect())
}

#[test]
fn fetched_lines_become_a_session_with_the_requested_id() {
    let id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let (started, found) = start(|wanted| wanted.id = Some(id.to_owned()));
    let started = started.unwrap();
    assert_eq!(started.id.as_str(), id);
    assert_eq!(brief(&started.context.unwrap()), "user: hi | assistant: yes");
    assert_eq!(found, [format!("{id}.jsonl")]);
}

#[test]
fn unsaved_session_leaves_no_files() {
    let (started, found) = start(|wanted| wanted.unsaved = true);
    let started = started.unwrap();
    assert!(started.transcript.is_none());
    assert_eq!(brief(&started.context.unwrap()), "user: hi | assistant: yes");
    assert_eq!(found, [""; 0]);
}

#[test]
fn failed_start_leaves_no_files() {
    let (started, found) = start(|wanted| wanted.at = Some(MessageUuid::from("nobody")));
    assert!(started.is_none());
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_file_without_a_conversation_is_no_session() {
    let home = Home::new();
    let title = json!({ "type": "custom-title", "customTitle": "A title", "sessionId": ID });
    home.write(ID, &[title]);
    let from = StartFrom::Session(ID.to_owned());
    for unsaved in [false, true] {
        let wanted = StartOptions { from: from.clone(), unsaved, ..StartOptions::default() };
        let project = ProjectKey::for_directory(home.directory());
        let refused = wanted.open(&home.home, &project, origin(&home)).unwrap_err().to_string();
        assert_eq!(
            refused.lines().next(),
            Some(&*format!("no session found for {ID:?}; sessions here:"))
        );
    }
}

#[test]
fn fork_continues_after_the_last_whole_line() {
    let said = "user: hi | assistant: yes";
    for rest in ["", "\n{\"type\":\"us"] {
        let home = Home::new();
        let files = home.write(ID, &[user("u", None, "hi")]);
        // The newline of the last line is missing, or there is a piece of another one.
        let text = fs::read_to_string(files.transcript()).unwrap();
        fs::write(files.transcript(), format!("{text}{}{rest}", answer("a", "u", "yes"))).unwrap();
        let from = StartFrom::Session(ID.to_owned());
        let wanted = StartOptions { from, fork: true, ..StartOptions::default() };
        let project = ProjectKey::for_directory(home.directory());
        let started = wanted.open(&home.home, &project, origin(&home)).unwrap();
        assert_eq!(brief(&started.context.unwrap()), said);
        let mut writer = started.transcript.unwrap();
        writer.push(UserLine::new("more"));
        let _ = writer.flush();
        let copy = resume(writer.path(), &ResumeAt::End).unwrap();
        let copied = brief(&copy);
        assert!(copied.starts_with(&format!("{said} | user: more")), "{copied}");
    }
}
