//! Sessions that outlive the program that started them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use bowline_host::Agent;

use crate::rig::{agents, embedded, soon};

/// Says which folder the program that is killed works in.
const FOLDER: &str = "BOWLINE_TEST_RECOVERY";

fn agent(folder: &Path) -> Agent {
    let continuation = "SAY went on";
    let builder = Agent::builder(embedded(folder)).journal(folder.join("journal"));
    builder.continuation(continuation).build().expect("the options go together")
}

/// Not a test: the program that is killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn a_program_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let session = agent(&folder).start("SAY begun\nDELAY 60000\nNEXT\nSAY never");
    session.wait().await.unwrap();
}

#[tokio::test]
async fn sessions_of_a_killed_program_are_found_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "recovery::a_program_that_is_killed"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    soon("the session", async {
        loop {
            let entries = fs::read_dir(folder.path().join("journal")).into_iter().flatten();
            let begun = entries.flatten().any(|entry| {
                fs::read_to_string(entry.path()).is_ok_and(|text| text.ends_with("begun\n"))
            });
            if begun {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let agent = agent(folder.path());
    assert!(agent.recover().unwrap().is_empty(), "the program lives");
    program.kill().await.unwrap();
    let sessions = agent.recover().unwrap();
    assert_eq!(sessions.len(), 1);
    assert!(agent.recover().unwrap().is_empty(), "it is found once");
    let (messages, view) = sessions[0].messages().follow();
    let result = soon("the session", sessions[0].wait()).await.unwrap();
    assert_eq!(result.result.as_deref(), Some("went on"));
    messages.text().await.unwrap();
    assert_eq!(view.current().session_id(), sessions[0].id().as_ref());
    let left = fs::read_dir(folder.path().join("journal")).unwrap().count();
    assert_eq!(left, 0, "what is over is not in the journal");
}

#[tokio::test]
async fn sessions_that_were_given_up_go_on_over_every_transport() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()) {
        let journal = folder.path().join("journal").join(name);
        let builder = Agent::builder(options).journal(&journal).continuation("SAY went on");
        let agent = builder.build().unwrap();
        // One that has begun, and one that has not.
        let begun = agent.start("SAY begun\nDELAY 60000\nNEXT\nSAY never");
        let mut watch = begun.watch();
        let spoke = watch.wait_for(|status| status.statistics().messages > 1);
        drop(soon(name, spoke).await.unwrap());
        let waiting = agent.start("SAY anew");
        let id = begun.id().unwrap();
        drop((begun, waiting));
        tokio::task::yield_now().await;
        let mut results = Vec::new();
        for session in soon(name, async {
            loop {
                // What was dropped lets go of its line when its work is dropped.
                let sessions = agent.recover().unwrap();
                if !sessions.is_empty() {
                    break sessions;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
        {
            let result = soon(name, session.wait()).await.unwrap();
            results.push((session.id() == Some(id.clone()), result.result.unwrap()));
        }
        results.sort();
        assert!(results.contains(&(true, "went on".to_owned())), "{name}: {results:?}");
    }
}
