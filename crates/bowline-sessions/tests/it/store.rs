//! Stores: the contracts of the SDKs' conformance suite, and mirroring.

use std::{
    future::Future,
    path::{Path, PathBuf},
    pin::pin,
    slice,
    task::{Context, Poll, Waker},
};

use bowline_protocol::{RawJson, SessionId};
use bowline_sessions::{
    ConfigHome, FileStore, MOST_PENDING_ENTRIES, MemoryStore, MirrorBatch, MirrorBuffer,
    MirrorFlush, SessionStore, SessionSummary, StoreKey, Transcripts, import, key_of, materialize,
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

fn with_each_store(check: impl Fn(&dyn SessionStore)) {
    check(&MemoryStore::new());
    let folder = tempfile::tempdir().unwrap();
    check(&FileStore::new(folder.path()));
}

fn load(store: &dyn SessionStore, key: &StoreKey) -> Option<Vec<Value>> {
    let entries = now(store.load(key)).unwrap();
    entries.map(|entries| entries.iter().map(RawJson::to_value).collect())
}

fn append(store: &dyn SessionStore, key: &StoreKey, values: &[Value]) {
    now(store.append(key, entries(values))).unwrap();
}

#[test]
fn what_is_appended_is_loaded_in_order_and_apart() {
    with_each_store(|store| {
        let main = StoreKey::main("p", ID);
        let side = main.clone().with_subpath("subagents/agent-a1");
        let elsewhere = StoreKey::main("q", ID);
        assert_eq!(load(store, &main), None);
        append(store, &main, &[]);
        assert_eq!(load(store, &main), None);
        let (z, a, b) = (
            json!({ "type": "x", "uuid": "z" }),
            json!({ "type": "x", "uuid": "a" }),
            json!({ "type": "y" }),
        );
        append(store, &main, &[z.clone(), a.clone()]);
        append(store, &main, slice::from_ref(&b));
        append(store, &side, slice::from_ref(&b));
        append(store, &elsewhere, slice::from_ref(&a));
        assert_eq!(load(store, &main), Some(vec![z.clone(), a.clone(), b.clone()]));
        assert_eq!(load(store, &side), Some(vec![b.clone()]));
        assert_eq!(load(store, &elsewhere), Some(vec![a.clone()]));
        assert_eq!(load(store, &main.clone().with_subpath("subagents/agent-a2")), None);
        // Tried again after a failure that was none.
        append(store, &main, &[a.clone(), b.clone()]);
        assert_eq!(load(store, &main), Some(vec![z, a, b.clone(), b]));
    });
}

#[test]
fn sessions_are_listed_and_deleted_with_what_is_theirs() {
    with_each_store(|store| {
        let main = StoreKey::main("p", ID);
        let [one, two] = ["subagents/agent-a1", "subagents/deep/agent-a2"]
            .map(|subpath| main.clone().with_subpath(subpath));
        let other = StoreKey::main("p", "other");
        for key in [&main, &one, &two, &other] {
            append(store, key, &[json!({ "type": "x" })]);
        }
        let listed = || {
            let mut sessions = now(store.list_sessions("p")).unwrap().unwrap();
            assert!(sessions.iter().all(|session| session.mtime > 1_000_000_000_000));
            sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
            sessions.into_iter().map(|session| session.session_id.0).collect::<Vec<_>>()
        };
        let subkeys =
            |id: &str| now(store.list_subkeys("p", &SessionId::from(id))).unwrap().unwrap();
        assert_eq!(listed(), [ID, "other"]);
        assert_eq!(now(store.list_sessions("unknown")).unwrap().unwrap(), []);
        assert_eq!(subkeys(ID), ["subagents/agent-a1", "subagents/deep/agent-a2"]);
        assert_eq!(subkeys("other"), [""; 0]);
        now(store.delete(&one)).unwrap();
        assert_eq!(subkeys(ID), ["subagents/deep/agent-a2"]);
        now(store.delete(&main)).unwrap();
        now(store.delete(&main)).unwrap();
        assert_eq!((listed(), subkeys(ID)), (vec!["other".to_owned()], vec![]));
        assert_eq!((load(store, &main), load(store, &two)), (None, None));
    });
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
fn a_summary_says_what_a_listing_says() {
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
    // What is stored can be taken up again.
    let text = serde_json::to_string(summary).unwrap();
    assert_eq!(&serde_json::from_str::<SessionSummary>(&text).unwrap(), summary);
    assert!(text.contains("\"first_prompt_locked\":true"), "as Python spells it: {text}");
}

#[test]
fn files_have_keys() {
    let projects = Path::new("/h/projects");
    let key = |path: &str| key_of(Path::new(path), projects).map(|key| key.to_string());
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
fn a_mirror_gathers_until_there_is_much() {
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
    assert!(!buffer.push(batch("a", 1)), "drained, it begins anew");
    assert!(MirrorBuffer::new("/h/projects", MirrorFlush::Eager).push(batch("a", 1)));
}

#[test]
fn a_session_goes_into_a_store_and_comes_back() {
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
