//! Sessions that outlive the program that started them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_host::{Agent, Embedded, McpServer, Message, Options, Tool};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::rig::{agents, embedded, fake, soon};

/// Variable with the folder of the program that is killed.
const FOLDER: &str = "BOWLINE_TEST_RECOVERY";

/// Variable with the name of its agent.
const NAME: &str = "BOWLINE_TEST_RECOVERY_AGENT";

fn agent(folder: &Path) -> Agent {
    journaled(embedded(folder), folder)
}

fn journaled(options: Options, folder: &Path) -> Agent {
    let builder = Agent::builder(options).journal(folder.join("journal"));
    builder.continuation("SAY went on").build().expect("the options go together")
}

/// A tool whose call is recorded, and ends or not.
fn desk(folder: &Path, ends: bool) -> McpServer {
    let note = folder.join("called");
    let wait = Tool::with_schema("wait", "", json!({"type": "object"}), move |_: Value| {
        fs::write(&note, "").expect("the folder is ours");
        async move {
            if !ends {
                std::future::pending::<()>().await;
            }
            "done"
        }
    });
    McpServer::new("desk").tool(wait)
}

/// Whether the journal has recorded a response of an agent.
fn has_begun(folder: &Path) -> bool {
    let entries = fs::read_dir(folder.join("journal")).into_iter().flatten().flatten();
    let mut texts = entries.map(|entry| fs::read_to_string(entry.path()));
    texts.any(|text| text.is_ok_and(|text| text.ends_with("begun\n")))
}

const PROMPT: &str = "SAY begun\nTOOL mcp__desk__wait {}\nNEXT\nSAY from the start";

/// Not a test: the program that is killed.
#[tokio::test]
#[ignore = "run by the test below"]
async fn a_program_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let name = std::env::var(NAME).expect("it is named with the folder");
    let agents = agents(&folder).await;
    let (_, options) = agents.into_iter().find(|it| it.0 == name).expect("both see the same");
    let options = options.sdk_mcp_server(desk(&folder, false)).allow(["mcp__desk__wait"]);
    journaled(options, &folder).start(PROMPT).wait().await.unwrap();
}

#[tokio::test]
async fn sessions_of_a_killed_program_are_found_and_go_on() {
    let names: Vec<_> = {
        let folder = tempfile::tempdir().unwrap();
        agents(folder.path()).await.into_iter().map(|(name, _)| name).collect()
    };
    for name in names {
        let folder = tempfile::tempdir().unwrap();
        let mut program = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "recovery::a_program_that_is_killed"])
            .envs([(FOLDER, folder.path().as_os_str()), (NAME, name.as_ref())])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        soon(name, async {
            // A call may arrive before the message it is in.
            while !(folder.path().join("called").exists() && has_begun(folder.path())) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let agents = agents(folder.path()).await;
        let (_, options) = agents.into_iter().find(|it| it.0 == name).unwrap();
        let options = options.sdk_mcp_server(desk(folder.path(), true)).allow(["mcp__desk__wait"]);
        let agent = journaled(options, folder.path());
        assert!(agent.recover().unwrap().is_empty(), "{name}: the program lives");
        program.kill().await.unwrap();
        let sessions = agent.recover().unwrap();
        assert_eq!(sessions.len(), 1, "{name}");
        assert!(agent.recover().unwrap().is_empty(), "{name}: it is found once");
        let (messages, view) = sessions[0].messages().follow();
        let result = soon(name, sessions[0].wait()).await.unwrap();
        let words = result.result.unwrap_or_default();
        // The official agent writes its transcript some time after it has spoken. If it is killed
        // before that, there is nothing to resume.
        if !(name.starts_with("official") && words == "from the start") {
            assert_eq!(words, "went on", "{name}");
        }
        messages.text().await.unwrap();
        assert_eq!(view.current().session_id(), sessions[0].id().as_ref(), "{name}");
        let left = fs::read_dir(folder.path().join("journal")).unwrap().count();
        assert_eq!(left, 0, "{name}: what is over is not in the journal");
    }
}

