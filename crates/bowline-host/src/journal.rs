//! Journal of running sessions on disk, so that they are found again after this program has died.
//!
//! A session has its own file: a line that describes it, followed by the word `begun` once its agent
//! has responded. The program that runs it holds a lock on the file, which the system releases when the
//! program dies, however it dies.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use bowline_protocol::{SessionId, UserMessage};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::prompt::Prompt;

const BEGUN: &str = "begun\n";

/// A file that has had no name for so long will never get one: its program died while it wrote it.
const NAMELESS: Duration = Duration::from_secs(60);

/// The folder of the journal.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
}

/// A session of this program in the journal. Dropping it leaves it there.
#[derive(Debug)]
pub(crate) struct JournalEntry {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
}

/// A session whose program has died.
#[derive(Debug)]
pub(crate) struct OrphanedSession {
    pub(crate) session_id: SessionId,
    pub(crate) prompt: Prompt,
    /// Working directory, if it differs from its agent's.
    pub(crate) folder: Option<PathBuf>,
    /// Whether its agent has responded.
    pub(crate) begun: bool,
    pub(crate) entry: JournalEntry,
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Record {
    session_id: SessionId,
    prompt: UserMessage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
}

impl Journal {
    /// Opens the journal in this folder. A folder that is created here is private, and so are
    /// its files in any folder: prompts may contain secrets.
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        bowline_private::folder_as_it_is(&folder)?;
        Ok(Self { folder })
    }

    /// Notes that a session runs. What was left of an earlier one of the same id is forgotten; an id
    /// that is running is an error.
    pub(crate) fn write(
        &self,
        id: &SessionId,
        prompt: &Prompt,
        folder: Option<&Path>,
    ) -> io::Result<JournalEntry> {
        let path = self.folder.join(format!("{id}.json"));
        let (session_id, prompt) = (id.clone(), (*prompt.0).clone());
        let record = Record { session_id, prompt, cwd: folder.map(Path::to_owned) };
        let mut line = serde_json::to_string(&record)?;
        line.push('\n');
        if is_held(&path)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // It is renamed when it is complete and locked, so that no other program takes it for an orphan.
        let nameless = self.folder.join(format!("{}.new", Uuid::new_v4()));
        let written = Self::fill(&nameless, &line).and_then(|file| {
            fs::rename(&nameless, &path)?;
            Ok(file)
        });
        if written.is_err() {
            fs::remove_file(&nameless).ok();
        }
        written.map(|file| JournalEntry { path, file })
    }

    /// A new file with this line in it, locked.
    fn fill(path: &Path, line: &str) -> io::Result<File> {
        let mut file =
            bowline_private::open(path, OpenOptions::new().append(true).create_new(true))?;
        file.lock()?;
        file.write_all(line.as_bytes())?;
        Ok(file)
    }

    /// The orphaned sessions, locked for this program.
    pub(crate) fn orphans(&self) -> io::Result<Vec<OrphanedSession>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let orphan = match path.extension().and_then(OsStr::to_str) {
                Some("json") => orphan(&path),
                Some("new") => clear_away(&path).map(|()| None),
                _ => Ok(None),
            };
            match orphan {
                Ok(orphan) => found.extend(orphan),
                // It has ended since the folder was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "skipped in the journal");
                }
            }
        }
        // Those of one program in the order in which it would list them, always the same.
        found.sort_by(|one, other| one.session_id.cmp(&other.session_id));
        Ok(found)
    }
}

