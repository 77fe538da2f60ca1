//! Going on with what was kept: lines from elsewhere, copies of sessions.

use std::fs;

use bowline_protocol::{MessageUuid, RawJson};
use bowline_sessions::{
    LineOrigin, ProjectKey, ResumeAt, StartFrom, TakeUp, TakenUp, UserLine, resume,
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

/// Takes up two lines; the names of the transcripts that are there then.
fn take_up(change: impl FnOnce(&mut TakeUp)) -> (Option<TakenUp>, Vec<String>) {
    let home = Home::new();
    let lines = [user("u", None, "hi"), answer("a", "u", "yes")];
    let lines = lines.iter().map(|line| RawJson::from_value(line).unwrap()).collect();
    let mut wanted = TakeUp { from: StartFrom::Lines(lines), ..TakeUp::default() };
    change(&mut wanted);
    let project = ProjectKey::for_directory(home.directory());
    let taken_up = wanted.open(&home.home, &project, origin(&home)).ok();
    let folder = home.files("any").project_folder().to_owned();
    let found = fs::read_dir(folder).into_iter().flatten();
    let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    (taken_up, names.filter(|name| name.ends_with(".jsonl")).collect())
}

#[test]
fn they_become_a_session_of_ours_with_the_id_that_is_wanted() {
    let id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let (taken_up, found) = take_up(|wanted| wanted.id = Some(id.to_owned()));
    let taken_up = taken_up.unwrap();
    assert_eq!(taken_up.id.as_str(), id);
    assert_eq!(brief(&taken_up.context.unwrap()), "user: hi | assistant: yes");
    assert_eq!(found, [format!("{id}.jsonl")]);
}

#[test]
fn what_is_not_saved_leaves_nothing_behind() {
    let (taken_up, found) = take_up(|wanted| wanted.unsaved = true);
    let taken_up = taken_up.unwrap();
    assert!(taken_up.transcript.is_none());
    assert_eq!(brief(&taken_up.context.unwrap()), "user: hi | assistant: yes");
    assert_eq!(found, [""; 0]);
}

#[test]
fn what_fails_leaves_nothing_behind() {
    let (taken_up, found) = take_up(|wanted| wanted.at = Some(MessageUuid::from("nobody")));
    assert!(taken_up.is_none());
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_file_without_a_conversation_is_no_session() {
    let home = Home::new();
    let title = json!({ "type": "custom-title", "customTitle": "A title", "sessionId": ID });
    home.write(ID, &[title]);
    let from = StartFrom::Session(ID.to_owned());
    for unsaved in [false, true] {
        let wanted = TakeUp { from: from.clone(), unsaved, ..TakeUp::default() };
        let project = ProjectKey::for_directory(home.directory());
        let refused = wanted.open(&home.home, &project, origin(&home)).unwrap_err().to_string();
        assert_eq!(
            refused.lines().next(),
            Some(&*format!("no session found for {ID:?}; sessions here:"))
        );
    }
}

#[test]
fn a_copy_goes_on_behind_the_last_whole_line() {
    let said = "user: hi | assistant: yes";
    for rest in ["", "\n{\"type\":\"us"] {
        let home = Home::new();
        let files = home.write(ID, &[user("u", None, "hi")]);
        // The newline of the last line is missing, or there is a piece of another one.
        let text = fs::read_to_string(files.transcript()).unwrap();
        fs::write(files.transcript(), format!("{text}{}{rest}", answer("a", "u", "yes"))).unwrap();
        let from = StartFrom::Session(ID.to_owned());
        let wanted = TakeUp { from, fork: true, ..TakeUp::default() };
        let project = ProjectKey::for_directory(home.directory());
        let taken_up = wanted.open(&home.home, &project, origin(&home)).unwrap();
        assert_eq!(brief(&taken_up.context.unwrap()), said);
        let mut writer = taken_up.transcript.unwrap();
        writer.push(UserLine::new("more"));
        let _ = writer.flush();
        let copy = resume(writer.path(), &ResumeAt::End).unwrap();
        let copied = brief(&copy);
        assert!(copied.starts_with(&format!("{said} | user: more")), "{copied}");
    }
}
