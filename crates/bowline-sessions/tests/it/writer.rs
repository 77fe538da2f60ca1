//! Writing: places in the chain, one file for its owner, torn lines, failing disks.

use std::{fs, io, os::unix::fs::PermissionsExt, path::Path};

use bowline_protocol::{ApiMessage, ContentBlock, MessageUuid};
use bowline_sessions::{
    AssistantLine, Flushed, LastPrompt, LineOrigin, Mirroring, ResumeAt, SessionError,
    SessionFiles, TranscriptWriter, UserLine, resume,
};
use serde_json::Value;

use crate::transcript::{Home, ID, brief, user};

fn create(home: &Home) -> TranscriptWriter {
    let origin = LineOrigin { cwd: "/w".to_owned(), ..LineOrigin::default() };
    TranscriptWriter::create(home.files(ID), origin).unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn written(flushed: Flushed) -> usize {
    match flushed {
        Flushed::Written { lines } => lines,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_file_comes_with_the_first_line_and_is_its_owners() {
    let home = Home::new();
    let mut writer = create(&home);
    assert_eq!(written(writer.flush()), 0);
    assert!(!home.home.path().exists());
    writer.push(UserLine::new("hi"));
    assert_eq!(written(writer.flush()), 1);
    let mode = fs::metadata(writer.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let refused = TranscriptWriter::create(home.files(ID), LineOrigin::default());
    assert!(matches!(refused, Err(SessionError::InUse(_))));
}

#[test]
fn lines_follow_one_another_and_results_follow_their_calls() {
    let home = Home::new();
    let mut writer = create(&home);
    let mut prompt = UserLine::new("hi");
    prompt.chain.uuid = MessageUuid::from("given");
    let first = writer.push(prompt);
    assert_eq!(first.as_str(), "given");
    let answer = ApiMessage {
        id: "msg_1".to_owned(),
        content: vec![ContentBlock::text("a"), ContentBlock::text("b")],
        ..ApiMessage::default()
    };
    let parts: Vec<_> =
        AssistantLine::split(&answer, None).into_iter().map(|line| writer.push(line)).collect();
    let result = writer.push_after(UserLine::new("of a"), Some(parts[0].clone()));
    writer.note(LastPrompt::new("h\ni", result.clone(), ID.into()));
    assert_eq!(writer.leaf(), Some(&result));
    assert_eq!(written(writer.flush()), 5);
    let lines = lines(writer.path());
    let parents: Vec<_> = lines.iter().map(|line| line["parentUuid"].as_str()).collect();
    assert_eq!(
        parents,
        [None, Some("given"), Some(parts[0].as_str()), Some(parts[0].as_str()), None]
    );
    assert_eq!(lines[2]["message"]["content"][0]["text"], "b");
    assert_eq!((&lines[2]["apiBlockIndex"], &lines[2]["cwd"]), (&1.into(), &"/w".into()));
    assert_eq!(lines[4]["lastPrompt"], "h i");
}

#[test]
fn subagents_write_beside_their_session() {
    let home = Home::new();
    let mut writer = create(&home);
    writer.push(UserLine::new("hi"));
    let _ = writer.flush();
    let mut side = writer.subagent("a1".into(), None).unwrap();
    side.push(UserLine::new("task"));
    assert_eq!(written(side.flush()), 1);
    let line = &lines(&home.files(ID).subagent(&"a1".into()))[0];
    assert_eq!((&line["isSidechain"], &line["agentId"]), (&true.into(), &"a1".into()));
    assert_eq!(line["sessionId"], ID);
}

#[test]
fn a_mirror_gets_what_was_written() {
    let home = Home::new();
    let mut writer = create(&home).with_mirroring(Mirroring::Ended);
    writer.push(UserLine::new("hi"));
    let _ = writer.flush();
    let batch = writer.take_mirror().unwrap();
    assert_eq!(batch.file_path, writer.path());
    assert_eq!(batch.entries[0].to_value(), lines(writer.path())[0]);
    assert_eq!(writer.take_mirror(), None);
}

#[test]
fn torn_lines_are_cut_off_and_whole_ones_get_their_newline() {
    let whole = user("u", None, "hi").to_string();
    for (rest, kept) in
        [("", 1), ("{\"type\":\"us", 1), ("{\"type\":\"mode\",\"mode\":\"normal\"}", 2)]
    {
        let home = Home::new();
        let files = home.write(ID, &[]);
        fs::write(files.transcript(), format!("{whole}\n{rest}")).unwrap();
        let origin = LineOrigin::default();
        let mut writer = TranscriptWriter::resume(files, origin, Some("u".into())).unwrap();
        writer.push(UserLine::new("more"));
        let _ = writer.flush();
        assert_eq!(lines(writer.path()).len(), kept + 1, "{rest}");
        let context = resume(writer.path(), &ResumeAt::End).unwrap();
        assert!(brief(&context).starts_with("user: hi, more"));
    }
}

#[test]
fn a_folder_that_cannot_be_written_warns_once() {
    let home = Home::new();
    // A file where the folder should be fails for everybody, also for root.
    fs::write(home.folder.path().join("blocked"), "").unwrap();
    let files = SessionFiles::in_folder(home.folder.path().join("blocked/p"), ID.into());
    let mut writer = TranscriptWriter::create(files, LineOrigin::default()).unwrap();
    writer.push(UserLine::new("one"));
    let Flushed::Failed(failure) = writer.flush() else { panic!("must fail") };
    assert!(failure.to_string().starts_with("this session is no longer saved: "), "{failure}");
    writer.push(UserLine::new("two"));
    writer.push(UserLine::new("three"));
    assert!(matches!(writer.flush(), Flushed::Dropped));
    assert_eq!(writer.dropped(), 3);
}

#[test]
fn a_full_disk_leaves_whole_lines() {
    // This device takes no byte, as a full disk does.
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let home = Home::new();
    let files = home.files(ID);
    fs::create_dir_all(files.project_folder()).unwrap();
    std::os::unix::fs::symlink(full, files.transcript()).unwrap();
    let mut writer = TranscriptWriter::resume(files, LineOrigin::default(), None).unwrap();
    writer.push(UserLine::new("one"));
    let Flushed::Failed(failure) = writer.flush() else { panic!("must fail") };
    let SessionError::Io { source, .. } = failure.error else { panic!("{failure}") };
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
}
