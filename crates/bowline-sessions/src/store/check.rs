//! Conformance check of a [`SessionStore`], for the tests of its implementor.

use bowline_protocol::{RawJson, SessionId};
use serde_json::{Value, json};

use super::{SessionStore, StoreError, StoreKey};

/// Checks a store, contract by contract, each with a new one.
///
/// What a store does not offer (a listing that returns `None`) is not checked.
///
/// ```
/// use bowline_sessions::{MemoryStore, StoreCheck};
///
/// # fn block_on(check: impl Future<Output = Result<(), bowline_sessions::BrokenContract>>) {
/// #     use std::{pin::pin, task::{Context, Waker}};
/// #     assert!(pin!(check).poll(&mut Context::from_waker(Waker::noop())).is_ready());
/// # }
/// # block_on(async {
/// StoreCheck::default().run(MemoryStore::new).await?;
/// # Ok(())
/// # });
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct StoreCheck {
    deletes: bool,
}

/// A promise that a store does not keep.
#[derive(Debug, thiserror::Error)]
#[error("{contract}: {problem}")]
pub struct BrokenContract {
    /// Which.
    pub contract: &'static str,
    /// Observed behavior.
    pub problem: String,
}

impl Default for StoreCheck {
    fn default() -> Self {
        Self { deletes: true }
    }
}

impl StoreCheck {
    /// For a store that keeps everything, even after a delete.
    pub fn without_deleting(mut self) -> Self {
        self.deletes = false;
        self
    }

    /// Checks stores as `make` makes them, all of them empty.
    pub async fn run<S: SessionStore>(
        self,
        mut make: impl FnMut() -> S,
    ) -> Result<(), BrokenContract> {
        named("entries come back in the order of appending", order(&make())).await?;
        named("nothing is known of what was never written", unknown(&make())).await?;
        named("an entry with a uuid is kept once", once(&make())).await?;
        named("transcripts, sessions and projects are apart", apart(&make())).await?;
        named("sessions are listed", listing(&make())).await?;
        named("subagents are listed with their session", subkeys(&make())).await?;
        named("summaries follow the main transcript", summaries(&make())).await?;
        if self.deletes {
            named("deleting takes what is a session's, and no more", deleting(&make())).await?;
        }
        Ok(())
    }
}

type Problem = Result<(), String>;

async fn named(
    contract: &'static str,
    check: impl Future<Output = Problem>,
) -> Result<(), BrokenContract> {
    check.await.map_err(|problem| BrokenContract { contract, problem })
}

const PROJECT: &str = "project";
const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

/// Times are milliseconds, so that none of ours is below this.
const EARLIEST: i64 = 1_000_000_000_000;

async fn order(store: &dyn SessionStore) -> Problem {
    let main = StoreKey::main(PROJECT, SESSION);
    // Not in the order of their names.
    let entries = [entry("z"), entry("a"), json!({ "type": "x" }), entry("m")];
    append(store, &main, &entries[..2]).await?;
    append(store, &main, &[]).await?;
    append(store, &main, &entries[2..]).await?;
    expect(load(store, &main).await?, Some(entries.to_vec()))
}

async fn unknown(store: &dyn SessionStore) -> Problem {
    let main = StoreKey::main(PROJECT, SESSION);
    expect(load(store, &main).await?, None)?;
    append(store, &main, &[]).await?;
    expect(load(store, &main).await?, None)?;
    append(store, &main, &[entry("a")]).await?;
    expect(load(store, &main.with_subpath("subagents/agent-a1")).await?, None)
}

async fn once(store: &dyn SessionStore) -> Problem {
    let main = StoreKey::main(PROJECT, SESSION);
    let (named, unnamed) = (entry("a"), json!({ "type": "x" }));
    append(store, &main, &[named.clone(), unnamed.clone()]).await?;
    // As after a failure that was none.
    append(store, &main, &[named.clone(), unnamed.clone()]).await?;
    expect(load(store, &main).await?, Some(vec![named, unnamed.clone(), unnamed]))
}

async fn apart(store: &dyn SessionStore) -> Problem {
    let main = StoreKey::main(PROJECT, SESSION);
    let side = main.clone().with_subpath("subagents/agent-a1");
    let elsewhere = StoreKey::main("elsewhere", SESSION);
    for (key, name) in [(&main, "main"), (&side, "side"), (&elsewhere, "elsewhere")] {
        append(store, key, &[entry(name)]).await?;
    }
    for (key, name) in [(&main, "main"), (&side, "side"), (&elsewhere, "elsewhere")] {
        expect(load(store, key).await?, Some(vec![entry(name)]))?;
    }
    Ok(())
}

