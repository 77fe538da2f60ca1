//! Undoing edits: copies of files from before each turn's edits, and the way back to them.
//!
//! A *snapshot* belongs to a prompt. It knows, for every file edited so far, a
//! copy of the file as it was when the prompt came; a file that is edited for
//! the first time later joins the snapshot then, before the edit. Copies keep
//! their file's mode. What was not edited through a tool is not known here.

mod limits;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use bowline_protocol::{Extra, MessageUuid};
use imara_diff::{Algorithm, Diff, InternedInput, sources::byte_lines};
use memchr::memmem;

use self::limits::Limits;
use crate::{
    clock,
    head::Id,
    line::{Backup, FileHistoryDelta, FileHistorySnapshot, Snapshot, TranscriptLine},
};

/// The copies of a session's files.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    cwd: PathBuf,
    /// In the order of their prompts.
    snapshots: Vec<Snapshot>,
    limits: Limits,
    /// The files that a transcript has named and that may be put back.
    recalled: BTreeSet<String>,
    /// The files that a transcript has named and that stay as they are.
    refused: Vec<Refused>,
}

/// A file that is not put back, though the transcript has a checkpoint of it.
#[derive(Debug)]
struct Refused {
    prompt: MessageUuid,
    name: String,
    why: &'static str,
}

/// Whether to change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind {
    /// Dry run: report what would change.
    DryRun,
    /// Put the files back.
    Restore,
}

/// Changes of a rewind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewindReport {
    /// Whether there is something to go back to.
    pub can_rewind: bool,
    /// The files that change.
    pub files_changed: Vec<PathBuf>,
    /// Lines that come back.
    pub insertions: u64,
    /// Lines that go away.
    pub deletions: u64,
    /// Files left alone because they or a parent folder are now a link.
    pub skipped_links: u64,
    /// Error of a failed rewind.
    pub error: Option<String>,
}

/// Error if a prompt has no snapshot.
const NO_CHECKPOINT: &str = "No file checkpoint found for this message.";

