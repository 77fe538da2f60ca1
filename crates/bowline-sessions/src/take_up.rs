//! Which session is run: a new one, or one that is taken up again.

use std::path::{Path, PathBuf};

use bowline_protocol::{MessageUuid, RawJson, SessionId};
use tempfile::NamedTempFile;
use uuid::Uuid;

use crate::{
    ConfigHome, LineOrigin, LiveContext, Mirroring, Page, ProjectKey, ResumeAt, SessionError,
    SessionFiles, Spoken, Target, TranscriptWriter, branch, find, find::not_found, fork::fetched,
    messages_in, new_id, newest, resume,
};

/// Which session is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakeUp {
    /// Where it begins.
    pub from: StartFrom,
    /// Its id, a UUID; one is made up if there is none. Only for new sessions and copies.
    pub id: Option<String>,
    /// Go on in a copy.
    pub fork: bool,
    /// Go on behind this message.
    pub at: Option<MessageUuid>,
    /// The prompt whose turn going on there must drop.
    pub drops_turn: Option<MessageUuid>,
    /// Keep it in memory only.
    pub unsaved: bool,
    /// Whether every line is for a mirror, too.
    pub mirroring: Mirroring,
}

/// Where a session begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StartFrom {
    /// With nothing.
    #[default]
    Nothing,
    /// Where the newest session of the folder ended, if there is one.
    Newest,
    /// Where this one ended: its id, its title, or its file.
    Session(String),
    /// Behind these lines of a transcript that is kept elsewhere.
    Lines(Vec<RawJson>),
}

/// A session that can be run.
#[derive(Debug)]
pub struct TakenUp {
    /// Its id.
    pub id: SessionId,
    /// Where it is written; `None` keeps it in memory.
    pub transcript: Option<TranscriptWriter>,
    /// What was said in it before.
    pub context: Option<LiveContext>,
}

impl TakeUp {
    /// Finds the session that is wanted, or begins one. `origin` is where it is run.
    pub fn open(
        &self,
        home: &ConfigHome,
        project: &ProjectKey,
        origin: LineOrigin,
    ) -> Result<TakenUp, SessionError> {
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
            return Ok(TakenUp { id, transcript, context: None });
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
                // A file with notes only is what is left of a session, not one to go on with.
                StartFrom::Session(target) if context.leaf.is_none() => {
                    Err(not_found(home, target, &cwd))
                }
                _ => Ok(context),
            }
        };
        if self.unsaved {
            let context = Some(read(&source.path())?);
            return Ok(TakenUp { id, transcript: None, context });
        }
        let (mut writer, context) = if is_copy {
            // Whoever wants to go on behind a message that is not there gets no copy. One goes on
            // behind what was read, whatever is added to the original meanwhile.
            let context = read(&source.path())?;
            branch(&source.path(), &files)?;
            (TranscriptWriter::resume(files, origin, None)?, context)
        } else {
            // The right to write comes first: what is read then is all there is.
            let writer = TranscriptWriter::resume(files, origin, None)?;
            let context = read(writer.path())?;
            (writer, context)
        };
        writer.set_leaf(context.leaf.clone());
        writer.set_names(context.names.clone());
        let transcript = Some(writer.with_mirroring(self.mirroring));
        Ok(TakenUp { id, transcript, context: Some(context) })
    }

    /// The session to go on with, if one was asked for and is there.
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

/// Makes sure that going on behind `at` drops the turn of `prompt`, and no other.
fn check_dropped(
    transcript: &Path,
    at: Option<&MessageUuid>,
    prompt: &MessageUuid,
) -> Result<(), SessionError> {
    let said = messages_in(transcript, Page::default())
        .map_err(|error| SessionError::OtherTurn(error.to_string()))?;
    let kept = said.iter().position(|message| Some(&message.uuid) == at);
    let dropped = kept.map_or(&said[..], |place| &said[place + 1..]);
    let why = match dropped.iter().find(|message| message.kind == Spoken::User) {
        Some(first) if first.uuid == *prompt => return Ok(()),
        Some(first) => format!("the first prompt dropped is {}", first.uuid),
        None => "no prompt is dropped".to_owned(),
    };
    Err(SessionError::OtherTurn(why))
}