#[tokio::test]
async fn sessions_that_were_given_up_go_on_over_every_transport() {
    let folder = tempfile::tempdir().unwrap();
    for (name, options) in agents(folder.path()).await {
        let journal = folder.path().join("journal").join(name);
        let called = Arc::new(Notify::new());
        let desk = hangs_once(Arc::clone(&called));
        let options = options.sdk_mcp_server(desk).allow(["mcp__desk__wait"]);
        let builder = Agent::builder(options).journal(&journal).continuation("SAY went on");
        let agent = builder.build().unwrap();
        // One that has begun, and one that has not.
        let begun = agent.start("SAY begun\nTOOL mcp__desk__wait {}\nNEXT\nSAY from the start");
        let mut messages = begun.messages();
        soon(name, async {
            while !matches!(messages.next().await, Some(Ok(Message::Assistant(_)))) {}
            // The session that starts from scratch must not be the first to call the tool.
            called.notified().await;
        })
        .await;
        let waiting = agent.start("SAY fresh");
        let id = begun.id().unwrap();
        drop((begun, messages, waiting));
        let sessions = soon(name, async {
            // A dropped session releases its journal entry when its task is dropped.
            let mut sessions = Vec::new();
            while sessions.len() < 2 {
                sessions.extend(agent.recover().unwrap());
                tokio::task::yield_now().await;
            }
            sessions
        })
        .await;
        let mut results = Vec::new();
        for session in sessions {
            let result = soon(name, session.wait()).await.unwrap();
            results.push((session.id() == Some(id.clone()), result.result.unwrap()));
        }
        results.sort();
        assert_eq!(results[0], (false, "fresh".to_owned()), "{name}");
        // The official agent writes its transcript some time after it has spoken. If it is killed
        // before that, there is nothing to resume.
        let from_the_start = (true, "from the start".to_owned());
        if name != "official" || results[1] != from_the_start {
            assert_eq!(results[1], (true, "went on".to_owned()), "{name}");
        }
    }
}

/// A tool that never returns from its first call.
fn hangs_once(called: Arc<Notify>) -> McpServer {
    let known = AtomicBool::new(false);
    let wait = Tool::with_schema("wait", "", json!({"type": "object"}), move |_: Value| {
        let again = known.swap(true, Ordering::SeqCst);
        called.notify_one();
        async move {
            if !again {
                std::future::pending::<()>().await;
            }
            "done"
        }
    });
    McpServer::new("desk").tool(wait)
}

#[tokio::test]
async fn unsaved_session_restarts_from_scratch() {
    let folder = tempfile::tempdir().unwrap();
    // Why an agent leaves is known to its carrier alone.
    let agents =
        agents(folder.path()).await.into_iter().filter(|(name, _)| !name.contains("carried"));
    for (number, (name, options)) in agents.enumerate() {
        let journal = folder.path().join("journal").join(name);
        let agent = Agent::builder(options).journal(&journal).build().unwrap();
        // Agents may keep their sessions in one folder: what one saved, another would resume.
        let id = format!("5b0a6c8e-6f53-4d1c-9a55-0c8f3a1e7d4{number}");
        let record = json!({"session_id": id, "prompt": {
            "type": "user", "message": {"role": "user", "content": "SAY from the start"},
        }});
        fs::write(journal.join(format!("{id}.json")), format!("{record}\nbegun\n")).unwrap();
        let sessions = agent.recover().unwrap();
        assert_eq!(sessions.len(), 1, "{name}");
        let result = soon(name, sessions[0].wait()).await.unwrap();
        assert_eq!(result.result.as_deref(), Some("from the start"), "{name}");
        assert_eq!(sessions[0].id().unwrap().as_str(), id.as_str(), "{name}");
        assert_eq!(fs::read_dir(&journal).unwrap().count(), 0, "{name}");
    }
}

