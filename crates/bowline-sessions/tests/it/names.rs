//! Names of a session stay where listings find them, however long it grows.

use std::fs;

use bowline_sessions::{
    CompactMetadata, CustomTitle, LineOrigin, ProjectKey, SessionInfo, StartFrom, StartOptions,
    SystemLine, Tag, TranscriptWriter, UserLine, info, rename,
};

use crate::transcript::{Home, ID};

/// Writes some three times what a listing reads of a transcript.
fn grow(writer: &mut TranscriptWriter) {
    for _ in 0..200 {
        writer.push(UserLine::new("x".repeat(1000)));
        let _ = writer.flush();
    }
}

fn listed(home: &Home) -> SessionInfo {
    info(&home.home, &ID.into(), None).unwrap()
}

/// A session that gets its names in the middle.
fn named_in_the_middle(home: &Home) -> TranscriptWriter {
    let origin = LineOrigin { cwd: "/w".to_owned(), ..LineOrigin::default() };
    let mut writer = TranscriptWriter::create(home.files(ID), origin).unwrap();
    grow(&mut writer);
    let title = CustomTitle { custom_title: "chart".to_owned(), ..CustomTitle::default() };
    writer.note(title);
    writer.note(Tag { tag: "sea".to_owned(), ..Tag::default() });
    grow(&mut writer);
    writer
}

#[test]
fn names_given_in_the_middle_are_repeated() {
    let home = Home::new();
    let writer = named_in_the_middle(&home);
    let found = listed(&home);
    assert_eq!((found.custom_title.as_deref(), found.tag.as_deref()), (Some("chart"), Some("sea")));
    let text = fs::read_to_string(writer.path()).unwrap();
    let said = text.lines().filter(|line| line.starts_with("{\"type\":\"custom-title\"")).count();
    // Some 260 KB come after the first one; one for each half of what a listing reads is enough.
    assert!((7..=9).contains(&said), "{said}");
}

#[test]
fn removed_tag_is_not_repeated() {
    let home = Home::new();
    let mut writer = named_in_the_middle(&home);
    writer.note(Tag::default());
    grow(&mut writer);
    let found = listed(&home);
    assert_eq!((found.custom_title.as_deref(), found.tag), (Some("chart"), None));
}

#[test]
fn names_given_by_other_processes_apply() {
    let home = Home::new();
    let mut writer = named_in_the_middle(&home);
    rename(&home.home, &ID.into(), None, "reef").unwrap();
    grow(&mut writer);
    assert_eq!(listed(&home).custom_title.as_deref(), Some("reef"));

    rename(&home.home, &ID.into(), None, "shoal").unwrap();
    writer.note(CustomTitle { custom_title: "harbor".to_owned(), ..CustomTitle::default() });
    grow(&mut writer);
    assert_eq!(listed(&home).custom_title.as_deref(), Some("harbor"), "it is the newer one");
}

#[test]
fn resumed_writer_repeats_names() {
    let home = Home::new();
    let mut writer = named_in_the_middle(&home);
    writer.push_after(SystemLine::compact_boundary(CompactMetadata::default()), None);
    let _ = writer.flush();
    drop(writer);
    let options =
        StartOptions { from: StartFrom::Session(ID.to_owned()), ..StartOptions::default() };
    let origin =
        LineOrigin { cwd: home.directory().display().to_string(), ..LineOrigin::default() };
    let key = ProjectKey::for_directory(home.directory());
    let started = options.open(&home.home, &key, origin).unwrap();
    assert_eq!(
        started.context.unwrap().title.as_deref(),
        Some("chart"),
        "from before the boundary"
    );
    grow(&mut started.transcript.unwrap());
    assert_eq!(listed(&home).custom_title.as_deref(), Some("chart"));
}
