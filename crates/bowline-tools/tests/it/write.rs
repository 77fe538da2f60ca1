//! Writing whole files.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use bowline_tools::{Access, FileChange, FileObserver};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::rig::{Rig, refused};

const NOTE: &str = " (file state is current in your context — no need to Read it back)";

fn to(path: &str, content: &str) -> Value {
    json!({ "file_path": path, "content": content })
}

#[tokio::test]
async fn write_creates_a_file_and_its_directories() {
    let rig = Rig::new();
    let (text, object) = rig.ok("Write", to("a/b/new.txt", "hello\n")).await;
    assert_eq!(text, format!("File created successfully at: a/b/new.txt{NOTE}"));
    assert_eq!(
        object,
        json!({
            "type": "create", "filePath": "a/b/new.txt", "content": "hello\n",
            "structuredPatch": [], "originalFile": null, "userModified": false,
        })
    );
    assert_eq!(rig.content("a/b/new.txt"), "hello\n");
    let files: Vec<_> = fs::read_dir(rig.path("a/b")).unwrap().collect();
    assert_eq!(files.len(), 1, "nothing temporary is left");
}

#[tokio::test]
async fn written_file_may_be_written_again() {
    let rig = Rig::new();
    rig.ok("Write", to("a.txt", "old\n")).await;
    let (text, object) = rig.ok("Write", to("a.txt", "new\n")).await;
    assert_eq!(text, format!("The file a.txt has been updated successfully.{NOTE}"));
    assert_eq!(object["type"], "update");
    assert_eq!(object["originalFile"], "old\n");
    assert_eq!(
        object["structuredPatch"],
        json!([{ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                 "lines": ["-old", "+new"] }])
    );
}

#[tokio::test]
async fn an_unread_file_is_not_overwritten_unless_that_is_allowed() {
    let rig = Rig::new();
    rig.file("a.txt", "old\n");
    assert_eq!(
        rig.error("Write", to("a.txt", "new\n")).await,
        refused("File has not been read yet. Read it first before writing to it.")
    );
    assert_eq!(rig.content("a.txt"), "old\n");
    rig.workspace.set_reads_before_writing(false);
    rig.ok("Write", to("a.txt", "new\n")).await;
    assert_eq!(rig.content("a.txt"), "new\n");
}

#[tokio::test]
async fn concurrent_change_is_not_overwritten() {
    let rig = Rig::new();
    rig.workspace.set_reads_before_writing(false);
    let path = rig.file("a.txt", "one\n");
    rig.text("Read", json!({ "file_path": "a.txt" })).await;
    // A new time alone is no change.
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    rig.ok("Write", to("a.txt", "two\n")).await;

    rig.file("a.txt", "theirs\n");
    let text = rig.error("Write", to("a.txt", "three\n")).await;
    assert!(text.starts_with("<tool_use_error>File has been modified since read, "), "{text}");
    assert_eq!(rig.content("a.txt"), "theirs\n");
    rig.text("Read", json!({ "file_path": "a.txt" })).await;
    rig.ok("Write", to("a.txt", "three\n")).await;
}

#[tokio::test]
async fn file_read_before_a_resume_is_compared_by_its_time() {
    let rig = Rig::new();
    let path = rig.file("a.txt", "one\n");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    rig.workspace.seen().seed(&path, modified - Duration::from_secs(1));
    assert!(rig.error("Write", to("a.txt", "two\n")).await.contains("modified since read"));
    rig.workspace.seen().seed(&path, modified);
    rig.ok("Write", to("a.txt", "two\n")).await;
}

