//! Rules, what instructions may bring in, and files that are not what they seem.

use std::{fs, os::unix::fs::symlink, path::Path};

use bowline_engine::settings::{SettingsPaths, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::write;
use crate::{ears::Ears, rig::Rig};

/// A project with a configuration folder beside it.
struct Project {
    folder: TempDir,
    ears: Ears,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            write(folder.path(), name, text);
        }
        fs::create_dir_all(folder.path().join("work")).unwrap();
        Self { folder, ears: Ears::default() }
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// A session in it, and what its system prompt says.
    async fn told(self) -> (Rig, Ears, String) {
        let (root, ears) = (self.root(), self.ears);
        let mut rig = Rig::in_folder(self.folder, |config| {
            ears.listen(config);
            config.cwd = root.join("work");
            config.places = SettingsPaths::new(root.join("config"), &config.cwd);
            config.trust = Trust::recorded(&config.places);
        });
        rig.run("SAY hi").await;
        let told = ears.system().pop().unwrap();
        (rig, ears, told)
    }
}

fn read(path: &Path) -> String {
    format!("TOOL Read {}\nNEXT\nSAY done", json!({"file_path": path}))
}

#[tokio::test]
async fn rules_count_at_once_or_with_the_first_file_they_are_about() {
    let project = Project::new(&[
        ("config/rules/mine.md", "My own rule."),
        ("work/.claude/rules/all.md", "For everything."),
        ("work/.claude/rules/web/ts.md", "---\npaths: [\"src/**/*.ts\"]\n---\nFor TypeScript."),
        ("work/.claude/rules/notes.txt", "No rule."),
        ("work/src/a/b.ts", "code"),
        ("work/src/a/b.rs", "code"),
    ]);
    let root = project.root();
    let (mut rig, ears, told) = project.told().await;
    assert!(told.contains("My own rule.") && told.contains("For everything."), "{told}");
    assert!(!told.contains("For TypeScript.") && !told.contains("No rule."), "{told}");
    let hooks = json!({"InstructionsLoaded": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.run(&read(&root.join("work/src/a/b.rs"))).await;
    assert!(!ears.conversation().iter().any(|said| said.contains("For TypeScript.")));
    let file = root.join("work/src/a/b.ts");
    let frames = rig.run(&read(&file)).await;
    rig.run(&read(&file)).await;
    let said = ears.conversation();
    let reminders: Vec<_> = said.iter().filter(|said| said.contains("For TypeScript.")).collect();
    assert_eq!(reminders.len(), 1, "{said:?}");
    assert!(!reminders[0].contains("paths:"), "{reminders:?}");
    let heard: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "hook_callback")
        .map(|frame| &frame["call"]["input"])
        .collect();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["load_reason"], "path_glob_match");
    assert_eq!(heard[0]["globs"], json!(["src/**/*.ts"]));
    assert_eq!(heard[0]["trigger_file_path"], json!(file));
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
    let (_, _, told) = project.told().await;
    for word in ["the user's secret", "Top.", "inner", "beside"] {
        assert!(told.contains(word), "{word} in {told}");
    }
    assert!(!told.contains("somebody else's"), "{told}");

    let project = Project::new(&files);
    let trusted = json!({"projects": {
        project.root().join("work").to_str().unwrap(): {"hasTrustDialogAccepted": true},
    }});
    write(&project.root(), "config/.claude.json", &trusted.to_string());
    let (_, _, told) = project.told().await;
    assert!(told.contains("somebody else's"), "{told}");
}

#[tokio::test]
async fn odd_files_cost_themselves() {
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
    let (_, _, told) = project.told().await;
    for word in ["With a mark.", "After a long line.", "caf\u{fffd}", "A good rule.", "word word"] {
        assert!(told.contains(word), "{word} is missing");
    }
    for word in ["\u{feff}", "About nothing.", "THE END"] {
        assert!(!told.contains(word), "{word}");
    }
    assert_eq!(told.matches("A good rule.").count(), 1);
}
