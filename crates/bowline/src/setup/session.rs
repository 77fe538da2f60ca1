//! Which session is run: a new one, or one that is taken up again.

use std::path::{Path, PathBuf};

use bowline_engine::settings::Places;
use bowline_protocol::{MessageUuid, RawJson, SessionId};
use bowline_sessions::{
    ConfigHome, LineOrigin, LiveContext, Page, ProjectKey, ResumeAt, SessionFiles, Spoken, Target,
    TranscriptWriter, branch, find, messages_in, new_id, newest, restore, resume,
};
use uuid::Uuid;

use super::{SetupError, folder::git_branch};
use crate::{
    args::{RunArgs, SessionArgs},
    environment::Environment,
    version,
};

/// The session that is run.
#[derive(Debug)]
pub(super) struct TakenUp {
    pub(super) id: SessionId,
    /// Where it is written; `None` keeps it in memory.
    pub(super) transcript: Option<TranscriptWriter>,
    /// What was said in it before.
    pub(super) context: Option<LiveContext>,
}

/// Finds the session that the command line names, or begins one.
pub(super) fn take_up(
    args: &RunArgs,
    environment: &Environment,
    places: &Places,
    cwd: &Path,
    entrypoint: &str,
    fetched: Option<Vec<RawJson>>,
) -> Result<TakenUp, SetupError> {
    let home = ConfigHome::new(&places.config_dir);
    let origin = LineOrigin {
        cwd: cwd.display().to_string(),
        version: version::PROTOCOL.to_owned(),
        git_branch: git_branch(cwd),
        entrypoint: entrypoint.to_owned(),
    };
    let project = match environment.project_dir_name() {
        Some(name) => ProjectKey::from_name(name),
        None => ProjectKey::for_directory(cwd),
    };
    let args = &args.session;
    let named = args.session_id.as_deref().map(session_id).transpose()?;
    let is_mirrored = args.session_mirror || fetched.is_some();
    let source = match fetched {
        Some(lines) if lines.is_empty() => None,
        Some(lines) => {
            let files = home.session(&project, &new_id());
            restore(&files, &lines)?;
            Some(Source::Ours(files))
        }
        None => source(args, &home, cwd)?,
    };
    let Some(source) = source else {
        let id = named.unwrap_or_else(new_id);
        let files = home.session(&project, &id);
        let transcript = match args.no_session_persistence {
            true => None,
            false => Some(mirrored(TranscriptWriter::create(files, origin)?, is_mirrored)),
        };
        return Ok(TakenUp { id, transcript, context: None });
    };
    let at = match &args.resume_session_at {
        Some(uuid) => ResumeAt::Message(MessageUuid::from(uuid.as_str())),
        None => ResumeAt::End,
    };
    if let Some(prompt) = &args.resume_drops_turn {
        check_dropped(&source.path(), args.resume_session_at.as_deref(), prompt)?;
    }
    let context = resume(&source.path(), &at)?;
    let files = match source {
        Source::Ours(files) if !args.fork_session => files,
        source => {
            let copy = home.session(&project, &named.unwrap_or_else(new_id));
            if !args.no_session_persistence {
                branch(&source.path(), &copy)?;
            }
            copy
        }
    };
    let id = files.id().clone();
    let transcript = match args.no_session_persistence {
        true => None,
        false => {
            let writer = TranscriptWriter::resume(files, origin, context.leaf.clone())?;
            Some(mirrored(writer, is_mirrored))
        }
    };
    Ok(TakenUp { id, transcript, context: Some(context) })
}

/// A session that exists.
enum Source {
    Ours(SessionFiles),
    /// A file that is not among our sessions: it is copied and left alone.
    Foreign(PathBuf),
}

impl Source {
    fn path(&self) -> PathBuf {
        match self {
            Self::Ours(files) => files.transcript(),
            Self::Foreign(path) => path.clone(),
        }
    }
}

/// The session to go on with, if one was asked for and is there.
fn source(args: &SessionArgs, home: &ConfigHome, cwd: &Path) -> Result<Option<Source>, SetupError> {
    match args.resume.as_deref() {
        Some("") => Err("--resume needs a session when nobody is there to choose: its id, its \
                         title, or its .jsonl file"
            .into()),
        Some(target) => Ok(Some(match find(home, target, cwd)? {
            Target::Session(files) => Source::Ours(files),
            Target::File(path) => Source::Foreign(path),
        })),
        None if args.continue_newest => Ok(newest(home, cwd).map(Source::Ours)),
        None => Ok(None),
    }
}

fn session_id(text: &str) -> Result<SessionId, SetupError> {
    match Uuid::parse_str(text) {
        Ok(uuid) => Ok(SessionId(uuid.to_string())),
        Err(_) => Err("Invalid session ID. Must be a valid UUID.".into()),
    }
}

fn mirrored(writer: TranscriptWriter, is_mirrored: bool) -> TranscriptWriter {
    if is_mirrored { writer.mirrored() } else { writer }
}

/// Makes sure that going on behind `at` drops the turn of `prompt`, and no other.
fn check_dropped(transcript: &Path, at: Option<&str>, prompt: &str) -> Result<(), SetupError> {
    let rejected = |why: String| format!("Resume rejected by --resume-drops-turn: {why}");
    let said =
        messages_in(transcript, Page::default()).map_err(|error| rejected(error.to_string()))?;
    let kept = said.iter().position(|message| Some(message.uuid.as_str()) == at);
    let dropped = kept.map_or(&said[..], |place| &said[place + 1..]);
    match dropped.iter().find(|message| message.kind == Spoken::User) {
        Some(first) if first.uuid.as_str() == prompt => Ok(()),
        Some(first) => Err(rejected(format!("the first prompt dropped is {}", first.uuid)).into()),
        None => Err(rejected("no prompt is dropped".to_owned()).into()),
    }
}
