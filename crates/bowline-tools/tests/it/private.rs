//! Permissions of files that tools create, under an open umask.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use bowline_tools::{Setup, ToolCall, Workspace, run};
use serde_json::json;

use crate::rig::Rig;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o777
}

/// Everything below a folder, and the folder itself.
fn all_modes(folder: &Path) -> Vec<(String, u32)> {
    let mut modes = vec![(folder.display().to_string(), mode(folder))];
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path().is_dir() {
            true => modes.extend(all_modes(&entry.path())),
            false => modes.push((entry.path().display().to_string(), mode(&entry.path()))),
        }
    }
    modes
}

#[tokio::test]
async fn command_output_files_are_private() {
    let rig = Rig::new();
    let command = "umask 000; head -c 200000 /dev/zero | tr '\\0' x";
    let text = rig.text("Bash", json!({ "command": command })).await;
    assert!(text.contains("Full output saved to"), "{text}");
    rig.text("Bash", json!({ "command": "echo secret", "run_in_background": true })).await;
    let folders = ["results", "tasks"].map(|name| rig.outside().join(name));
    let modes: Vec<_> =
        folders.iter().filter(|folder| folder.exists()).flat_map(|it| all_modes(it)).collect();
    assert!(modes.iter().any(|(_, mode)| *mode == 0o600), "{modes:?}");
    for (path, mode) in modes {
        let expected = if Path::new(&path).is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{path}");
    }
}

#[tokio::test]
async fn call_id_cannot_escape_the_results_folder() {
    let rig = Rig::new();
    let tool = rig.registry.find("Bash").unwrap();
    rig.file("long", "x\n".repeat(100_000));
    for id in ["../../escaped", "/tmp/escaped", "a/b", "..", &"x".repeat(1000)] {
        let call = ToolCall {
            confinement: None,
            id: id.into(),
            input: json!({ "command": "cat long" }),
            workspace: rig.workspace.clone(),
            cancel: rig.cancel.child_token(),
        };
        run(tool.as_ref(), call).await.unwrap();
    }
    let outside: Vec<_> = fs::read_dir(rig.outside()).unwrap().flatten().collect();
    for entry in outside {
        let name = entry.file_name();
        assert!(["project", "results", "tasks"].contains(&name.to_str().unwrap()), "{name:?}");
    }
    assert!(!Path::new("/tmp/escaped.txt").exists());
}

#[tokio::test]
async fn default_workspace_folders_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path(), Setup::default());
    let users = bowline_private::temporary_folder().unwrap();
    assert!(workspace.results_dir().starts_with(&users), "{:?}", workspace.results_dir());
    assert_eq!(mode(&users), 0o700);
}

#[tokio::test]
async fn files_written_into_the_configuration_folder_are_private() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().canonicalize().unwrap().join(".bowline");
    let rig = Rig::with(|setup| setup.private_dir = Some(folder.clone()));
    let plan = folder.join("plans/a.md");
    rig.text("Write", json!({ "file_path": plan, "content": "plan" })).await;
    assert_eq!((mode(&folder), mode(&folder.join("plans")), mode(&plan)), (0o700, 0o700, 0o600));
    // In the project the umask applies, as for any editor.
    let file = rig.path("d/file");
    rig.text("Write", json!({ "file_path": file, "content": "x" })).await;
    let usual = rig.file("usual", "");
    assert_eq!(mode(&file), mode(&usual));
}
