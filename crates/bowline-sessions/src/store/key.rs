//! Key of a transcript in a store.

use std::{
    fmt,
    path::{Component, Path},
};

use bowline_protocol::SessionId;

/// Key of one transcript in a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreKey {
    /// The project ([`ProjectKey`](crate::ProjectKey)).
    pub project_key: String,
    /// The session.
    pub session_id: SessionId,
    /// A subagent's transcript, as in `subagents/agent-a1b2`; `None` is the main one.
    pub subpath: Option<String>,
}

impl StoreKey {
    /// The main transcript of a session.
    pub fn main(project_key: impl Into<String>, session_id: impl Into<String>) -> Self {
        let session_id = SessionId(session_id.into());
        Self { project_key: project_key.into(), session_id, subpath: None }
    }

    /// Key of a transcript under the projects folder; `None` for any other file.
    pub fn of_transcript(transcript: &Path, projects: &Path) -> Option<Self> {
        let parts: Option<Vec<&str>> = transcript
            .strip_prefix(projects)
            .ok()?
            .components()
            .map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
            .collect();
        match parts?.as_slice() {
            [project, file] => Some(Self::main(*project, file.strip_suffix(".jsonl")?)),
            [project, session, folders @ .., file] if !folders.is_empty() => {
                let file = file.strip_suffix(".jsonl").unwrap_or(file);
                let subpath: Vec<&str> = folders.iter().copied().chain([file]).collect();
                Some(Self::main(*project, *session).with_subpath(subpath.join("/")))
            }
            _ => None,
        }
    }

    /// Another transcript of the session.
    pub fn with_subpath(mut self, subpath: impl Into<String>) -> Self {
        self.subpath = Some(subpath.into());
        self
    }
}

impl fmt::Display for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project_key, self.session_id)?;
        self.subpath.iter().try_for_each(|subpath| write!(f, "/{subpath}"))
    }
}
