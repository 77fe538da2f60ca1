//! Commands of a program that is killed: none outlives it.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use bowline_tools::{Options, Registry, Setup, ToolCall, Workspace, run};
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// The folder in which the victim works.
const FOLDER: &str = "GUARDIAN_TEST_FOLDER";

/// Leaves a child behind and waits, while both hold `alive` open. Another command has ended before.
#[tokio::test]
#[ignore = "waits to be killed by the other test"]
async fn victim() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let registry = Registry::builtin(&Options::default());
    let workspace = Workspace::new(folder, Setup::default());
    for command in ["true", "exec 3>alive; sleep 600 & echo up >&3; sleep 600; wait"] {
        let call = ToolCall {
            id: "toolu_test".into(),
            input: json!({ "command": command }),
            workspace: workspace.clone(),
            cancel: CancellationToken::new(),
            confinement: None,
        };
        run(registry.find("Bash").unwrap().as_ref(), call).await.unwrap();
    }
}

#[test]
fn commands_die_with_a_program_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("alive");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guardian::victim", "--ignored"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = BufReader::new(File::open(pipe).unwrap());
    let mut said = String::new();
    pipe.read_line(&mut said).unwrap();
    assert_eq!(said, "up\n");
    victim.kill().unwrap();
    victim.wait().unwrap();
    // The pipe ends when no process holds it open any more.
    let (end, gone) = mpsc::channel();
    std::thread::spawn(move || {
        pipe.read_to_end(&mut Vec::new()).unwrap();
        end.send(()).ok();
    });
    gone.recv_timeout(Duration::from_secs(60)).expect("the command and its child are gone");
}
