//! Layout of the files: the config home, a project's folder in it, a session's files in that.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use bowline_protocol::{AgentId, SessionId};
use icu_normalizer::ComposingNormalizerBorrowed;

use crate::error::SessionError;

/// The folder that holds all sessions of a user (`~/.bowline`, `~/.claude` or one named by the environment).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigHome(PathBuf);

impl ConfigHome {
    /// Uses `path`, in Unicode's composed form (NFC), as all its readers do.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self(composed(path.as_ref()))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of all projects.
    pub fn projects(&self) -> PathBuf {
        self.0.join("projects")
    }

    /// Closes the folder to other users, and that of all projects, as far as they exist.
    ///
    /// A program with an open umask may have made them.
    pub fn close_to_others(&self) -> Result<(), SessionError> {
        for folder in [self.0.clone(), self.projects()] {
            // Anything but a folder cannot be written to; the writer of a transcript reports that.
            if folder.is_dir() {
                bowline_private::folder(&folder).map_err(SessionError::io(&folder))?;
            }
        }
        Ok(())
    }

    /// The folder of one project, whether it exists or not.
    pub fn project(&self, key: &ProjectKey) -> PathBuf {
        self.projects().join(key.as_str())
    }

    /// The folder of one project if it exists.
    ///
    /// Older writers hashed long names otherwise, so for those any folder with the same prefix is accepted.
    pub fn existing_project(&self, key: &ProjectKey) -> Option<PathBuf> {
        let exact = self.project(key);
        if exact.is_dir() {
            return Some(exact);
        }
        let beginning = key.long_beginning()?;
        let mut folders = folders_in(&self.projects());
        folders.sort();
        folders.into_iter().find(|folder| name_of(folder).starts_with(beginning))
    }

    /// Every project's folder.
    pub fn existing_projects(&self) -> Vec<PathBuf> {
        folders_in(&self.projects())
    }

    /// The files of the session `id` in the project `key`.
    pub fn session(&self, key: &ProjectKey, id: &SessionId) -> SessionFiles {
        SessionFiles::in_folder(self.project(key), id.clone())
    }

    /// Folder for copies of files before they are edited.
    pub fn file_history(&self, id: &SessionId) -> PathBuf {
        self.0.join("file-history").join(id.as_str())
    }

    /// Folder for environment files of commands.
    pub fn session_env(&self, id: &SessionId) -> PathBuf {
        self.0.join("session-env").join(id.as_str())
    }
}

/// The name of a project's folder, made from the path of its working directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectKey(String);

/// Longer names are cut here and get a hash, because file systems allow 255 bytes.
const LONGEST_NAME: usize = 200;

impl ProjectKey {
    /// The key of a working directory: its real path, composed, with everything but ASCII letters and
    /// digits replaced.
    pub fn for_directory(directory: impl AsRef<Path>) -> Self {
        Self::from_path(&canonical(directory.as_ref()))
    }

    /// The key of a path that is taken as it is.
    ///
    /// Counted in UTF-16 units, because the program that named the existing folders did so.
    pub fn from_path(path: &Path) -> Self {
        let path = path.to_string_lossy();
        let mut name: String = path
            .encode_utf16()
            .map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
                _ => '-',
            })
            .collect();
        if name.len() > LONGEST_NAME {
            name.truncate(LONGEST_NAME);
            name.push('-');
            name.push_str(&hash_in_base_36(&path));
        }
        Self(name)
    }

    /// The name of an existing folder.
    pub fn from_name(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The folder's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `folder` is this project's, allowing for another hash at the end of a long name.
    pub(crate) fn names(&self, folder: &str) -> bool {
        folder == self.0 || self.long_beginning().is_some_and(|start| folder.starts_with(start))
    }

    /// A cut name up to and with the `-` before its hash.
    fn long_beginning(&self) -> Option<&str> {
        self.0.get(..=LONGEST_NAME)
    }
}

/// The files of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFiles {
    folder: PathBuf,
    id: SessionId,
}

impl SessionFiles {
    /// The session `id` in a project's folder.
    pub fn in_folder(folder: impl Into<PathBuf>, id: SessionId) -> Self {
        Self { folder: folder.into(), id }
    }

    /// The session whose main transcript is `path`, if it is named like one.
    pub fn of_transcript(path: &Path) -> Option<Self> {
        let id = path.file_stem().and_then(OsStr::to_str)?;
        let right_extension = path.extension() == Some(OsStr::new("jsonl"));
        (right_extension && is_session_id(id))
            .then(|| Self::in_folder(path.parent().unwrap_or(Path::new("")), SessionId::from(id)))
    }

    /// The session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The project's folder.
    pub fn project_folder(&self) -> &Path {
        &self.folder
    }

    /// The key of the project.
    pub fn project_key(&self) -> ProjectKey {
        ProjectKey::from_name(name_of(&self.folder))
    }

    /// The main transcript.
    pub fn transcript(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.id))
    }

    /// The folder beside it for everything that is no main transcript.
    pub fn side_folder(&self) -> PathBuf {
        self.folder.join(self.id.as_str())
    }

    /// The mark of a session that is put aside.
    pub(crate) fn archive_mark(&self) -> PathBuf {
        self.side_folder().join("archived.json")
    }

    /// The folder of its subagents' transcripts.
    pub fn subagents(&self) -> PathBuf {
        self.side_folder().join("subagents")
    }

    /// A subagent's transcript.
    pub fn subagent(&self, agent: &AgentId) -> PathBuf {
        self.subagents().join(format!("agent-{agent}.jsonl"))
    }

    /// Metadata of a subagent.
    pub fn subagent_metadata(&self, agent: &AgentId) -> PathBuf {
        self.subagents().join(format!("agent-{agent}.meta.json"))
    }

    /// The folder for tool outputs that are too large for the conversation.
    pub fn tool_results(&self) -> PathBuf {
        self.side_folder().join("tool-results")
    }

    /// Names the process that writes the session.
    pub fn lock(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.id))
    }
}

/// Folder for the output of a session's background tasks, in the user's temporary folder
/// (`bowline_private::temporary_folder`), so that no other user can read or replace it.
pub fn tasks_folder(temporary: &Path, key: &ProjectKey, session: &SessionId) -> PathBuf {
    temporary.join(key.as_str()).join(session.as_str()).join("tasks")
}

/// Whether `text` is a session's name: a UUID with dashes, in either case.
pub fn is_session_id(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The real path of a folder, composed; the path as it is when it does not exist.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    let real = fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_: io::Error| path.to_owned());
    composed(&real)
}

fn composed(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned().into(),
        // A path that is not Unicode has no composed form.
        None => path.to_owned(),
    }
}

pub(crate) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

fn folders_in(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

fn hash_in_base_36(text: &str) -> String {
    let hash = text
        .encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let mut rest = hash.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(rest % 36, 36).expect("a remainder by 36 is a digit"));
        rest /= 36;
        if rest == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
