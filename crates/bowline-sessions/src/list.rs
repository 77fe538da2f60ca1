//! Listing sessions: those of a directory and its worktrees, or all.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use bowline_protocol::SessionId;

use crate::{
    archive_mark::is_archived,
    info::{Ends, SessionInfo},
    project::{ConfigHome, ProjectKey, SessionFiles, canonical, is_session_id, name_of},
};

/// Options of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Those of this directory; `None` is all.
    pub directory: Option<PathBuf>,
    /// Only this directory's own, not those of the repository's other worktrees.
    pub without_worktrees: bool,
    /// Only those that a person started.
    pub without_programmatic: bool,
    /// Offset.
    pub offset: usize,
    /// Limit; `None` and 0 mean all.
    pub limit: Option<usize>,
}

impl ListOptions {
    /// The sessions of a directory and its worktrees.
    pub fn of(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..Self::default() }
    }
}

/// The sessions, those written to last first. What cannot be read is left out.
pub fn list(home: &ConfigHome, options: &ListOptions) -> Vec<SessionInfo> {
    list_files(home, options).into_iter().map(|(info, _)| info).collect()
}

/// The same, with their transcripts.
pub(crate) fn list_files(home: &ConfigHome, options: &ListOptions) -> Vec<(SessionInfo, PathBuf)> {
    let folders = match &options.directory {
        Some(directory) if options.without_worktrees => own_folder(home, &canonical(directory)),
        Some(directory) => folders_of(home, directory),
        None => home.existing_projects().into_iter().map(Folder::unknown).collect(),
    };
    let mut newest: HashMap<SessionId, (SessionInfo, PathBuf)> = HashMap::new();
    for (info, path) in read_all(&transcripts(&folders)) {
        match newest.get(&info.session_id) {
            Some((other, _)) if other.last_modified >= info.last_modified => {}
            _ => {
                newest.insert(info.session_id.clone(), (info, path));
            }
        }
    }
    let mut sessions: Vec<(SessionInfo, PathBuf)> = newest.into_values().collect();
    if options.without_programmatic {
        sessions.retain(|(session, _)| !session.is_programmatic());
    }
    // The id only makes the order the same each time.
    sessions.sort_by(|(a, _), (b, _)| {
        b.last_modified.cmp(&a.last_modified).then_with(|| a.session_id.cmp(&b.session_id))
    });
    let limit = options.limit.filter(|&limit| limit > 0).unwrap_or(usize::MAX);
    sessions.into_iter().skip(options.offset).take(limit).collect()
}

/// One session, looked for in a directory and its worktrees or everywhere.
pub fn info(home: &ConfigHome, id: &SessionId, directory: Option<&Path>) -> Option<SessionInfo> {
    let files = locate(home, id, directory)?;
    let ends = Ends::read(&files.transcript()).ok()??;
    let project = directory.map(|directory| canonical(directory).display().to_string());
    let mut info = SessionInfo::from_ends(id.as_str(), &ends, project.as_deref())?;
    info.archived = is_archived(&files.archive_mark(), &ends);
    Some(info)
}

/// The files of a session, looked for in a directory and its worktrees or everywhere.
///
/// An empty transcript does not count: another folder may have the real one.
pub(crate) fn locate(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
) -> Option<SessionFiles> {
    if !is_session_id(id.as_str()) {
        return None;
    }
    let folders = match directory {
        // Asking git costs more than looking here first.
        Some(directory) => {
            let own = own_folder(home, &canonical(directory));
            if let Some(files) = first_with(&own, id) {
                return Some(files);
            }
            folders_of(home, directory)
        }
        None => home.existing_projects().into_iter().map(Folder::unknown).collect(),
    };
    first_with(&folders, id)
}

fn first_with(folders: &[Folder], id: &SessionId) -> Option<SessionFiles> {
    let files = folders.iter().map(|folder| SessionFiles::in_folder(&folder.path, id.clone()));
    let mut files = files
        .filter(|files| fs::metadata(files.transcript()).is_ok_and(|metadata| metadata.len() > 0));
    files.next()
}

/// A project's folder, and the directory it belongs to if that is known.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    directory: Option<String>,
}

impl Folder {
    pub(crate) fn unknown(path: PathBuf) -> Self {
        Self { path, directory: None }
    }
}

