//! Rules, imports of instructions, and unusual files.

use std::{fs, os::unix::fs::symlink, path::Path};

use bowline_engine::settings::{SettingsPaths, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::write;
use crate::{request_log::RequestLog, rig::Rig};

/// A project with a configuration folder beside it.
struct Project {
    folder: TempDir,
    log: RequestLog,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        fs::create_dir_all(folder.path().join("work")).unwrap();
        Self { folder, log: RequestLog::default() }
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// A session in it, and its system prompt.
    async fn open(self) -> (Rig, RequestLog, String) {
        let (root, log) = (self.root(), self.log);
        let mut rig = Rig::in_folder(self.folder, |config| {
            log.record(config);
            config.cwd = root.join("work");
            config.places = SettingsPaths::new(root.join("config"), &config.cwd);
            config.trust = Trust::recorded(&config.places);
        });
        rig.run("SAY hi").await;
        let received = log.system().pop().unwrap();
        (rig, log, received)
    }
}

fn read(path: &Path) -> String {
    format!("TOOL Read {}\nNEXT\nSAY done", json!({"file_path": path}))
}

#[tokio::test]
async fn rules_apply_at_once_or_with_their_first_file() {
    let project = Project::new(&[
        ("config/rules/mine.md", "My own rule."),
        ("work/.claude/rules/all.md", "For everything."),
        ("work/.claude/rules/web/ts.md", "---\npaths: [\"src/**/*.ts\"]\n---\nFor TypeScript."),
        ("work/.claude/rules/notes.txt", "No rule."),
        ("work/src/a/b.ts", "code"),
        ("work/src/a/b.rs", "code"),
    ]);
    let root = project.root();
    let (mut rig, log, received) = project.open().await;
    assert!(
        received.contains("My own rule.") && received.contains("For everything."),
        "{received}"
    );
    assert!(!received.contains("For TypeScript.") && !received.contains("No rule."), "{received}");
    let hooks = json!({"InstructionsLoaded": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.run(&read(&root.join("work/src/a/b.rs"))).await;
    assert!(!log.conversation().iter().any(|said| said.contains("For TypeScript.")));
    let file = root.join("work/src/a/b.ts");
    let frames = rig.run(&read(&file)).await;
    rig.run(&read(&file)).await;
    let said = log.conversation();
    let reminders: Vec<_> = said.iter().filter(|said| said.contains("For TypeScript.")).collect();
    assert_eq!(reminders.len(), 1, "{said:?}");
    assert!(!reminders[0].contains("paths:"), "{reminders:?}");
    let received: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "hook_callback")
        .map(|frame| &frame["call"]["input"])
        .collect();
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(received[0]["load_reason"], "path_glob_match");
    assert_eq!(received[0]["globs"], json!(["src/**/*.ts"]));
    assert_eq!(received[0]["trigger_file_path"], json!(file));
}

#[tokio::test]
async fn a_project_brings_in_its_own_files_only() {
    let files = [
        ("config/CLAUDE.md", "@../secret.md"),
        ("secret.md", "the user's secret"),
        ("other.md", "somebody else's"),
        ("work/CLAUDE.md", "Top. @../other.md @link.md @sub/inner.md"),
        ("work/sub/inner.md", "inner @../beside.md"),
        ("work/beside.md", "beside"),
    ];
    let project = Project::new(&files);
    symlink("../other.md", project.root().join("work/link.md")).unwrap();
    let (_, _, received) = project.open().await;
    for word in ["the user's secret", "Top.", "inner", "beside"] {
        assert!(received.contains(word), "{word} in {received}");
    }
    assert!(!received.contains("somebody else's"), "{received}");

    let project = Project::new(&files);
    let trusted = json!({"projects": {
        project.root().join("work").to_str().unwrap(): {"hasTrustDialogAccepted": true},
    }});
    write(&project.root(), "config/.claude.json", &trusted.to_string());
    let (_, _, received) = project.open().await;
    assert!(received.contains("somebody else's"), "{received}");
}

#[tokio::test]
async fn unusual_files_are_skipped_alone() {
    let project = Project::new(&[
        ("work/CLAUDE.md", "\u{feff}With a mark.\r\n@crlf.md\r\n@pipe @folder @loop.md @latin.md"),
        ("work/crlf.md", "After a long line.\r\n"),
        ("work/folder/x.md", "x"),
        ("work/.claude/rules/good.md", "A good rule."),
        ("work/.claude/rules/bad.md", "---\npaths: [\"a{\"]\n---\nAbout nothing."),
    ]);
    let work = project.root().join("work");
    fs::write(work.join("latin.md"), b"caf\xe9").unwrap();
    fs::write(work.join("AGENTS.md"), format!("{} THE END", "word ".repeat(100_000))).unwrap();
    symlink("loop.md", work.join("loop.md")).unwrap();
    symlink("..", work.join(".claude/rules/up")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(work.join("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe, which nobody writes to");
    let (_, _, received) = project.open().await;
    for word in ["With a mark.", "After a long line.", "caf\u{fffd}", "A good rule.", "word word"] {
        assert!(received.contains(word), "{word} is missing");
    }
    for word in ["\u{feff}", "About nothing.", "THE END"] {
        assert!(!received.contains(word), "{word}");
    }
    assert_eq!(received.matches("A good rule.").count(), 1);
}