#[tokio::test]
async fn running_session_stays_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal");
    let running = agent(folder.path()).start("SAY begun\nDELAY 60000\nNEXT\nSAY never");
    let mut messages = running.messages();
    soon("an answer", async {
        while !matches!(messages.next().await, Some(Ok(Message::Assistant(_)))) {}
    })
    .await;
    // Another journal has the same entry of a session that runs.
    let (id, other) = (running.id().unwrap(), folder.path().join("other"));
    fs::create_dir(&other).unwrap();
    let entry = format!("{id}.json");
    fs::copy(journal.join(&entry), other.join(&entry)).unwrap();
    let builder = Agent::builder(embedded(folder.path())).journal(&other);
    let second = builder.continuation("SAY went on").build().unwrap();
    let sessions = second.recover().unwrap();
    soon("the second", sessions[0].wait()).await.unwrap_err();
    assert!(other.join(&entry).exists(), "it may be tried again");
    soon("the end", running.cancel()).await;
    // A session that is over has released its transcript, even if a handle remains.
    let found = second.recover().unwrap();
    let result = soon("another try", found[0].wait()).await.unwrap();
    assert_eq!(result.result.as_deref(), Some("went on"));
    assert!(!other.join(&entry).exists());
}

#[tokio::test]
async fn session_with_given_id_is_in_the_journal_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let id = "5b0a6c8e-6f53-4d1c-9a55-0c8f3a1e7d50";
    let journal = folder.path().join("journal");
    let mut options = embedded(folder.path());
    options.session.session_id = Some(id.to_owned());
    let agent = Agent::builder(options).journal(&journal).build().unwrap();
    // Its program died before the agent had responded.
    let record = json!({"session_id": id, "prompt": {
        "type": "user", "message": {"role": "user", "content": "SAY begun\nDELAY 60000"},
    }});
    let line = journal.join(format!("{id}.json"));
    fs::write(&line, format!("{record}\n")).unwrap();
    let sessions = agent.recover().unwrap();
    let mut messages = sessions[0].messages();
    soon("an answer", async {
        while !matches!(messages.next().await, Some(Ok(Message::Assistant(_)))) {}
    })
    .await;
    assert!(fs::read_to_string(&line).unwrap().ends_with("begun\n"));
    assert!(agent.recover().unwrap().is_empty(), "it runs");
    soon("the end", sessions[0].cancel()).await;
    assert!(!line.exists());
}

#[tokio::test]
async fn session_in_another_folder_is_resumed_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (usual, own, journal) = (folder.join("usual"), folder.join("own"), folder.join("journal"));
    fs::create_dir(&usual).unwrap();
    fs::create_dir(&own).unwrap();
    let agent = |part| {
        let builder = Agent::builder(fake(part).cwd(&usual)).journal(&journal);
        builder.build().unwrap()
    };
    // One was dropped before its agent had responded, the agent of the other had.
    drop(agent("hang").start_in(&own, "go"));
    let id = "5b0a6c8e-6f53-4d1c-9a55-0c8f3a1e7d51";
    let record = json!({"session_id": id, "cwd": own, "prompt": {
        "type": "user", "message": {"role": "user", "content": "go"},
    }});
    fs::write(journal.join(format!("{id}.json")), format!("{record}\nbegun\n")).unwrap();
    let sessions = soon("what was left", async {
        let (agent, mut sessions) = (agent("surroundings"), Vec::new());
        while sessions.len() < 2 {
            sessions.extend(agent.recover().unwrap());
            tokio::task::yield_now().await;
        }
        sessions
    })
    .await;
    for session in sessions {
        let result = soon("a session", session.wait()).await.unwrap().result.unwrap();
        assert!(result.starts_with(&format!("{} ", own.display())), "{result}");
    }
}

#[test]
fn journal_requires_saved_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default().embedded(Embedded::script(folder.path()));
    let error = Agent::builder(options).journal(folder.path().join("journal")).build();
    assert_eq!(error.unwrap_err().code(), "options");
}