fn own_folder(home: &ConfigHome, directory: &Path) -> Vec<Folder> {
    let path = home.existing_project(&ProjectKey::from_path(directory));
    let directory = Some(directory.display().to_string());
    path.map(|path| Folder { path, directory }).into_iter().collect()
}

/// The folders of a directory and of the other worktrees of its repository, its own first.
pub(crate) fn folders_of(home: &ConfigHome, directory: &Path) -> Vec<Folder> {
    let directory = canonical(directory);
    let mut folders = own_folder(home, &directory);
    let worktrees = worktrees(&directory);
    if worktrees.len() < 2 {
        return folders;
    }
    let mut keys: Vec<(ProjectKey, PathBuf)> =
        worktrees.into_iter().map(|path| (ProjectKey::from_path(&path), path)).collect();
    // A folder belongs to the worktree whose name fits best.
    keys.sort_by_key(|(key, _)| std::cmp::Reverse(key.as_str().len()));
    for path in home.existing_projects() {
        if folders.iter().any(|folder| folder.path == path) {
            continue;
        }
        let fitting = keys.iter().find(|(key, _)| key.names(name_of(&path)));
        if let Some((_, worktree)) = fitting {
            folders.push(Folder { directory: Some(worktree.display().to_string()), path });
        }
    }
    folders
}

/// Timeout for git to list the worktrees.
const GIT_TIME: Duration = Duration::from_secs(5);

/// The worktrees of the repository that a directory is in; none if git fails.
fn worktrees(directory: &Path) -> Vec<PathBuf> {
    let Ok(Some(listing)) = ask_git(directory) else { return Vec::new() };
    let paths = listing.lines().filter_map(|line| line.strip_prefix("worktree "));
    paths.map(PathBuf::from).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "sessions know no runtime, and bowline-process has one"
)]
fn ask_git(directory: &Path) -> io::Result<Option<String>> {
    let mut git = Command::new("git")
        .args(["worktree", "list", "--porcelain"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let output = git.stdout.take();
    let (done, wait) = mpsc::channel();
    let reader = thread::spawn(move || {
        let text = output.map(io::read_to_string).transpose();
        // The receiver is gone if git took too long.
        let _ = done.send(text);
    });
    let response = wait.recv_timeout(GIT_TIME);
    if response.is_err() {
        git.kill()?;
    }
    let status = git.wait()?;
    // Killed or done, git has closed its end, so the reader ends too.
    let _ = reader.join();
    match response {
        Ok(text) if status.success() => text,
        _ => Ok(None),
    }
}

/// A transcript of a listing.
#[derive(Debug)]
struct Transcript<'a> {
    path: PathBuf,
    id: String,
    folder: &'a Folder,
}

fn transcripts(folders: &[Folder]) -> Vec<Transcript<'_>> {
    let mut found = Vec::new();
    for folder in folders {
        let Ok(entries) = fs::read_dir(&folder.path) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            if let Some(id) = id.filter(|id| is_session_id(id)) {
                found.push(Transcript { path: entry.path(), id: id.to_owned(), folder });
            }
        }
    }
    found
}

/// Below this, starting threads takes longer than reading.
const WORTH_THREADS: usize = 64;

/// More threads than this wait for the same disk.
const MOST_THREADS: usize = 8;

fn read_all(transcripts: &[Transcript<'_>]) -> Vec<(SessionInfo, PathBuf)> {
    let threads = match transcripts.len() {
        0..WORTH_THREADS => 1,
        _ => thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS),
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut infos = Vec::new();
        while let Some(transcript) = transcripts.get(next.fetch_add(1, Ordering::Relaxed)) {
            infos.extend(read_one(transcript).map(|info| (info, transcript.path.clone())));
        }
        infos
    };
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut infos = work();
        for helper in helpers {
            infos.extend(helper.join().unwrap_or_default());
        }
        infos
    })
}

fn read_one(transcript: &Transcript<'_>) -> Option<SessionInfo> {
    let Transcript { path, id, folder } = transcript;
    let ends = Ends::read(path).ok()??;
    let mut info = SessionInfo::from_ends(id, &ends, folder.directory.as_deref())?;
    let files = SessionFiles::in_folder(&folder.path, info.session_id.clone());
    info.archived = is_archived(&files.archive_mark(), &ends);
    Some(info)
}
