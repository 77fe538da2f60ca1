//! Finding files by name.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use bowline_tools::Access;
use serde_json::json;

use crate::rig::Rig;

fn set_age(rig: &Rig, name: &str, seconds: u64) {
    let file = fs::File::options().append(true).open(rig.path(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
}

#[tokio::test]
async fn files_are_listed_oldest_first_with_hidden_and_ignored_ones() {
    let rig = Rig::new();
    for (name, age) in
        [("src/a.py", 10), ("src/deep/b.py", 30), (".hidden/c.py", 20), ("target/d.py", 5)]
    {
        rig.file(name, "");
        set_age(&rig, name, age);
    }
    rig.file(".gitignore", "target\n");
    rig.file(".git/e.py", "");
    rig.file("f.txt", "");
    let (text, object) = rig.ok("Glob", json!({ "pattern": "**/*.py" })).await;
    assert_eq!(text, "src/deep/b.py\n.hidden/c.py\nsrc/a.py\ntarget/d.py");
    assert_eq!(object["numFiles"], 4);
    assert_eq!(object["totalMatches"], 4);
    assert_eq!(object["truncated"], false);
    // Without a slash a pattern fits at any depth.
    assert_eq!(rig.text("Glob", json!({ "pattern": "*.py" })).await, text);
    assert_eq!(rig.text("Glob", json!({ "pattern": "src/*.{py,rs}" })).await, "src/a.py");
    let inside = json!({ "pattern": "*.py", "path": "src/deep" });
    assert_eq!(rig.text("Glob", inside).await, "src/deep/b.py");
    // The rest after the last plain folder is a pattern like any other.
    let absolute = json!({ "pattern": format!("{}/src/deep/*.py", rig.project().display()) });
    assert_eq!(rig.text("Glob", absolute).await, "src/deep/b.py");
    let absolute = json!({ "pattern": format!("{}/*.py", rig.project().display()) });
    assert_eq!(rig.text("Glob", absolute).await, text);
    assert_eq!(rig.text("Glob", json!({ "pattern": "*.rs" })).await, "No files found");
}

#[tokio::test]
async fn long_list_is_truncated_with_a_note() {
    let rig = Rig::new();
    for number in 0..150 {
        rig.file(&format!("{number}.txt"), "");
    }
    let (text, object) = rig.ok("Glob", json!({ "pattern": "*.txt" })).await;
    assert_eq!(text.lines().count(), 101);
    assert!(text.contains("(Showing 100 of 150 matching files; 50 more are not listed."));
    assert_eq!((&object["truncated"], &object["totalMatches"]), (&json!(true), &json!(150)));
}

#[tokio::test]
async fn invalid_globs_have_specific_errors() {
    let rig = Rig::new();
    rig.file("a.txt", "");
    let error = async |pattern: &str, path: &str| {
        rig.error("Glob", json!({ "pattern": pattern, "path": path })).await
    };
    assert!(error("*", "none").await.starts_with("Directory does not exist: none. Note: "));
    assert_eq!(error("*", "a.txt").await, "Path is not a directory: a.txt");
    assert!(error("{a", ".").await.starts_with("Search failed — "));
}

#[tokio::test]
async fn glob_access_covers_its_directory() {
    let rig = Rig::new();
    let glob = rig.registry.find("Glob").unwrap();
    let access = |input| glob.access(&input, &rig.workspace);
    assert_eq!(access(json!({ "pattern": "*" })), Access::Read(vec![rig.project()]));
    assert_eq!(access(json!({ "pattern": "/etc/*" })), Access::Read(vec!["/etc".into()]));
}