#[tokio::test]
async fn permissions_links_and_line_endings_are_preserved() {
    let rig = Rig::new();
    rig.workspace.set_reads_before_writing(false);
    let script = rig.file("script", "echo 1\r\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("script", rig.path("link")).unwrap();
    rig.ok("Write", to("link", "echo 2\necho 3\n")).await;
    assert!(fs::symlink_metadata(rig.path("link")).unwrap().is_symlink());
    assert_eq!(rig.content("script"), "echo 2\r\necho 3\r\n");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o750);

    rig.file("marked", b"\xEF\xBB\xBFa");
    rig.ok("Write", to("marked", "b")).await;
    assert_eq!(fs::read(rig.path("marked")).unwrap(), b"\xEF\xBB\xBFb");

    rig.ok("Write", to("plain", "x")).await;
    let mode = fs::metadata(rig.path("plain")).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    fs::write(rig.path("by-std"), "x").unwrap();
    assert_eq!(mode, fs::metadata(rig.path("by-std")).unwrap().permissions().mode());
}

#[tokio::test]
async fn unwritable_paths_have_specific_errors() {
    let rig = Rig::new();
    rig.workspace.set_reads_before_writing(false);
    let text = rig.error("Write", to(".", "x")).await;
    assert!(text.contains(". is a directory, not a file. "), "{text}");
    rig.file("file", "x");
    let place = rig.project().join("file/x").display().to_string();
    assert_eq!(
        rig.error("Write", to("file/x", "x")).await,
        refused(&format!("Error calling tool (Write): ENOTDIR: not a directory, stat '{place}'"))
    );
    // A notebook is not written blindly, even by models that may do so with other files.
    rig.file("n.ipynb", "{}");
    assert!(rig.error("Write", to("n.ipynb", "x")).await.contains("has not been read yet"));
    rig.file("damaged", b"a\xFFb");
    let text = rig.error("Write", to("damaged", "x")).await;
    assert!(text.contains("not a text file"), "{text}");
    assert_eq!(fs::read(rig.path("damaged")).unwrap(), b"a\xFFb");
}

/// Remembers what it was shown.
#[derive(Default)]
struct Watch(Mutex<Vec<(String, Option<Vec<u8>>)>>);

impl FileObserver for Watch {
    fn before_write<'a>(&'a self, change: FileChange<'a>) -> BoxFuture<'a, ()> {
        let name = change.path.file_name().unwrap().to_string_lossy().into_owned();
        self.0.lock().unwrap().push((name, change.before.map(<[u8]>::to_vec)));
        Box::pin(std::future::ready(()))
    }
}

/// Changes the file itself at the last moment.
struct Meddler;

impl FileObserver for Meddler {
    fn before_write<'a>(&'a self, change: FileChange<'a>) -> BoxFuture<'a, ()> {
        fs::write(change.path, "meddled").unwrap();
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn an_observer_sees_files_before_they_change() {
    let watch = Arc::new(Watch::default());
    let rig = Rig::with(|setup| setup.file_observer = Some(watch.clone()));
    rig.ok("Write", to("a.txt", "one")).await;
    rig.ok("Write", to("a.txt", "two")).await;
    assert_eq!(
        *watch.0.lock().unwrap(),
        [("a.txt".to_owned(), None), ("a.txt".to_owned(), Some(b"one".to_vec()))]
    );
}

#[tokio::test]
async fn change_just_before_the_write_is_detected() {
    let rig = Rig::with(|setup| setup.file_observer = Some(Arc::new(Meddler)));
    rig.file("a.txt", "one");
    rig.text("Read", json!({ "file_path": "a.txt" })).await;
    for path in ["a.txt", "new.txt"] {
        let text = rig.error("Write", to(path, "mine")).await;
        assert!(text.contains("modified since read"), "{text}");
        assert_eq!(rig.content(path), "meddled");
    }
}

#[tokio::test]
async fn write_access_covers_its_file() {
    let rig = Rig::new();
    let write = rig.registry.find("Write").unwrap();
    assert_eq!(write.access(&to("a/../b", ""), &rig.workspace), Access::Edit(rig.path("b")));
    assert!(!write.is_concurrency_safe(&to("b", "")));
}
