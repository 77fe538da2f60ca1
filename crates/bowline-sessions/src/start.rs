//! Start of a session: a new one, a resumed one, or a fork.

use std::path::{Path, PathBuf};

use bowline_protocol::{MessageUuid, RawJson, SessionId};
use tempfile::NamedTempFile;
use uuid::Uuid;

use crate::{
    ConfigHome, LineOrigin, LiveContext, MessageAuthor, Mirroring, Page, ProjectKey, ResumeAt,
    SessionError, SessionFiles, Target, TranscriptWriter, branch, find, find::not_found,
    fork::fetched, messages_in, new_id, newest, resume,
};

/// Options for starting a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartOptions {
    /// Starting point.
    pub from: StartFrom,
    /// Its id, a UUID; generated if absent. Only for new sessions and copies.
    pub id: Option<String>,
    /// Continue in a copy.
    pub fork: bool,
    /// Continue after this message.
    pub at: Option<MessageUuid>,
    /// The prompt whose turn must be dropped by that.
    pub drops_turn: Option<MessageUuid>,
    /// Keep it in memory only.
    pub unsaved: bool,
    /// Whether lines are mirrored.
    pub mirroring: Mirroring,
}

/// Starting point of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StartFrom {
    /// A new session.
    #[default]
    Nothing,
    /// The newest session of the folder, if there is one.
    Newest,
    /// This session: its id, its title, or its file.
    Session(String),
    /// After these lines of a transcript from a store.
    Lines(Vec<RawJson>),
}

/// A session that was started.
#[derive(Debug)]
pub struct StartedSession {
    /// Its id.
    pub id: SessionId,
    /// Its writer; `None` keeps it in memory.
    pub transcript: Option<TranscriptWriter>,
    /// The conversation so far.
    pub context: Option<LiveContext>,
}

impl StartOptions {
    /// Finds and opens the session, or creates one. `origin` is where it is run.
    pub fn open(
        &self,
        home: &ConfigHome,
        project: &ProjectKey,
        origin: LineOrigin,
    ) -> Result<StartedSession, SessionError> {
        let cwd = PathBuf::from(&origin.cwd);
        let named = self.id.as_deref().map(session_id).transpose()?;
        let Some(source) = self.source(home, &cwd)? else {
            let id = named.unwrap_or_else(new_id);
            let files = home.session(project, &id);
            let transcript = match self.unsaved {
                true => None,
                false => {
                    Some(TranscriptWriter::create(files, origin)?.with_mirroring(self.mirroring))
                }
            };
            return Ok(StartedSession { id, transcript, context: None });
        };
        let at = self.at.clone().map_or(ResumeAt::End, ResumeAt::Message);
        if let Some(prompt) = &self.drops_turn {
            check_dropped(&source.path(), self.at.as_ref(), prompt)?;
        }
        let (files, is_copy) = match &source {
            Source::Ours(files) if !self.fork => (files.clone(), false),
            _ => (home.session(project, &named.unwrap_or_else(new_id)), true),
        };
        let id = files.id().clone();
        let read = |transcript: &Path| {
            let context = resume(transcript, &at)?;
            match &self.from {
                // A file with notes only is the rest of a session, which cannot be continued.
                StartFrom::Session(target) if context.leaf.is_none() => {
                    Err(not_found(home, target, &cwd))
                }
                _ => Ok(context),
            }
        };
        if self.unsaved {
            let context = Some(read(&source.path())?);
            return Ok(StartedSession { id, transcript: None, context });
        }
        let (mut writer, context) = if is_copy {
            // Read first: no copy is made if the message to continue after does not exist. The session continues
            // after what was read, whatever is added to the original meanwhile.
            let context = read(&source.path())?;
            branch(&source.path(), &files)?;
            (TranscriptWriter::resume(files, origin, None)?, context)
        } else {
            // The lock comes first: what is read then is complete.
            let writer = TranscriptWriter::resume(files, origin, None)?;
            let context = read(writer.path())?;
            (writer, context)
        };
        writer.set_leaf(context.leaf.clone());
        writer.set_names(context.names.clone());
        let transcript = Some(writer.with_mirroring(self.mirroring));
        Ok(StartedSession { id, transcript, context: Some(context) })
    }

    /// The session to continue, if one was requested and exists.
    fn source(&self, home: &ConfigHome, cwd: &Path) -> Result<Option<Source>, SessionError> {
        match &self.from {
            StartFrom::Nothing => Ok(None),
            StartFrom::Lines(lines) if lines.is_empty() => Ok(None),
            StartFrom::Lines(lines) => Ok(Some(Source::Fetched(fetched(lines)?))),
            StartFrom::Newest => Ok(newest(home, cwd).map(Source::Ours)),
            StartFrom::Session(target) => Ok(Some(match find(home, target, cwd)? {
                Target::Session(files) => Source::Ours(files),
                Target::File(path) => Source::Foreign(path),
            })),
        }
    }
}

/// A session that exists.
enum Source {
    Ours(SessionFiles),
    /// A file that is not among our sessions: it is copied and left alone.
    Foreign(PathBuf),
    /// Lines from elsewhere, until they are copied.
    Fetched(NamedTempFile),
}

impl Source {
    fn path(&self) -> PathBuf {
        match self {
            Self::Ours(files) => files.transcript(),
            Self::Foreign(path) => path.clone(),
            Self::Fetched(file) => file.path().to_owned(),
        }
    }
}

fn session_id(text: &str) -> Result<SessionId, SessionError> {
    match Uuid::parse_str(text) {
        Ok(uuid) => Ok(SessionId(uuid.to_string())),
        Err(_) => Err(SessionError::BadId(text.to_owned())),
    }
}

/// Checks that continuing after `at` drops the turn of `prompt`, and no other.
fn check_dropped(
    transcript: &Path,
    at: Option<&MessageUuid>,
    prompt: &MessageUuid,
) -> Result<(), SessionError> {
    let messages = messages_in(transcript, Page::default())
        .map_err(|error| SessionError::OtherTurn(error.to_string()))?;
    let kept = messages.iter().position(|message| Some(&message.uuid) == at);
    let dropped = kept.map_or(&messages[..], |index| &messages[index + 1..]);
    let why = match dropped.iter().find(|message| message.kind == MessageAuthor::User) {
        Some(first) if first.uuid == *prompt => return Ok(()),
        Some(first) => format!("the first prompt dropped is {}", first.uuid),
        None => "no prompt is dropped".to_owned(),
    };
    Err(SessionError::OtherTurn(why))
}
