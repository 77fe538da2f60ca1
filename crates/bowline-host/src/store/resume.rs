//! Resume of a session from a store: written into a temporary folder, shaped like the agent's
//! configuration folder, from which the agent resumes it.

use std::{fs, io::Write, path::Path, time::Duration};

use bowline_protocol::SessionId;
use bowline_sessions::{
    ConfigHome, ProjectKey, SessionStore, StoreError, StoreKey, is_session_id, materialize,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::time;

use crate::{
    error::{Cause, Error},
    options::{AgentOrigin, Options, Resume, directories::CONFIG_DIR},
};

/// Settings that must not follow into the copy: plugins belong to the original folder.
const LEFT_OUT: [&str; 2] = ["enabledPlugins", "extraKnownMarketplaces"];

/// Where agents keep what they log in with.
const CREDENTIALS: &str = ".credentials.json";

/// Whether the agent needs what it logs in with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tokens {
    Copied,
    SkippedParts,
}

/// The folder from which a session is resumed. Deleted when this is dropped.
pub(super) struct ResumedHome {
    _folder: tempfile::TempDir,
}

/// Writes the session that the options resume into a folder and points the options at it. `None` if that
/// is not needed: no store is set, no session is resumed, or the store does not have it.
pub(super) async fn from_store(options: &mut Options) -> Result<Option<ResumedHome>, Error> {
    let Some(store) = options.session.session_store.clone() else { return Ok(None) };
    if options.transport.is_already_started() && options.resume != Resume::No {
        let what = "an agent that connects by itself cannot resume a session from a store; use an \
                    agent that `on_demand` starts";
        return Err(Error::Options(what.to_owned()));
    }
    let what = |error| Error::connection("making a folder to resume from", error);
    let folder = private_folder().map_err(what)?;
    let project_key = ProjectKey::for_directory(options.directory()?).as_str().to_owned();
    let limit = options.limits.store;
    let id = match &options.resume {
        Resume::No => None,
        Resume::Session(id) if !is_session_id(id) => None,
        Resume::Session(id) => Some(SessionId::from(id.as_str())),
        Resume::Newest => {
            // In every case, the agent must not continue a session that is not the store's.
            options.resume = Resume::No;
            within(limit, newest(&*store, &project_key)).await?
        }
    };
    let found = match id {
        None => false,
        Some(id) => {
            let key = StoreKey::main(project_key, id.as_str());
            let home = ConfigHome::new(folder.path());
            let files = within(limit, materialize(&*store, &key, &home)).await?;
            if files.is_some() {
                options.resume = Resume::Session(id.0);
            }
            files.is_some()
        }
    };
    // An engine that keeps nothing would have nothing to copy into the store either.
    if !found && !keeps_nothing(options) {
        return Ok(None);
    }
    copy_settings(&options.config_folder(), folder.path(), tokens(options)).map_err(what)?;
    move_into(folder.path(), options);
    Ok(Some(ResumedHome { _folder: folder }))
}

/// A temporary folder that only this user can look into.
fn private_folder() -> std::io::Result<tempfile::TempDir> {
    bowline_private::disposable_folder("bowline-resume-")
}

/// Has the agent use another configuration folder.
fn move_into(folder: &Path, options: &mut Options) {
    let storage = options.transport.connect().and_then(|connect| connect.storage());
    if let Some(moved) = storage.map(|storage| storage.with_home(folder)) {
        options.transport = moved;
        return;
    }
    for variable in CONFIG_DIR {
        options.process.env.insert(variable.to_owned(), Some(folder.display().to_string()));
    }
}

fn tokens(options: &Options) -> Tokens {
    match options.transport.origin() {
        AgentOrigin::InProcess => Tokens::SkippedParts,
        _ => Tokens::Copied,
    }
}

fn keeps_nothing(options: &Options) -> bool {
    let storage = options.transport.connect().and_then(|connect| connect.storage());
    storage.is_some_and(|storage| storage.home().is_none())
}

