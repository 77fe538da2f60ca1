//! Transcript writer: lines get their position in the conversation and are appended in one write.
//!
//! - The file is created with the first line, for its owner alone (mode 0600).
//! - A batch is one `write` at the file's end. Once [`TranscriptWriter::flush`] returns, the lines
//!   survive the process; with [`Sync::EachFlush`] they survive the machine.
//! - Lines of an unfinished response have room for its end ([`TranscriptWriter::end_response`]).
//! - A last line that was torn by a crash is cut off when the file is opened.
//! - When writing fails (disk full, folder read-only), the file is cut back to whole lines, the
//!   failure is reported once, and what follows is dropped and counted: a gap would make everything
//!   before it unreachable.

mod ending;
mod flush;
mod mirroring;
mod reopen;
mod subagent;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_protocol::{AgentId, ApiMessage, MessageUuid, RawJson, SessionId};
use uuid::Uuid;

use self::{ending::OpenResponse, flush::has_lines, reopen::reopen};
pub use self::{
    flush::{Flushed, Sync, WriteFailure},
    mirroring::{MirrorBatch, Mirroring},
    subagent::SubagentMetadata,
};
use crate::{
    SessionError, clock,
    line::{AssistantLine, ChainFields, TranscriptLine},
    lock::SessionLock,
    names::Names,
    project::SessionFiles,
};

/// Origin of lines; set on every line of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineOrigin {
    /// The working directory.
    pub cwd: String,
    /// The version of the program.
    pub version: String,
    /// The branch, `HEAD` without one.
    pub git_branch: String,
    /// Through which door the session was started.
    pub entrypoint: String,
}

/// Appends lines to one transcript.
#[derive(Debug)]
pub struct TranscriptWriter {
    files: SessionFiles,
    path: PathBuf,
    agent: Option<AgentId>,
    origin: LineOrigin,
    leaf: Option<MessageUuid>,
    names: Names,
    /// Length of the file, as far as this writer knows.
    end: u64,
    pending: Vec<u8>,
    pending_lines: usize,
    /// The newest response, until its end is written.
    open: Option<OpenResponse>,
    mirroring: Mirroring,
    /// Lines that a mirror has not received yet.
    mirrored: Vec<RawJson>,
    sync: Sync,
    state: State,
    dropped: u64,
}

#[derive(Debug)]
enum State {
    /// Nothing was written yet, so there is no file.
    Unborn { lock: Option<Arc<SessionLock>> },
    /// The file has whole lines only.
    Open { file: File, lock: Arc<SessionLock> },
    /// Writing failed.
    Failed,
}

impl State {
    fn length(&self) -> Option<u64> {
        let Self::Open { file, .. } = self else { return None };
        file.metadata().ok().map(|metadata| metadata.len())
    }
}

impl TranscriptWriter {
    /// A new session. Refused when its transcript exists; one without a line, as a crash at the very
    /// beginning leaves it, does not count.
    pub fn create(files: SessionFiles, origin: LineOrigin) -> Result<Self, SessionError> {
        let path = files.transcript();
        if has_lines(&path) {
            return Err(SessionError::InUse(files.id().clone()));
        }
        Ok(Self::with_state(files, path, origin, State::Unborn { lock: None }))
    }

    /// An existing session, whose next line follows `leaf`. Refused while another process writes it.
    pub fn resume(
        files: SessionFiles,
        origin: LineOrigin,
        leaf: Option<MessageUuid>,
    ) -> Result<Self, SessionError> {
        let path = files.transcript();
        let lock = Arc::new(SessionLock::acquire(&files)?);
        let file = reopen(&path).map_err(SessionError::io(&path))?;
        let state = State::Open { file, lock };
        Ok(Self { leaf, ..Self::with_state(files, path, origin, state) })
    }

    /// A new session beside this one, written in the same way: what a conversation that was cleared
    /// goes on in.
    pub fn successor(&self, id: SessionId) -> Result<Self, SessionError> {
        let files = SessionFiles::in_folder(self.files.project_folder(), id);
        let mut writer = Self::create(files, self.origin.clone())?.with_sync(self.sync);
        writer.mirroring = self.mirroring;
        Ok(writer)
    }

    fn with_state(files: SessionFiles, path: PathBuf, origin: LineOrigin, state: State) -> Self {
        Self {
            names: Names::default(),
            end: state.length().unwrap_or(0),
            files,
            path,
            agent: None,
            origin,
            leaf: None,
            pending: Vec::new(),
            pending_lines: 0,
            open: None,
            mirroring: Mirroring::No,
            mirrored: Vec::new(),
            sync: Sync::default(),
            state,
            dropped: 0,
        }
    }

    /// Sets what a flush promises.
    pub fn with_sync(mut self, sync: Sync) -> Self {
        self.sync = sync;
        self
    }

    /// Keeps the lines of each flush for [`take_mirror`](Self::take_mirror).
    pub fn with_mirroring(mut self, mirroring: Mirroring) -> Self {
        self.mirroring = mirroring;
        self
    }

