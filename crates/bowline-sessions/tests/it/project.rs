//! Names of folders.

use std::{fs, path::Path};

use bowline_protocol::{AgentId, SessionId};
use bowline_sessions::{ConfigHome, ProjectKey, SessionFiles, is_session_id, tasks_folder};

#[test]
fn everything_but_letters_and_digits_becomes_a_dash() {
    let cases = [
        ("/tmp/a b", "-tmp-a-b"),
        ("/tmp/protoexp/ü né_x.y", "-tmp-protoexp---n--x-y"),
        // Counted as the CLI counts: two units for one character outside the first plane.
        ("/a/🦀", "-a---"),
    ];
    for (path, key) in cases {
        assert_eq!(ProjectKey::from_path(Path::new(path)).as_str(), key);
    }
}

#[test]
fn long_names_are_cut_and_hashed() {
    let path = format!("/{}", "x".repeat(254));
    let key = ProjectKey::from_path(Path::new(&path));
    // The hash was computed with the official Python SDK.
    assert_eq!(key.as_str(), format!("-{}-{}", "x".repeat(199), LONG_HASH));
}
const LONG_HASH: &str = "woydin";

#[test]
fn a_long_folder_of_an_older_writer_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let home = ConfigHome::new(folder.path());
    let key = ProjectKey::from_path(Path::new(&format!("/{}", "x".repeat(254))));
    assert_eq!(home.existing_project(&key), None);
    let older = home.projects().join(format!("-{}-other", "x".repeat(199)));
    fs::create_dir_all(&older).unwrap();
    assert_eq!(home.existing_project(&key), Some(older));
}

#[test]
fn directories_are_named_by_their_real_paths() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    fs::create_dir(&real).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(ProjectKey::for_directory(&link), ProjectKey::for_directory(&real));
    // The same name decomposed: `e` and an accent of its own.
    assert_eq!(ProjectKey::for_directory("/none/e\u{301}"), ProjectKey::for_directory("/none/é"));
}

#[test]
fn files_of_a_session() {
    let id = SessionId::from("0b9c5f0e-6a56-4f7e-9d0c-3f8a1c2d4e5f");
    let files = SessionFiles::in_folder("/h/projects/-w", id.clone());
    let agent = AgentId::from("a12");
    let base = "/h/projects/-w/0b9c5f0e-6a56-4f7e-9d0c-3f8a1c2d4e5f";
    assert_eq!(files.transcript(), Path::new(&format!("{base}.jsonl")));
    assert_eq!(files.subagent(&agent), Path::new(&format!("{base}/subagents/agent-a12.jsonl")));
    assert_eq!(files.tool_results(), Path::new(&format!("{base}/tool-results")));
    assert_eq!(SessionFiles::of_transcript(&files.transcript()), Some(files.clone()));
    assert_eq!(SessionFiles::of_transcript(Path::new("/x/notes.jsonl")), None);
    let tasks = tasks_folder(Path::new("/tmp/claude-7"), &files.project_key(), &id);
    assert_eq!(tasks, Path::new(&format!("/tmp/claude-7/-w/{id}/tasks")));
}

#[test]
fn session_ids_are_uuids() {
    assert!(is_session_id("0B9C5F0E-6a56-4f7e-9d0c-3f8a1c2d4e5f"));
    for bad in [
        "",
        "0b9c5f0e6a564f7e9d0c3f8a1c2d4e5f",
        "0b9c5f0e-6a56-4f7e-9d0c-3f8a1c2d4e5g",
        "../../etc/passwd",
    ] {
        assert!(!is_session_id(bad), "{bad}");
    }
}