/// Whether the session of this file is running.
fn is_held(path: &Path) -> io::Result<bool> {
    match File::open(path) {
        Ok(file) => Ok(!locked(&file)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tries to lock a file. Returns whether it is ours.
fn locked(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Removes a temporary file whose writer has died.
fn clear_away(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
    if age > NAMELESS && locked(&file)? {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// The session of this file, unless it is running.
fn orphan(path: &Path) -> io::Result<Option<OrphanedSession>> {
    // Another user could have put it there, for us to run.
    let mut file = bowline_private::open(path, OpenOptions::new().read(true).append(true))?;
    if !locked(&file)? {
        return Ok(None);
    }
    if !path.exists() {
        // It has ended before it was locked.
        return Ok(None);
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let Some((line, rest)) = text.split_once('\n') else {
        // The system died before all of it was on disk.
        fs::remove_file(path)?;
        return Ok(None);
    };
    let Record { session_id, prompt, cwd: folder } = serde_json::from_str(line)?;
    let (prompt, begun) = (Prompt::from(prompt), rest.starts_with(BEGUN));
    let entry = JournalEntry { path: path.to_owned(), file };
    Ok(Some(OrphanedSession { session_id, prompt, folder, begun, entry }))
}

impl JournalEntry {
    /// Records that the agent has responded, so that there is a transcript to resume.
    pub(crate) fn begun(&mut self) {
        if let Err(error) = self.file.write_all(BEGUN.as_bytes()) {
            tracing::warn!(%error, path = %self.path.display(), "the journal cannot be written");
        }
    }

    /// Notes that the session is over.
    pub(crate) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "the journal cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_session_is_locked_and_orphan_is_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path().join("journal")).unwrap();
        let mut one = journal.write(&"1".into(), &"first".into(), None).unwrap();
        let two = journal.write(&"2".into(), &"second".into(), None).unwrap();
        one.begun();
        assert!(journal.orphans().unwrap().is_empty(), "both run");
        // The system takes the locks away when a program dies.
        drop((one, two));
        let found = journal.orphans().unwrap();
        let orphans: Vec<_> =
            found.iter().map(|it| (it.session_id.as_str(), it.prompt.clone(), it.begun)).collect();
        assert_eq!(orphans, [("1", "first".into(), true), ("2", "second".into(), false)]);
        assert!(journal.orphans().unwrap().is_empty(), "they are ours now");
        for it in found {
            it.entry.remove();
        }
        assert!(journal.orphans().unwrap().is_empty());
    }

    #[test]
    fn journal_is_readable_by_its_owner_only() {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("journal");
        let journal = Journal::open(path.clone()).unwrap();
        let entry = journal.write(&"1".into(), &"a secret".into(), None).unwrap();
        assert_eq!((mode(&path), mode(&entry.path)), (0o700, 0o600));
        // A folder that exists keeps its mode.
        let shared = folder.path().join("shared");
        fs::DirBuilder::new().mode(0o755).create(&shared).unwrap();
        let entry =
            Journal::open(shared.clone()).unwrap().write(&"2".into(), &"another".into(), None);
        assert_eq!((mode(&shared), mode(&entry.unwrap().path)), (0o755, 0o600));
    }

    #[test]
    fn journal_entry_appears_complete_and_locked() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) =
            (Journal::open(folder.path().into()).unwrap(), Journal::open(folder.path().into()));
        let theirs = theirs.unwrap();
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    assert!(theirs.orphans().unwrap().is_empty());
                }
            });
            for number in 0..500 {
                let entry = ours.write(&number.to_string().as_str().into(), &"work".into(), None);
                let entry = entry.unwrap();
                assert!(entry.path.exists(), "{number}");
                entry.remove();
            }
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let one = ours.write(&"1".into(), &"work".into(), None).unwrap();
        let twice = ours.write(&"1".into(), &"work".into(), None).unwrap_err();
        assert_eq!(twice.kind(), io::ErrorKind::AlreadyExists);
        one.remove();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_torn_line_is_cleared_away_and_nonsense_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path().to_owned()).unwrap();
        fs::write(folder.path().join("torn.json"), "{\"session_id\":").unwrap();
        fs::write(folder.path().join("odd.json"), "odd\n").unwrap();
        fs::write(folder.path().join("notes.txt"), "mine").unwrap();
        assert!(journal.orphans().unwrap().is_empty());
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["notes.txt", "odd.json"]);
    }

    #[test]
    fn stale_temporary_journal_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path().to_owned()).unwrap();
        let make = |name: &str, age: Duration| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - age).unwrap();
            file
        };
        make("young.new", Duration::ZERO);
        make("old.new", 2 * NAMELESS);
        let writing = make("slow.new", 2 * NAMELESS);
        writing.lock().unwrap();
        assert!(journal.orphans().unwrap().is_empty());
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["slow.new", "young.new"]);
    }

    #[test]
    fn a_session_that_is_started_again_takes_the_line_that_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path().to_owned()).unwrap();
        drop(journal.write(&"1".into(), &"first".into(), None).unwrap());
        let again = journal.write(&"1".into(), &"second".into(), None).unwrap();
        assert!(journal.orphans().unwrap().is_empty(), "it runs");
        drop(again);
        let found = journal.orphans().unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].prompt, "second".into());
    }
}
