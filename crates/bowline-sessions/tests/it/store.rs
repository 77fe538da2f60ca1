//! Stores: the contracts of the SDKs' conformance suite, and mirroring.

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::pin,
    slice,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use bowline_protocol::{RawJson, SessionId};
use bowline_sessions::{
    ConfigHome, FileStore, MOST_PENDING_ENTRIES, MemoryStore, MirrorBatch, MirrorBuffer,
    MirrorFlush, SessionStore, SessionSummary, StoreCheck, StoreFuture, StoreKey, Transcripts,
    import, materialize,
};
use serde_json::{Value, json};

use crate::transcript::{ID, answer, user, with};

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the stores here never wait"),
    }
}

fn entries(values: &[Value]) -> Vec<RawJson> {
    values.iter().cloned().map(RawJson::from).collect()
}

fn append(store: &dyn SessionStore, key: &StoreKey, values: &[Value]) {
    now(store.append(key, entries(values))).unwrap();
}

#[test]
fn built_in_stores_pass_the_store_check() {
    now(StoreCheck::default().run(MemoryStore::new)).unwrap();
    now(StoreCheck::default().run(|| Arc::new(MemoryStore::new()))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    let file_store = || {
        count += 1;
        FileStore::new(folder.path().join(count.to_string()))
    };
    now(StoreCheck::default().run(file_store)).unwrap();
}

/// A store that breaks one promise.
#[derive(Debug, Default)]
struct Careless {
    kept: MemoryStore,
    mistake: Mistake,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Mistake {
    #[default]
    Forgets,
    Repeats,
    Confuses,
    ListsSubagents,
    KeepsSubagents,
    DeletesNothing,
}

impl SessionStore for Careless {
    fn append(&self, key: &StoreKey, mut entries: Vec<RawJson>) -> StoreFuture<'_, ()> {
        match self.mistake {
            Mistake::Forgets => entries.truncate(1),
            Mistake::Repeats => {
                for entry in &mut entries {
                    let mut value = entry.to_value();
                    // Under another name it is not known again.
                    value["uuid"] = uuid::Uuid::new_v4().to_string().into();
                    *entry = value.into();
                }
            }
            _ => {}
        }
        let mut key = key.clone();
        if self.mistake == Mistake::Confuses {
            key.subpath = None;
        }
        Box::pin(async move { self.kept.append(&key, entries).await })
    }

    fn load(&self, key: &StoreKey) -> StoreFuture<'_, Option<Vec<RawJson>>> {
        self.kept.load(key)
    }

    fn list_subkeys(&self, project: &str, id: &SessionId) -> StoreFuture<'_, Option<Vec<String>>> {
        let listed = self.kept.list_subkeys(project, id);
        let adds_main = self.mistake == Mistake::ListsSubagents;
        Box::pin(async move {
            let mut listed = listed.await?;
            if adds_main && let Some(listed) = &mut listed {
                listed.push(String::new());
            }
            Ok(listed)
        })
    }

    fn delete(&self, key: &StoreKey) -> StoreFuture<'_, ()> {
        match self.mistake {
            Mistake::DeletesNothing => Box::pin(async { Ok(()) }),
            Mistake::KeepsSubagents if key.subpath.is_some() => Box::pin(async { Ok(()) }),
            _ => self.kept.delete(key),
        }
    }
}

#[test]
fn store_check_names_the_broken_rule() {
    for (mistake, contract) in [
        (Mistake::Forgets, "entries come back in the order of appending"),
        (Mistake::Repeats, "entries come back in the order of appending"),
        (Mistake::Confuses, "transcripts, sessions and projects are apart"),
        (Mistake::ListsSubagents, "subagents are listed with their session"),
        (Mistake::KeepsSubagents, "deleting takes what is a session's, and no more"),
        (Mistake::DeletesNothing, "deleting takes what is a session's, and no more"),
    ] {
        let make = || Careless { mistake, ..Careless::default() };
        let broken = now(StoreCheck::default().run(make)).unwrap_err();
        assert_eq!(broken.contract, contract, "{broken}");
    }
    let make = || Careless { mistake: Mistake::DeletesNothing, ..Careless::default() };
    now(StoreCheck::default().without_deleting().run(make)).unwrap();
}

#[test]
fn keys_do_not_lead_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path().join("store"));
    for key in [
        StoreKey::main("..", "x"),
        StoreKey::main("p", "../x"),
        StoreKey::main("", "x"),
        StoreKey::main("p", "x").with_subpath(""),
        StoreKey::main("p", "x").with_subpath("../../../x"),
        StoreKey::main("p", "x").with_subpath("/x"),
        StoreKey::main("p", "x").with_subpath("a\0b"),
    ] {
        assert!(now(store.append(&key, entries(&[json!({})]))).is_err(), "{key}");
        assert!(now(store.load(&key)).is_err(), "{key}");
    }
    assert!(!folder.path().join("x.jsonl").exists());
}

