//! Undoing edits of files.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
};

use bowline_protocol::MessageUuid;
use bowline_sessions::{Checkpoints, Rewind, RewindReport, TranscriptLine};

use crate::transcript::Home;

/// A session that edits files, and what it writes into its transcript.
struct Editing {
    home: Home,
    checkpoints: Checkpoints,
    lines: Vec<TranscriptLine>,
}

impl Editing {
    fn new() -> Self {
        let home = Home::new();
        let checkpoints = Checkpoints::new(home.folder.path().join("history"), home.directory());
        Self { home, checkpoints, lines: Vec::new() }
    }

    fn prompt(&mut self, name: &str) {
        self.lines.push(self.checkpoints.begin(&name.into()).unwrap());
    }

    fn edit(&mut self, file: &str, content: Option<&str>) {
        let path = self.home.directory().join(file);
        self.lines.extend(self.checkpoints.before_edit(&path, &"answer".into()).unwrap());
        match content {
            Some(content) => fs::write(path, content).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
    }

    fn content(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.home.directory().join(file)).ok()
    }

    fn rewind(&self, prompt: &str, rewind: Rewind) -> RewindReport {
        self.checkpoints.rewind(&MessageUuid::from(prompt), rewind)
    }
}

#[test]
fn rewind_restores_contents_creations_and_deletions() {
    let mut session = Editing::new();
    fs::write(session.home.directory().join("a"), "alpha\n").unwrap();
    fs::write(session.home.directory().join("gone"), "x\ny\n").unwrap();
    session.prompt("p1");
    session.edit("a", Some("beta\n"));
    session.edit("a", Some("gamma\n"));
    session.edit("new", Some("n\n"));
    session.edit("gone", None);
    let dry = session.rewind("p1", Rewind::DryRun);
    assert_eq!(session.content("a").as_deref(), Some("gamma\n"), "a dry run changes nothing");
    let directory = session.home.directory();
    assert!(dry.can_rewind);
    assert_eq!(dry.files_changed, ["a", "gone", "new"].map(|name| directory.join(name)));
    assert_eq!((dry.insertions, dry.deletions), (3, 2));
    assert_eq!(session.rewind("p1", Rewind::Restore), dry);
    assert_eq!(session.content("a").as_deref(), Some("alpha\n"));
    assert_eq!(session.content("gone").as_deref(), Some("x\ny\n"));
    assert_eq!(session.content("new"), None);
    assert_eq!(
        session.rewind("p1", Rewind::Restore).files_changed.len(),
        0,
        "nothing is left to do"
    );
}

#[test]
fn every_prompt_is_a_checkpoint() {
    let mut session = Editing::new();
    session.prompt("p1");
    session.edit("a", Some("1"));
    session.prompt("p2");
    session.edit("a", Some("2"));
    session.edit("b", Some("2"));
    session.prompt("p3");
    session.edit("a", Some("3"));
    for (prompt, a, b) in
        [("p3", Some("2"), Some("2")), ("p2", Some("1"), None), ("p1", None, None)]
    {
        let report = session.rewind(prompt, Rewind::Restore);
        assert_eq!(report.error, None);
        assert_eq!(
            (session.content("a").as_deref(), session.content("b").as_deref()),
            (a, b),
            "{prompt}"
        );
    }
}

#[test]
fn rewind_restores_file_modes() {
    let mut session = Editing::new();
    let path = session.home.directory().join("script");
    fs::write(&path, "x").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
    session.prompt("p1");
    session.edit("script", Some("x"));
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(session.rewind("p1", Rewind::Restore).files_changed.len(), 1);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn an_unknown_prompt_has_no_checkpoint() {
    let report = Editing::new().rewind("p9", Rewind::DryRun);
    assert!(!report.can_rewind);
    assert_eq!(report.error.as_deref(), Some("No file checkpoint found for this message."));
}

#[test]
fn file_replaced_by_a_link_is_left_alone() {
    let mut session = Editing::new();
    let directory = session.home.directory();
    fs::write(directory.join("other"), "precious").unwrap();
    fs::write(directory.join("a"), "alpha").unwrap();
    session.prompt("p1");
    session.edit("a", None);
    symlink(directory.join("other"), directory.join("a")).unwrap();
    let report = session.rewind("p1", Rewind::Restore);
    assert_eq!((report.skipped_links, report.files_changed.len()), (1, 0));
    assert_eq!(session.content("other").as_deref(), Some("precious"));
}

#[test]
fn edit_through_a_link_is_undone_in_its_target() {
    let mut session = Editing::new();
    let directory = session.home.directory();
    fs::write(directory.join("real"), "alpha").unwrap();
    symlink("real", directory.join("link")).unwrap();
    session.prompt("p1");
    session.edit("link", Some("beta"));
    session.edit("real", Some("gamma"));
    let report = session.rewind("p1", Rewind::Restore);
    assert_eq!((report.skipped_links, report.files_changed.len()), (0, 1));
    assert_eq!(session.content("real").as_deref(), Some("alpha"));
    assert!(directory.join("link").is_symlink());
}

#[test]
fn checkpoints_are_restored_from_a_transcript() {
    let mut session = Editing::new();
    session.prompt("p1");
    session.edit("a", Some("1"));
    session.prompt("p2");
    session.edit("a", Some("2"));
    let transcript = session.home.folder.path().join("t.jsonl");
    let text: String = session.lines.iter().map(|line| line.to_json() + "\n").collect();
    fs::write(&transcript, text).unwrap();
    let history = session.home.folder.path().join("history");
    session.checkpoints =
        Checkpoints::load(history, session.home.directory(), [], &transcript).unwrap();
    assert!(session.rewind("p2", Rewind::Restore).can_rewind);
    assert_eq!(session.content("a").as_deref(), Some("1"));
}

/// A transcript of another writer: one prompt, and this for its files.
fn foreign(session: &Editing, files: &serde_json::Value) -> Checkpoints {
    // Readers look for the type at the start of a line.
    let line = format!(
        r#"{{"type":"file-history-snapshot","messageId":"p1","isSnapshotUpdate":false,
        "snapshot":{{"messageId":"p1","trackedFileBackups":{files},
        "timestamp":"2026-01-01T00:00:00.000Z"}}}}"#
    );
    let line = line.replace('\n', "");
    let transcript = session.home.folder.path().join("foreign.jsonl");
    fs::write(&transcript, format!("{line}\n")).unwrap();
    let history = session.home.folder.path().join("history");
    Checkpoints::load(history, session.home.directory(), [], &transcript).unwrap()
}

