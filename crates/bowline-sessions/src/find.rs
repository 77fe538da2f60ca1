//! Lookup of a session by id, by title, by a prefix of either, or by file.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use bowline_protocol::SessionId;

use crate::{
    SessionError, clock,
    info::{Ends, SessionInfo},
    list::{ListOptions, list, list_files, locate},
    project::{ConfigHome, ProjectKey, SessionFiles, canonical, is_session_id},
};

/// A session that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One of ours.
    Session(SessionFiles),
    /// A transcript that is not among ours; it can be read and branched off.
    File(PathBuf),
}

/// Number of sessions in an error.
const MOST_CANDIDATES: usize = 10;

/// A shorter beginning of an id fits too much to be meant.
const SHORTEST_PREFIX: usize = 4;

/// Finds a session by its id, its title, the beginning of either, or the path of a `.jsonl` file.
///
/// The sessions of `directory` and its worktrees come first, then all others.
pub fn find(home: &ConfigHome, target: &str, directory: &Path) -> Result<Target, SessionError> {
    let target = target.trim();
    if target.ends_with(".jsonl") {
        return find_file(home, target, directory);
    }
    if is_session_id(target) {
        let id = SessionId(target.to_ascii_lowercase());
        let found = locate(home, &id, Some(directory)).or_else(|| locate(home, &id, None));
        return found.map(Target::Session).ok_or_else(|| not_found(home, target, directory));
    }
    for options in [ListOptions::of(directory), ListOptions::default()] {
        let sessions = list_files(home, &options);
        match fitting(&sessions, target).as_slice() {
            [] => {}
            [(_, transcript)] => {
                let files = SessionFiles::of_transcript(transcript).map(Target::Session);
                return Ok(files.unwrap_or_else(|| Target::File(transcript.clone())));
            }
            several => {
                let fitting = describe(several.iter().map(|(session, _)| session));
                return Err(SessionError::Ambiguous { target: target.to_owned(), fitting });
            }
        }
    }
    Err(not_found(home, target, directory))
}

/// The session of a directory that was written to last; `None` if it has none.
pub fn newest(home: &ConfigHome, directory: &Path) -> Option<SessionFiles> {
    let folder = home.existing_project(&ProjectKey::from_path(&canonical(directory)))?;
    let mut transcripts: Vec<(SystemTime, SessionFiles)> = Vec::new();
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let files = SessionFiles::of_transcript(&entry.path());
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if let (Some(files), Ok(modified)) = (files, modified) {
            transcripts.push((modified, files));
        }
    }
    transcripts.sort_by(|(a, _), (b, _)| b.cmp(a));
    let mut sessions = transcripts.into_iter().map(|(_, files)| files);
    sessions.find(|files| {
        let ends = Ends::read(&files.transcript()).ok().flatten();
        ends.is_some_and(|ends| SessionInfo::from_ends(files.id().as_str(), &ends, None).is_some())
    })
}

fn find_file(home: &ConfigHome, target: &str, directory: &Path) -> Result<Target, SessionError> {
    let path = canonical(&directory.join(target));
    // Any file can have the name; one without a single object in it is no transcript.
    let head = Ends::read(&path).ok().flatten().map(|ends| ends.head).unwrap_or_default();
    if !head.lines().any(|line| line.starts_with('{')) {
        return Err(not_found(home, target, directory));
    }
    let is_ours = path.parent().and_then(Path::parent) == Some(&*canonical(&home.projects()));
    match SessionFiles::of_transcript(&path) {
        Some(files) if is_ours => Ok(Target::Session(files)),
        _ => Ok(Target::File(path)),
    }
}

/// A session and its transcript.
type Listed = (SessionInfo, PathBuf);

/// The sessions that fit, by the best rule that any of them fits.
fn fitting<'a>(sessions: &'a [Listed], target: &str) -> Vec<&'a Listed> {
    let wanted = target.to_lowercase();
    let title = |session: &SessionInfo| session.custom_title.as_deref().map(str::to_lowercase);
    let rules: [&dyn Fn(&SessionInfo) -> bool; 3] = [
        &|session| title(session).is_some_and(|title| title == wanted),
        &|session| {
            wanted.len() >= SHORTEST_PREFIX && session.session_id.as_str().starts_with(&wanted)
        },
        &|session| title(session).is_some_and(|title| title.starts_with(&wanted)),
    ];
    if wanted.is_empty() {
        return Vec::new();
    }
    let fitting = |rule: &&dyn Fn(&SessionInfo) -> bool| {
        sessions.iter().filter(|(session, _)| rule(session)).collect::<Vec<_>>()
    };
    rules.iter().map(fitting).find(|found| !found.is_empty()).unwrap_or_default()
}

/// There is no such session, but there are others.
pub(crate) fn not_found(home: &ConfigHome, target: &str, directory: &Path) -> SessionError {
    let options = ListOptions { limit: Some(MOST_CANDIDATES), ..ListOptions::of(directory) };
    let nearest = describe(&list(home, &options));
    SessionError::NotFound { target: target.to_owned(), nearest }
}

fn describe<'a>(sessions: impl IntoIterator<Item = &'a SessionInfo>) -> Vec<String> {
    const WIDTH: usize = 60;
    let sessions = sessions.into_iter().take(MOST_CANDIDATES);
    sessions
        .map(|session| {
            let summary: String = session.summary.chars().take(WIDTH).collect();
            let when = clock::from_millis(session.last_modified);
            format!("{}  {when}  {summary}", session.session_id)
        })
        .collect()
}