#[test]
fn summary_equals_the_listing_entry() {
    let lines = [
        with(user("m", None, "meta"), "isMeta", true),
        user("c", None, "<command-name>/go</command-name>"),
        user("u", None, "first\nprompt"),
        answer("a", "u", "yes"),
        json!({ "type": "tag", "tag": "exp" }),
        json!({ "type": "last-prompt", "lastPrompt": "first prompt", "leafUuid": "a" }),
        json!({ "type": "custom-title", "customTitle": "Title" }),
    ];
    let store = MemoryStore::new();
    let key = StoreKey::main("p", ID);
    for line in &lines {
        append(&store, &key, slice::from_ref(line));
    }
    append(
        &store,
        &key.clone().with_subpath("subagents/agent-a"),
        &[json!({ "customTitle": "no" })],
    );
    let summaries = now(store.list_summaries("p")).unwrap().unwrap();
    let [summary] = summaries.as_slice() else { panic!("{summaries:?}") };
    let home = crate::transcript::Home::new();
    home.write(ID, &lines);
    let mut listed = bowline_sessions::info(&home.home, &ID.into(), None).unwrap();
    let told = summary.to_info(None).unwrap();
    assert_eq!(told.tag.as_deref(), Some("exp"));
    // A file's label must stand on a line that begins with its type, which these do not.
    listed.tag.clone_from(&told.tag);
    (listed.last_modified, listed.file_size) = (told.last_modified, None);
    assert_eq!(told, listed);
    // A stored session can be resumed.
    let text = serde_json::to_string(summary).unwrap();
    assert_eq!(&serde_json::from_str::<SessionSummary>(&text).unwrap(), summary);
    assert!(text.contains("\"first_prompt_locked\":true"), "as Python spells it: {text}");
}

#[test]
fn files_have_keys() {
    let projects = Path::new("/h/projects");
    let key =
        |path: &str| StoreKey::of_transcript(Path::new(path), projects).map(|key| key.to_string());
    assert_eq!(key("/h/projects/p/s.jsonl").as_deref(), Some("p/s"));
    assert_eq!(
        key("/h/projects/p/s/subagents/agent-a.jsonl").as_deref(),
        Some("p/s/subagents/agent-a")
    );
    for none in [
        "/h/other/p/s.jsonl",
        "/h/projects/p/s.txt",
        "/h/projects/p",
        "/h/projects/p/s/x.jsonl",
        "/h/projects/../p/s.jsonl",
    ] {
        assert_eq!(key(none), None, "{none}");
    }
}

#[test]
fn mirror_buffers_until_a_batch_is_full() {
    let batch = |file: &str, count: usize| MirrorBatch {
        file_path: PathBuf::from(format!("/h/projects/p/{file}.jsonl")),
        entries: entries(&vec![json!({ "type": "x" }); count]),
    };
    let mut buffer = MirrorBuffer::new("/h/projects", MirrorFlush::Batched);
    assert!(!buffer.push(batch("a", 1)));
    assert!(!buffer.push(batch("b", 1)));
    assert!(!buffer.push(batch("a", MOST_PENDING_ENTRIES - 2)));
    assert!(buffer.push(batch("b", 1)));
    assert!(buffer.push(MirrorBatch {
        file_path: "/elsewhere.jsonl".into(),
        entries: entries(&[json!({})])
    }));
    let drained = buffer.drain();
    let sizes: Vec<_> =
        drained.batches.iter().map(|b| (b.key.to_string(), b.entries.len())).collect();
    assert_eq!(sizes, [("p/a".to_owned(), MOST_PENDING_ENTRIES - 1), ("p/b".to_owned(), 2)]);
    assert_eq!(drained.strays, [PathBuf::from("/elsewhere.jsonl")]);
    assert!(!buffer.push(batch("a", 1)), "drained, it counts from zero again");
    assert!(MirrorBuffer::new("/h/projects", MirrorFlush::Eager).push(batch("a", 1)));
}

#[test]
fn session_survives_a_store_round_trip() {
    let home = crate::transcript::Home::new();
    let files = home.write(ID, &[user("u", None, "one"), answer("a", "u", "1")]);
    std::fs::create_dir_all(files.subagents()).unwrap();
    let side = files.subagent(&"a1".into());
    let aside = [with(user("s", None, "aside"), "isSidechain", true)];
    std::fs::write(&side, crate::transcript::text(&aside)).unwrap();
    std::fs::write(side.with_extension("meta.json"), "{\"toolUseId\":\"t1\"}").unwrap();
    let store = MemoryStore::new();
    now(import(&store, &files, Transcripts::All)).unwrap();
    let key = StoreKey::main(files.project_key().as_str(), ID);
    let other = ConfigHome::new(home.folder.path().join("other"));
    let back = now(materialize(&store, &key, &other)).unwrap().unwrap();
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(back.transcript()), read(files.transcript()));
    assert_eq!(read(back.subagent(&"a1".into())), read(side));
    assert_eq!(read(back.subagent_metadata(&"a1".into())), "{\"toolUseId\":\"t1\"}");
    let unknown = StoreKey::main("p", "nobody");
    assert_eq!(now(materialize(&store, &unknown, &other)).unwrap(), None);
}