fn backup(copy: Option<&str>) -> serde_json::Value {
    serde_json::json!({
        "backupFileName": copy, "version": u64::MAX, "backupTime": "2026-01-01T00:00:00.000Z",
    })
}

#[test]
fn untrusted_transcript_restores_no_files_outside_the_session() {
    let session = Editing::new();
    let directory = session.home.directory();
    let base = fs::canonicalize(session.home.folder.path()).unwrap();
    let history = session.home.folder.path().join("history");
    fs::create_dir(&history).unwrap();
    fs::write(history.join("0123456789abcdef@v1"), "evil").unwrap();
    fs::write(base.join("evil"), "evil").unwrap();
    let secret = base.join("secret");
    symlink(&base, directory.join("way")).unwrap();
    symlink(base.join("not-there"), directory.join("dangling")).unwrap();
    let outside = [
        secret.display().to_string(),
        "../secret".to_owned(),
        format!("{}/../secret", directory.display()),
        "way/secret".to_owned(),
        "way/new/secret".to_owned(),
        "dangling/secret".to_owned(),
        "./../work/../secret".to_owned(),
        String::new(),
        "/".to_owned(),
    ];
    for copy in [Some("0123456789abcdef@v1"), None] {
        for name in &outside {
            fs::write(&secret, "precious").unwrap();
            let mut copies = foreign(&session, &serde_json::json!({ name.as_str(): backup(copy) }));
            for rewind in [Rewind::DryRun, Rewind::Restore] {
                let report = copies.rewind(&"p1".into(), rewind);
                assert!(report.files_changed.is_empty(), "{name} {copy:?} {report:?}");
                let error = report.error.expect(name);
                assert!(error.contains("outside the working directories"), "{error}");
            }
            // Nor is it copied when the next prompt comes.
            let line = copies.begin(&"p2".into()).unwrap().to_json();
            assert!(!line.contains("secret"), "{line}");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "precious", "{name} {copy:?}");
        }
    }
    assert!(!base.join("new").exists() && !base.join("not-there").exists());
}

#[test]
fn untrusted_transcript_uses_only_copies_of_the_session() {
    let session = Editing::new();
    let base = fs::canonicalize(session.home.folder.path()).unwrap();
    fs::write(base.join("evil"), "evil").unwrap();
    let absolute = base.join("evil").display().to_string();
    for copy in ["../evil", &absolute, "0123456789abcdef@v1/../../evil", ""] {
        fs::write(session.home.directory().join("a"), "kept").unwrap();
        let copies = foreign(&session, &serde_json::json!({ "a": backup(Some(copy)) }));
        let report = copies.rewind(&"p1".into(), Rewind::Restore);
        assert!(report.error.is_some_and(|error| error.contains("a copy")), "{copy}");
        assert_eq!(session.content("a").as_deref(), Some("kept"), "{copy}");
    }
}

#[test]
fn folder_replaced_by_a_link_is_not_followed() {
    let session = Editing::new();
    let (directory, base) = (session.home.directory(), session.home.folder.path());
    fs::create_dir(directory.join("d")).unwrap();
    fs::write(directory.join("d/secret"), "old").unwrap();
    let mut copies = foreign(&session, &serde_json::json!({ "d/secret": backup(None) }));
    // The file joins the next checkpoint, which this program makes itself.
    copies.begin(&"p2".into()).unwrap();
    fs::write(base.join("secret"), "precious").unwrap();
    fs::remove_dir_all(directory.join("d")).unwrap();
    symlink(base, directory.join("d")).unwrap();
    for prompt in ["p1", "p2"] {
        let report = copies.rewind(&prompt.into(), Rewind::Restore);
        assert!(report.files_changed.is_empty() && report.error.is_some(), "{report:?}");
    }
    assert_eq!(fs::read_to_string(base.join("secret")).unwrap(), "precious");
}

#[test]
fn rewind_covers_added_directories() {
    let mut session = Editing::new();
    let added = session.home.folder.path().join("added");
    fs::create_dir(&added).unwrap();
    fs::write(added.join("a"), "1").unwrap();
    session.prompt("p1");
    session.edit(&added.join("a").display().to_string(), Some("2"));
    let transcript = session.home.folder.path().join("t.jsonl");
    let text: String = session.lines.iter().map(|line| line.to_json() + "\n").collect();
    fs::write(&transcript, text).unwrap();
    let history = session.home.folder.path().join("history");
    let load = |directories: &[&std::path::Path]| {
        let directories = directories.iter().copied();
        Checkpoints::load(&history, session.home.directory(), directories, &transcript).unwrap()
    };
    let report = load(&[]).rewind(&"p1".into(), Rewind::Restore);
    assert!(report.error.is_some() && report.files_changed.is_empty());
    let report = load(&[&added]).rewind(&"p1".into(), Rewind::Restore);
    assert_eq!((report.error, report.files_changed.len()), (None, 1));
    assert_eq!(fs::read_to_string(added.join("a")).unwrap(), "1");
}