impl Checkpoints {
    /// No copies yet. They will be kept in `folder`; short paths are relative to `cwd`.
    pub fn new(folder: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            cwd: cwd.into(),
            snapshots: Vec::new(),
            limits: Limits::default(),
            recalled: BTreeSet::new(),
            refused: Vec::new(),
        }
    }

    /// The copies that a transcript lists.
    ///
    /// The transcript is untrusted: of the files that it names, those are restored that are in the
    /// session's working directories, which are `cwd` and `directories`.
    pub fn load<'a>(
        folder: impl Into<PathBuf>,
        cwd: impl Into<PathBuf>,
        directories: impl IntoIterator<Item = &'a Path>,
        transcript: &Path,
    ) -> io::Result<Self> {
        let mut checkpoints = Self::new(folder, cwd);
        checkpoints.limits.add(&checkpoints.cwd);
        directories.into_iter().for_each(|directory| checkpoints.limits.add(directory));
        let mut lines = BufReader::new(File::open(transcript)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            // Few lines are about files, so only those are parsed.
            let beginning = &line[..line.len().min(64)];
            if memmem::find(beginning, b"\"file-history-").is_some()
                && let Ok(text) = str::from_utf8(&line)
                && let Ok(line) = TranscriptLine::parse(text)
            {
                checkpoints.recall(line);
            }
            line.clear();
        }
        checkpoints.refuse_what_is_outside();
        Ok(checkpoints)
    }

    /// Snapshot at a prompt: files edited before are copied again if they have changed since.
    ///
    /// The line belongs into the transcript.
    pub fn begin(&mut self, prompt: &MessageUuid) -> io::Result<TranscriptLine> {
        let mut tracked_file_backups = BTreeMap::new();
        for (name, last) in self.newest_copies() {
            let path = self.cwd.join(&name);
            let copy = match self.differs(&path, &last)? {
                false => last,
                true => self.copy(&path, last.version.saturating_add(1))?,
            };
            tracked_file_backups.insert(name, copy);
        }
        let snapshot = Snapshot {
            message_id: prompt.clone(),
            tracked_file_backups,
            timestamp: clock::now(),
            extra: Extra::new(),
        };
        self.snapshots.push(snapshot.clone());
        let line =
            FileHistorySnapshot { message_id: prompt.clone(), snapshot, ..Default::default() };
        Ok(line.into())
    }

    /// A tool is about to edit a file. Copies it if that is the first edit since the prompt.
    ///
    /// The line belongs into the transcript. Nothing is kept before the first prompt.
    pub fn before_edit(
        &mut self,
        file: &Path,
        response: &MessageUuid,
    ) -> io::Result<Option<TranscriptLine>> {
        let mut path = self.cwd.join(file);
        // An edit through a link changes its target.
        if path.is_symlink()
            && let Ok(real) = fs::canonicalize(&path)
        {
            path = real;
        }
        let name = path.strip_prefix(&self.cwd).unwrap_or(&path).display().to_string();
        let versions = self.newest_copies().get(&name).map_or(0, |copy| copy.version);
        let Some(current) = self.snapshots.last() else { return Ok(None) };
        if current.tracked_file_backups.contains_key(&name) {
            return Ok(None);
        }
        let prompt = current.message_id.clone();
        let backup = self.copy(&path, versions.saturating_add(1))?;
        if let Some(current) = self.snapshots.last_mut() {
            current.tracked_file_backups.insert(name.clone(), backup.clone());
        }
        let line = FileHistoryDelta {
            message_id: response.clone(),
            snapshot_message_id: prompt,
            tracking_path: name,
            backup,
            timestamp: clock::now(),
            extra: Extra::new(),
        };
        Ok(Some(line.into()))
    }

    /// Restores all files to their state at a prompt, or reports what that would change.
    ///
    /// One file that cannot be put back does not keep the others.
    pub fn rewind(&self, prompt: &MessageUuid, rewind: Rewind) -> RewindReport {
        let index = self.snapshots.iter().rposition(|snapshot| snapshot.message_id == *prompt);
        let Some(index) = index else {
            let error = Some(NO_CHECKPOINT.to_owned());
            return RewindReport { error, ..RewindReport::default() };
        };
        let mut report = RewindReport { can_rewind: true, ..RewindReport::default() };
        let mut done = BTreeSet::new();
        // A file that joined later had not changed before, so its oldest copy from here on applies.
        for snapshot in &self.snapshots[index..] {
            for (name, copy) in &snapshot.tracked_file_backups {
                if done.insert(name)
                    && let Err(error) = self.put_back(name, copy, rewind, &mut report)
                {
                    report.error.get_or_insert_with(|| format!("{name}: {error}"));
                }
            }
        }
        for refused in &self.refused {
            if self.snapshots[index..].iter().any(|kept| kept.message_id == refused.prompt) {
                let error = || format!("{} was left alone: {}", refused.name, refused.why);
                report.error.get_or_insert_with(error);
            }
        }
        report
    }

    fn put_back(
        &self,
        name: &str,
        copy: &Backup,
        rewind: Rewind,
        report: &mut RewindReport,
    ) -> io::Result<()> {
        let path = self.cwd.join(name);
        if self.recalled.contains(name) {
            self.limits.check(&path, copy).map_err(io::Error::other)?;
        }
        if leads_elsewhere(&path, copy) {
            report.skipped_links += 1;
            return Ok(());
        }
        if !self.differs(&path, copy)? {
            return Ok(());
        }
        let before = read_or_empty(&path)?;
        let after = match &copy.backup_file_name {
            Some(copy) => fs::read(self.folder.join(copy))?,
            None => Vec::new(),
        };
        let lines = InternedInput::new(byte_lines(&before), byte_lines(&after));
        let diff = Diff::compute(Algorithm::Histogram, &lines);
        if rewind == Rewind::Restore {
            match &copy.backup_file_name {
                Some(copy) => restore(&self.folder.join(copy), &path)?,
                None => fs::remove_file(&path)?,
            }
        }
        report.insertions += u64::from(diff.count_additions());
        report.deletions += u64::from(diff.count_removals());
        report.files_changed.push(path);
        Ok(())
    }

    fn recall(&mut self, line: TranscriptLine) {
        match line {
            TranscriptLine::FileHistorySnapshot(line) => {
                let known = self.snapshots.iter_mut().rfind(|s| s.message_id == line.message_id);
                match known {
                    Some(known) if line.is_snapshot_update => *known = line.snapshot,
                    _ => self.snapshots.push(line.snapshot),
                }
            }
            TranscriptLine::FileHistoryDelta(line) => {
                let prompt = line.snapshot_message_id;
                let snapshot = self.snapshots.iter_mut().rfind(|s| s.message_id == prompt);
                if let Some(snapshot) = snapshot {
                    snapshot.tracked_file_backups.insert(line.tracking_path, line.backup);
                }
            }
            _ => {}
        }
    }

    /// Drops the files that a transcript must not name.
    fn refuse_what_is_outside(&mut self) {
        for snapshot in &mut self.snapshots {
            snapshot.tracked_file_backups.retain(|name, copy| {
                match self.limits.check(&self.cwd.join(name), copy) {
                    Ok(()) => {
                        self.recalled.insert(name.clone());
                        true
                    }
                    Err(why) => {
                        let (prompt, name) = (snapshot.message_id.clone(), name.clone());
                        self.refused.push(Refused { prompt, name, why });
                        false
                    }
                }
            });
        }
    }

    fn newest_copies(&self) -> BTreeMap<String, Backup> {
        let copies = self.snapshots.iter().flat_map(|snapshot| &snapshot.tracked_file_backups);
        copies.map(|(name, copy)| (name.clone(), copy.clone())).collect()
    }

    fn differs(&self, path: &Path, copy: &Backup) -> io::Result<bool> {
        let Some(copy) = &copy.backup_file_name else { return Ok(path.is_file()) };
        if !path.is_file() {
            return Ok(true);
        }
        let copy = self.folder.join(copy);
        let (now, then) = (fs::metadata(path)?, fs::metadata(&copy)?);
        Ok(now.len() != then.len()
            || now.permissions() != then.permissions()
            || fs::read(path)? != fs::read(copy)?)
    }

    fn copy(&self, path: &Path, version: u64) -> io::Result<Backup> {
        let backup_file_name = if path.is_file() {
            let name = format!("{}@v{version}", Id::new(&path.display().to_string()).short());
            bowline_private::folder(&self.folder)?;
            fs::copy(path, self.folder.join(&name))?;
            Some(name)
        } else {
            None
        };
        let parent = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
        Ok(Backup {
            backup_file_name,
            version,
            backup_time: clock::now(),
            real_parent_dir: parent.map(|parent| parent.display().to_string()),
            extra: Extra::new(),
        })
    }
}

/// Whether writing to `path` would write somewhere else than the file that was copied.
fn leads_elsewhere(path: &Path, copy: &Backup) -> bool {
    if path.is_symlink() {
        return true;
    }
    let now = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
    match (now, &copy.real_parent_dir) {
        (Some(now), Some(then)) => now != Path::new(then),
        _ => false,
    }
}

/// Replaces a file by a copy atomically, mode included.
fn restore(copy: &Path, path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    // A name that cannot be guessed: nothing can wait there to be written through.
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut beside = tempfile::Builder::new().prefix(".rewind-").tempfile_in(folder)?;
    let mut copy = File::open(copy)?;
    io::copy(&mut copy, &mut beside)?;
    beside.as_file().set_permissions(copy.metadata()?.permissions())?;
    beside.persist(path)?;
    Ok(())
}

fn read_or_empty(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}