/// The session written to last that is not a subagent's.
async fn newest(
    store: &dyn SessionStore,
    project_key: &str,
) -> Result<Option<SessionId>, StoreError> {
    #[derive(Deserialize)]
    struct First {
        #[serde(default, rename = "isSidechain")]
        is_sidechain: bool,
    }
    let Some(mut sessions) = store.list_sessions(project_key).await? else {
        let why = "it does not list sessions, so the newest is not known";
        return Err(StoreError(why.to_owned()));
    };
    sessions.sort_by_key(|session| std::cmp::Reverse(session.mtime));
    for session in sessions {
        let key = StoreKey::main(project_key, session.session_id.as_str());
        let entries = store.load(&key).await?.unwrap_or_default();
        let Some(first) = entries.first() else { continue };
        if !first.parse::<First>().is_ok_and(|first| first.is_sidechain) {
            return Ok(Some(session.session_id));
        }
    }
    Ok(None)
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, Error> {
    let failed = |what: String, source: Option<Cause>| Error::Connection { what, source };
    match time::timeout(limit, work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed("reading the session store".to_owned(), Some(error.into()))),
        Err(_) => Err(failed(format!("the session store did not respond within {limit:?}"), None)),
    }
}

/// Copies what the agent needs beside the session, readable by its owner only. What is not there is
/// not needed.
///
/// An agent that is logged in finds its token in its configuration folder and nowhere else, so the
/// token comes along; an agent in this process has no use for it.
fn copy_settings(from: &Path, to: &Path, tokens: Tokens) -> std::io::Result<()> {
    let names = [".claude.json", "settings.json"].into_iter();
    for name in names.chain((tokens == Tokens::Copied).then_some(CREDENTIALS)) {
        let Ok(text) = fs::read_to_string(from.join(name)) else { continue };
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else { continue };
        if name == "settings.json"
            && let Some(settings) = value.as_object_mut()
        {
            settings.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
            if let Some(Value::Object(env)) = settings.get_mut("env") {
                env.retain(|key, _| !CONFIG_DIR.contains(&key.as_str()));
            }
        }
        if name == CREDENTIALS {
            // Refreshing a token invalidates it for the original.
            without_refresh_token(&mut value);
        }
        bowline_private::create_new(&to.join(name))?.write_all(value.to_string().as_bytes())?;
    }
    Ok(())
}

fn without_refresh_token(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.remove("refreshToken");
        fields.values_mut().for_each(without_refresh_token);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    #[test]
    fn copied_tokens_are_private_and_cannot_be_refreshed() {
        let (from, to) = (tempfile::tempdir().unwrap(), private_folder().unwrap());
        let secret = json!({"oauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": 1}});
        let settings = json!({"model": "m", "enabledPlugins": {"p@m": true}, "env": {
            "CLAUDE_CONFIG_DIR": "/elsewhere", "KEPT": "1",
        }});
        for (name, value) in [(CREDENTIALS, &secret), ("settings.json", &settings)] {
            fs::write(from.path().join(name), value.to_string()).unwrap();
        }
        copy_settings(from.path(), to.path(), Tokens::Copied).unwrap();
        let read = |name: &str| -> Value {
            serde_json::from_str(&fs::read_to_string(to.path().join(name)).unwrap()).unwrap()
        };
        assert_eq!(read(CREDENTIALS), json!({"oauth": {"accessToken": "a", "expiresAt": 1}}));
        assert_eq!(read("settings.json"), json!({"model": "m", "env": {"KEPT": "1"}}));
        for entry in fs::read_dir(to.path()).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let mode = fs::metadata(to.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "the folder is ours alone");

        let without = private_folder().unwrap();
        copy_settings(from.path(), without.path(), Tokens::SkippedParts).unwrap();
        assert!(!without.path().join(CREDENTIALS).exists());
    }
}
