//! Sessions that are saved, found and resumed.

use std::fs;

use serde_json::{Value, json};

use crate::test_home::{Ran, TestHome};

fn session_of(ran: &Ran) -> String {
    let result: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    result["session_id"].as_str().unwrap().to_owned()
}

const JSON: [&str; 2] = ["--output-format", "json"];

#[test]
fn a_session_goes_on_under_its_own_name_and_a_fork_under_another() {
    let rig = TestHome::new();
    let first = session_of(&rig.ask(&JSON, "SAY one"));
    let resumed = rig.ask(&[&JSON[..], &["--resume", &first]].concat(), "SAY two");
    assert_eq!(session_of(&resumed), first);
    let newest = rig.ask(&[&JSON[..], &["--continue"]].concat(), "SAY three");
    assert_eq!(session_of(&newest), first);
    let fork = ["--fork-session", "--resume", first.as_str()];
    let forked = rig.ask(&[&JSON[..], &fork].concat(), "SAY four");
    assert_ne!(session_of(&forked), first);
    assert_eq!(rig.transcripts().len(), 2);
}

#[test]
fn a_prompt_is_written_down_with_the_mode_it_was_sent_in() {
    let rig = TestHome::new();
    rig.ask(&["--permission-mode", "acceptEdits"], "SAY one");
    let text = fs::read_to_string(&rig.transcripts()[0]).unwrap();
    let prompt: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(prompt["message"]["content"], "SAY one");
    assert_eq!(
        (&prompt["permissionMode"], &prompt["promptSource"]),
        (&json!("acceptEdits"), &json!("sdk"))
    );
}

#[test]
fn a_name_can_be_given_once() {
    let rig = TestHome::new();
    let id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let named = rig.ask(&[&JSON[..], &["--session-id", id]].concat(), "SAY one");
    assert_eq!(session_of(&named), id);
    let again = rig.ask(&["--session-id", id], "SAY two");
    let text = format!("Error: Session ID {id} is already in use.\n");
    assert_eq!((again.code, again.stderr), (Some(1), text));
}

#[test]
fn continue_without_sessions_begins_one() {
    assert_eq!(TestHome::new().ask(&["--continue"], "SAY hi").printed(), "hi\n");
}

#[test]
fn a_host_learns_of_a_missing_session_in_a_result() {
    let rig = TestHome::new();
    let id = "99999999-9999-4999-8999-999999999999";
    let why = format!("No conversation found with session ID: {id}");
    let host = rig.open(&["--resume", id]);
    let ran = host.end();
    assert_eq!((ran.code, ran.stderr.trim()), (Some(1), why.as_str()));
    let result = &ran.lines()[0];
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["errors"], json!([why]));

    let ran = rig.ask(&["--resume", id], "SAY hi");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.trim()), (Some(1), "", why.as_str()));
}

#[test]
fn a_session_is_found_by_its_title_and_what_is_like_it_is_listed() {
    let rig = TestHome::new();
    let named = |title: &str| session_of(&rig.ask(&[&JSON[..], &["-n", title]].concat(), "SAY hi"));
    let (first, _) = (named("long voyage"), named("long voyage home"));
    let by = |target: &str| rig.ask(&[&JSON[..], &["--resume", target]].concat(), "SAY on");
    assert_eq!(session_of(&by("Long Voyage")), first);
    assert_eq!(session_of(&by(&first[..8])), first);

    let several = by("long");
    assert_eq!(several.code, Some(1));
    assert!(several.stderr.contains("several sessions match"), "{}", several.stderr);
    let unknown = by("short walk");
    assert_eq!(unknown.code, Some(1));
    for ran in [several, unknown] {
        assert!(ran.stderr.contains(&first) && ran.stderr.contains("long voyage home"), "{ran:?}");
    }
}

#[test]
fn a_session_is_written_by_one_process_at_a_time() {
    let rig = TestHome::new();
    let first = session_of(&rig.ask(&JSON, "SAY one"));
    let mut host = rig.open(&["--resume", &first]);
    host.prompt("SAY two");
    host.await_kind("result");
    let second = rig.ask(&["--resume", &first], "SAY three");
    assert_eq!(second.code, Some(1));
    let holder = format!("is in use by process {}", host.pid());
    assert!(second.stderr.contains(&holder), "{}", second.stderr);
    let forked = rig.ask(&[&JSON[..], &["--fork-session", "--resume", &first]].concat(), "SAY 4");
    assert_ne!(session_of(&forked), first);
    host.close_input();
    assert_eq!(host.end().code, Some(0));
    assert_eq!(rig.ask(&["--resume", &first], "SAY three").printed(), "three\n");
}