    /// The session's files.
    pub fn files(&self) -> &SessionFiles {
        &self.files
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        self.files.id()
    }

    /// The transcript.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The line that the next one follows.
    pub fn leaf(&self) -> Option<&MessageUuid> {
        self.leaf.as_ref()
    }

    /// Makes the next line follow `leaf`, as after a compaction or a rewind.
    pub fn set_leaf(&mut self, leaf: Option<MessageUuid>) {
        self.leaf = leaf;
    }

    /// Names of the session; repeated whenever the file has grown much.
    pub(crate) fn set_names(&mut self, names: Names) {
        self.names = names;
    }

    /// Sets the origin of the next lines.
    pub fn origin_mut(&mut self) -> &mut LineOrigin {
        &mut self.origin
    }

    /// Lines dropped since writing failed.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds a line of the conversation after the last one and returns its id.
    ///
    /// A line without a name gets one. Written with the next flush.
    pub fn push(&mut self, line: impl Into<TranscriptLine>) -> MessageUuid {
        self.push_after(line, self.leaf.clone())
    }

    /// Adds a line of the conversation after `parent`: a tool's result after its own call, the
    /// boundary of a compaction without a parent.
    pub fn push_after(
        &mut self,
        line: impl Into<TranscriptLine>,
        parent: Option<MessageUuid>,
    ) -> MessageUuid {
        let mut line = line.into();
        let mut uuid = MessageUuid::default();
        if let Some(chain) = line.chain_mut() {
            chain.parent_uuid = parent;
            self.stamp(chain);
            uuid.clone_from(&chain.uuid);
            self.leaf = Some(uuid.clone());
        }
        self.add(&line);
        uuid
    }

    /// Adds a line that stands beside the conversation.
    pub fn note(&mut self, line: impl Into<TranscriptLine>) {
        self.add(&line.into());
    }

    /// Writes the end of a response into its lines: stop reason and usage.
    ///
    /// They were pushed without a `stop_reason` and flushed, and no line of another response was pushed
    /// since. The lines of a response that never ends stay as they are.
    pub fn end_response(&mut self, response: &ApiMessage) -> Result<(), SessionError> {
        let Some(open) = self.open.take_if(|open| open.is(&response.id)) else { return Ok(()) };
        open.end(response, &self.path, &mut self.mirrored).map_err(SessionError::io(&self.path))
    }

    /// The turn is over, and with it its last response.
    pub fn end_turn(&mut self) {
        self.open = None;
    }

    /// Fills in what is the same on every line, where the line does not set it itself.
    fn stamp(&self, chain: &mut ChainFields) {
        let fill = |field: &mut String, value: &str| {
            if field.is_empty() {
                value.clone_into(field);
            }
        };
        if chain.uuid.0.is_empty() {
            chain.uuid = MessageUuid(Uuid::new_v4().to_string());
        }
        if chain.timestamp.is_empty() {
            chain.timestamp = clock::now();
        }
        chain.session_id = self.files.id().clone();
        if self.agent.is_some() {
            chain.is_sidechain = true;
            chain.agent_id.clone_from(&self.agent);
        }
        fill(&mut chain.cwd, &self.origin.cwd);
        fill(&mut chain.version, &self.origin.version);
        fill(&mut chain.git_branch, &self.origin.git_branch);
        fill(&mut chain.entrypoint, &self.origin.entrypoint);
        fill(&mut chain.user_type, "external");
    }

    fn add(&mut self, line: &TranscriptLine) {
        if Names::is_name(line) {
            // What others called the session before this must not count after it.
            self.hear_others();
            self.names.observe(line, self.end + self.pending.len() as u64);
        }
        let json = line.to_json();
        match line {
            TranscriptLine::Assistant(line) if OpenResponse::has(line) => {
                let roomy = self.make_room(line, &json);
                self.pending.extend_from_slice(roomy.as_bytes());
            }
            _ => self.pending.extend_from_slice(json.as_bytes()),
        }
        self.pending.push(b'\n');
        self.pending_lines += 1;
        if self.mirroring != Mirroring::No
            && let Ok(entry) = RawJson::from_text(json)
        {
            self.mirrored.push(entry);
        }
    }

    /// The line with room for the end of its response.
    fn make_room(&mut self, line: &AssistantLine, json: &str) -> String {
        let open = match &mut self.open {
            Some(open) if open.is(&line.message.id) => open,
            open => open.insert(OpenResponse::begin(line)),
        };
        let in_batch = self.pending.len() as u64;
        let entry = (self.mirroring == Mirroring::Ended).then_some(self.mirrored.len());
        open.make_room(json, (in_batch, self.end + in_batch), entry)
    }

    /// Others may have appended titles and labels meanwhile.
    fn hear_others(&mut self) {
        let (State::Open { file, .. }, Some(length)) = (&self.state, self.state.length()) else {
            return;
        };
        if length > self.end {
            self.names.hear_others(file, self.end, length);
        }
        self.end = length;
    }
}
