//! Sessions kept by the program: mirrored into stores, resumed from them, and looked at like
//! sessions in files.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_host::{
    Client, Embedded, Message, Options, Sessions, SessionsError,
    protocol::{RawJson, SessionId, SystemMessage},
    query,
    sessions::{ForkOptions, ListOptions, Page, Transcripts},
    store::{FileStore, MemoryStore, SessionStore, StoreError, StoreFuture, StoreKey},
};
use serde_json::{Value, json};

use crate::rig::{result, soon};

const ID: &str = "9f1e2d3c-0000-4000-8000-000000000001";

/// A shell script that is an agent with a transcript: it reports three lines, the last of them
/// only when it ends, and its result has what it finds of the session it resumes.
const AGENT: &str = r#"
case " $* " in *' --session-mirror '*) ;; *) exit 9 ;; esac
read -r hello
id=$(printf %s "$hello" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
say() { printf '%s\n' "$1"; }
say '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{"commands":[],"agents":[],"models":[],"account":{},"claude_code_version":"2.1.325"}}}'
read -r prompt
report() { say '{"type":"transcript_mirror","filePath":"'"$CLAUDE_CONFIG_DIR"'/projects/-work/SESSION.jsonl","entries":['"$1"']}'; }
report '{"type":"user","uuid":"u1"},{"type":"assistant","uuid":"u2"}'
found=$(cat "$CLAUDE_CONFIG_DIR"/projects/*/SESSION.jsonl 2>/dev/null | wc -l | tr -d ' ')
case " $* " in *' --resume=SESSION '*) resumed=yes ;; *) resumed=no ;; esac
say '{"type":"result","subtype":"success","is_error":false,"result":"'"resumed $resumed, $found lines in $CLAUDE_CONFIG_DIR"'","duration_ms":1,"duration_api_ms":1,"num_turns":1,"stop_reason":null,"total_cost_usd":0.0,"usage":{},"uuid":"u","session_id":"s"}'
while read -r line; do :; done
report '{"type":"cost-state"}'
"#;

fn agent(folder: &Path) -> Options {
    let path = folder.join("agent.sh");
    std::fs::write(&path, AGENT.replace("SESSION", ID)).expect("a script can be written");
    let mut options = Options::default().cli_path(path).cwd(folder);
    options.process.cli_runner = vec!["sh".into()];
    options.env("CLAUDE_CONFIG_DIR", folder.join("config").display().to_string())
}

async fn kinds(store: &dyn SessionStore) -> Vec<String> {
    let entries = store.load(&StoreKey::main("-work", ID)).await.expect("it can be loaded");
    let entries = entries.unwrap_or_default();
    let kind = |entry: &RawJson| entry.to_value()["type"].as_str().unwrap_or("?").to_owned();
    entries.iter().map(kind).collect()
}

#[tokio::test]
async fn transcript_is_in_the_store_before_the_result_is_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::new());
    let mut options = agent(folder.path());
    options.session.session_store = Some(store.clone());
    let mut messages = query("go", options);
    let first = soon("the result", messages.next()).await.expect("there is one").unwrap();
    assert!(matches!(first, Message::Result(_)), "reports are not for the program: {first:?}");
    assert_eq!(kinds(&*store).await, ["user", "assistant"]);
    assert!(soon("the end", messages.next()).await.is_none());
    assert_eq!(kinds(&*store).await, ["user", "assistant", "cost-state"]);
}

/// A shell script that is an agent which sends more than the program reads.
const TALKER: &str = r#"
read -r hello
id=$(printf %s "$hello" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
echo '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":{"commands":[],"agents":[],"models":[],"account":{},"claude_code_version":"2.1.325"}}}'
read -r prompt
number=0
while [ $number -lt 3000 ]; do
  echo '{"type":"number","number":'$number'}'
  number=$((number + 1))
done
echo '{"type":"assistant","message":7}'
while read -r line; do :; done
"#;

#[tokio::test]
async fn messages_unread_at_close_can_be_read_with_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let options = agent(folder.path());
    std::fs::write(folder.path().join("agent.sh"), TALKER).unwrap();
    let client = Client::connect(options.session_store(MemoryStore::new())).await.unwrap();
    client.query("go").await.unwrap();
    let mut messages = client.receive_messages();
    soon("the first", messages.next()).await.unwrap().unwrap();
    soon("closing", client.disconnect()).await;
    let mut next = 1;
    let mut errors = Vec::new();
    while let Some(message) = soon("the rest", messages.next()).await {
        match message {
            Ok(Message::Unknown(said)) => {
                assert_eq!(said.to_value()["number"], next);
                next += 1;
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => errors.push(error.code()),
        }
    }
    assert_eq!((next, &errors[..]), (3000, &["message"][..]));
}

#[derive(Debug)]
struct Broken;

impl SessionStore for Broken {
    fn append(&self, _: &StoreKey, _: Vec<RawJson>) -> StoreFuture<'_, ()> {
        Box::pin(async { Err(StoreError("out of paper".to_owned())) })
    }

    fn load(&self, _: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
        Box::pin(async { Err(StoreError("out of paper".to_owned())) })
    }
}

#[tokio::test]
async fn a_store_that_fails_is_reported_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut messages = query("go", agent(folder.path()).session_store(Broken));
    let first = soon("the report", messages.next()).await.expect("there is one").unwrap();
    let Message::System(SystemMessage::MirrorError(problem)) = first else { panic!("{first:?}") };
    assert_eq!((&*problem.error, &*problem.key.project_key), ("out of paper", "-work"));
    let second = soon("the result", messages.next()).await.expect("there is one").unwrap();
    assert!(matches!(second, Message::Result(_)), "{second:?}");

    // One that cannot give a session is an error before anything is started.
    let options = agent(folder.path()).session_store(Broken).resume(ID);
    let error = soon("failing", query("go", options).next()).await.unwrap().unwrap_err();
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("out of paper"));
}

/// A store whose author made a mistake.
#[derive(Debug)]
struct Mistaken;

impl SessionStore for Mistaken {
    fn append(&self, _: &StoreKey, _: Vec<RawJson>) -> StoreFuture<'_, ()> {
        panic!("no such table")
    }

    fn load(&self, _: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
        Box::pin(async { Ok(None) })
    }
}

#[tokio::test]
async fn a_store_that_panics_is_reported_for_every_batch_and_the_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut messages = query("go", agent(folder.path()).session_store(Mistaken));
    let mut told = Vec::new();
    while let Some(message) = soon("the end", messages.next()).await {
        told.push(match message.unwrap() {
            Message::System(SystemMessage::MirrorError(problem)) => problem.error,
            Message::Result(_) => "result".to_owned(),
            other => panic!("{other:?}"),
        });
    }
    let problem = "the store panicked: no such table";
    assert_eq!(told, [problem, "result", problem]);
}

#[tokio::test]
async fn a_session_is_resumed_from_a_store_in_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileStore::new(folder.path().join("store")));
    let (files, home) = files(folder.path());
    files.import_into(&*store, &ID.into(), Transcripts::All).await.unwrap();

    let resume = |mut options: Options| {
        options.session.session_store = Some(store.clone());
        options
    };
    let mut newest = agent(folder.path());
    newest.resume = bowline_host::Resume::Newest;
    for options in [resume(agent(folder.path()).resume(ID)), resume(newest)] {
        let told = result(query("go", options)).await;
        let place = told.strip_prefix("resumed yes, 4 lines in ").expect(&told);
        assert_ne!(Path::new(place), home);
        assert!(!Path::new(place).exists(), "{place} is left behind");
    }
    // What the store does not have is the agent's business.
    let unknown = "9f1e2d3c-0000-4000-8000-00000000000f";
    let told = result(query("go", resume(agent(folder.path()).resume(unknown)))).await;
    assert!(told.starts_with("resumed no, 0 lines"), "{told}");
}

#[tokio::test]
async fn an_embedded_agent_needs_no_files_beside_its_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::new());
    let agent = || {
        let mut options = Options::default().embedded(Embedded::script(folder.path()));
        options.session.session_store = Some(store.clone());
        options
    };
    let mut messages = query("SAY one", agent());
    let mut id = None;
    while let Some(message) = soon("the first run", messages.next()).await {
        if let Message::Result(result) = message.unwrap() {
            id = Some(result.session_id.clone());
        }
    }
    let id = id.expect("there is a result");
    let sessions = Sessions::in_store(store.clone()).for_directory(folder.path());
    assert_eq!(sessions.messages(&id, Page::default()).await.unwrap().len(), 2);
    assert_eq!(result(query("SAY two", agent().resume(id.as_str()))).await, "two");
    assert_eq!(sessions.messages(&id, Page::default()).await.unwrap().len(), 4);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A configuration folder with one session of two turns that belongs to `folder`.
fn files(folder: &Path) -> (Sessions, PathBuf) {
    let home = folder.join("home");
    let directory = std::fs::canonicalize(folder).expect("it is there");
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let key: String = directory.display().to_string().chars().map(letter).collect();
    let line = |kind: &str, uuid: &str, parent: Value, text: &str| {
        json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false,
            "timestamp": "2026-01-01T00:00:00.000Z", "sessionId": ID, "cwd": directory,
            "message": {"role": kind, "content": text},
        })
    };
    let lines = [
        line("user", "u1", Value::Null, "Which knot holds best?"),
        line("assistant", "u2", json!("u1"), "The bowline."),
        line("user", "u3", json!("u2"), "Why?"),
        line("assistant", "u4", json!("u3"), "It does not slip."),
    ];
    let project = home.join("projects").join(key);
    std::fs::create_dir_all(&project).expect("it can be made");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(project.join(format!("{ID}.jsonl")), text).expect("it can be written");
    (Sessions::in_folder(&home).for_directory(folder), home)
}

#[tokio::test]
async fn sessions_in_files_and_in_stores_are_the_same_to_work_with() {
    let folder = tempfile::tempdir().unwrap();
    let (files, _) = files(folder.path());
    let memory: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let in_files: Arc<dyn SessionStore> = Arc::new(FileStore::new(folder.path().join("store")));
    for store in [&memory, &in_files] {
        files.import_into(&**store, &ID.into(), Transcripts::All).await.unwrap();
    }
    let stored = |store: &Arc<dyn SessionStore>| {
        Sessions::in_store(store.clone()).for_directory(folder.path())
    };
    for sessions in [files.clone(), stored(&memory), stored(&in_files)] {
        work_with(&sessions).await.unwrap();
    }
}

async fn work_with(sessions: &Sessions) -> Result<(), SessionsError> {
    let id = SessionId::from(ID);
    let all = ListOptions::default();
    let titles = async || -> Result<Vec<String>, SessionsError> {
        let mut listed = sessions.list(&all).await?;
        listed.sort_by(|a, b| a.summary.cmp(&b.summary));
        Ok(listed.into_iter().map(|session| session.summary).collect())
    };
    assert_eq!(titles().await?, ["Which knot holds best?"], "{sessions:?}");

    let said = sessions.messages(&id, Page::default()).await?;
    let texts: Vec<_> = said.iter().map(|it| it.message.to_value()["content"].clone()).collect();
    assert_eq!(texts, ["Which knot holds best?", "The bowline.", "Why?", "It does not slip."]);
    let page = Page { offset: 1, limit: Some(2), ..Page::default() };
    assert_eq!(sessions.messages(&id, page).await?.len(), 2);

    sessions.rename(&id, "  Knots ").await?;
    sessions.tag(&id, Some("rope")).await?;
    let info = sessions.info(&id).await?.expect("it is there");
    assert_eq!((&*info.summary, info.tag.as_deref()), ("Knots", Some("rope")), "{sessions:?}");
    sessions.tag(&id, None).await?;
    assert_eq!(sessions.info(&id).await?.and_then(|info| info.tag), None);

    let hits = sessions.search("does NOT slip", &all).await?;
    assert_eq!(hits.len(), 1, "{sessions:?}");
    assert!(hits[0].excerpt.contains("does not slip"), "{hits:?}");

    let beginning = ForkOptions { up_to: Some("u2".into()), title: None };
    let fork = sessions.fork(&id, &beginning).await?;
    assert_eq!(sessions.messages(&fork, Page::default()).await?.len(), 2);
    assert_eq!(titles().await?, ["Knots", "Knots (fork)"], "{sessions:?}");

    sessions.delete(&fork).await?;
    assert_eq!(titles().await?, ["Knots"], "{sessions:?}");
    assert_eq!(sessions.messages(&fork, Page::default()).await?, []);
    assert!(sessions.rename(&fork, "gone").await.is_err());
    assert!(sessions.rename(&id, " ").await.is_err());
    Ok(())
}