async fn listing(store: &dyn SessionStore) -> Problem {
    let Some(none) = succeeded(store.list_sessions(PROJECT).await)? else { return Ok(()) };
    expect(none, vec![])?;
    fill(store).await?;
    let sessions = succeeded(store.list_sessions(PROJECT).await)?.unwrap_or_default();
    if let Some(early) = sessions.iter().find(|session| session.mtime < EARLIEST) {
        return Err(format!("{} was written at {} ms", early.session_id, early.mtime));
    }
    expect(sorted(sessions.into_iter().map(|session| session.session_id.0)), ids([SESSION, OTHER]))
}

async fn subkeys(store: &dyn SessionStore) -> Problem {
    let list = async |session: &str| {
        succeeded(store.list_subkeys(PROJECT, &SessionId::from(session)).await)
    };
    let Some(none) = list(SESSION).await? else { return Ok(()) };
    expect(none, vec![])?;
    fill(store).await?;
    expect(sorted(list(SESSION).await?.unwrap_or_default()), ids(SUBPATHS))?;
    expect(list(OTHER).await?.unwrap_or_default(), vec![])
}

async fn summaries(store: &dyn SessionStore) -> Problem {
    let Some(none) = succeeded(store.list_summaries(PROJECT).await)? else { return Ok(()) };
    expect(none, vec![])?;
    let main = StoreKey::main(PROJECT, SESSION);
    let title = |text: &str| json!({ "type": "custom-title", "customTitle": text });
    append(store, &main, &[title("first")]).await?;
    append(store, &main, &[title("last")]).await?;
    append(store, &main.with_subpath(SUBPATHS[0]), &[title("of a subagent")]).await?;
    let found = succeeded(store.list_summaries(PROJECT).await)?.unwrap_or_default();
    let [summary] = found.as_slice() else {
        return Err(format!("{} summaries of one session", found.len()));
    };
    expect(summary.session_id.0.as_str(), SESSION)?;
    expect(summary.data.custom_title.as_deref(), Some("last"))?;
    match summary.mtime >= EARLIEST {
        true => Ok(()),
        false => Err(format!("{} was written at {} ms", summary.session_id, summary.mtime)),
    }
}

async fn deleting(store: &dyn SessionStore) -> Problem {
    let main = StoreKey::main(PROJECT, SESSION);
    succeeded(store.delete(&main).await)?;
    fill(store).await?;
    let [first, second] = SUBPATHS.map(|subpath| main.clone().with_subpath(subpath));
    succeeded(store.delete(&first).await)?;
    expect(load(store, &first).await?, None)?;
    let rest = [&second, &main];
    for key in rest {
        expect(load(store, key).await?.is_some(), true)?;
    }
    succeeded(store.delete(&main).await)?;
    for key in rest {
        expect(load(store, key).await?, None)?;
    }
    for key in [StoreKey::main(PROJECT, OTHER), StoreKey::main("elsewhere", SESSION)] {
        expect(load(store, &key).await?.is_some(), true)?;
    }
    if let Some(sessions) = succeeded(store.list_sessions(PROJECT).await)? {
        expect(sorted(sessions.into_iter().map(|it| it.session_id.0)), ids([OTHER]))?;
    }
    if let Some(subkeys) = succeeded(store.list_subkeys(PROJECT, &main.session_id).await)? {
        expect(subkeys, vec![])?;
    }
    if let Some(summaries) = succeeded(store.list_summaries(PROJECT).await)? {
        expect(sorted(summaries.into_iter().map(|it| it.session_id.0)), ids([OTHER]))?;
    }
    Ok(())
}

const SUBPATHS: [&str; 2] = ["subagents/agent-a1", "subagents/deep/agent-a2"];

/// Two sessions of one project, one of them with subagents, and one of another.
async fn fill(store: &dyn SessionStore) -> Problem {
    let main = StoreKey::main(PROJECT, SESSION);
    append(store, &main, &[entry("a")]).await?;
    for subpath in SUBPATHS {
        append(store, &main.clone().with_subpath(subpath), &[entry("b")]).await?;
    }
    append(store, &StoreKey::main(PROJECT, OTHER), &[entry("c")]).await?;
    append(store, &StoreKey::main("elsewhere", SESSION), &[entry("d")]).await
}

fn entry(name: &str) -> Value {
    json!({ "type": "x", "uuid": name })
}

async fn append(store: &dyn SessionStore, key: &StoreKey, entries: &[Value]) -> Problem {
    let entries = entries.iter().cloned().map(RawJson::from).collect();
    succeeded(store.append(key, entries).await)
}

async fn load(store: &dyn SessionStore, key: &StoreKey) -> Result<Option<Vec<Value>>, String> {
    let entries = succeeded(store.load(key).await)?;
    Ok(entries.map(|entries| entries.iter().map(RawJson::to_value).collect()))
}

fn succeeded<T>(response: Result<T, StoreError>) -> Result<T, String> {
    response.map_err(|error| format!("the store failed: {error}"))
}

fn expect<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Problem {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{found:?}, where {expected:?} was expected")),
    }
}

fn ids<const N: usize>(ids: [&str; N]) -> Vec<String> {
    ids.map(str::to_owned).to_vec()
}

fn sorted(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort();
    names
}
