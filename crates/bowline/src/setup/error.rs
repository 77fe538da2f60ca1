//! Why a session cannot be started, in words for the user.

use bowline_engine::{StartError, settings::SettingsError};
use bowline_sessions::SessionError;

use crate::args::{InputFormat, OutputFormat, RunArgs};

/// Why a session cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    /// The session to go on with is not there. Hosts are told in a result, too.
    #[error("No conversation found with session ID: {target}")]
    NoConversation {
        /// What was asked for.
        target: String,
        /// Sessions that it could be meant for, described.
        nearest: Vec<String>,
    },
    /// Root wants to do without permissions.
    #[error(
        "--dangerously-skip-permissions cannot be used with root/sudo privileges for security \
         reasons"
    )]
    BypassAsRoot,
    /// Something about the settings.
    #[error("Error: {0}")]
    Settings(#[from] SettingsError),
    /// Something about the session.
    #[error("Error: {0}")]
    Session(SessionError),
    /// The engine does not take it.
    #[error("Error: {0}")]
    Start(#[from] StartError),
    /// Anything else.
    #[error("Error: {0}")]
    Other(String),
}

impl From<String> for SetupError {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl From<&str> for SetupError {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}

impl From<SessionError> for SetupError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::NotFound { target, nearest } => Self::NoConversation { target, nearest },
            SessionError::InUse(id) => format!("Session ID {id} is already in use.").into(),
            SessionError::BadId(_) => "Invalid session ID. Must be a valid UUID.".into(),
            SessionError::NoSuchMessage(uuid) => {
                format!("No message found with message.uuid of: {uuid}").into()
            }
            error => Self::Session(error),
        }
    }
}

/// Flags that only make sense with others.
pub(super) fn check_combinations(args: &RunArgs) -> Result<(), SetupError> {
    let (output, session) = (&args.output, &args.session);
    let streams_out = output.output_format == OutputFormat::StreamJson;
    let streams_in = output.input_format == InputFormat::StreamJson;
    let resumes = session.resume.is_some() || session.continue_newest;
    let wrong = if streams_in && !streams_out {
        "--input-format=stream-json requires --output-format=stream-json"
    } else if args.print && streams_out && !output.verbose {
        "When using --print, --output-format=stream-json requires --verbose"
    } else if output.include_partial_messages && !streams_out {
        "--include-partial-messages requires --output-format=stream-json"
    } else if output.replay_user_messages && !(streams_in && streams_out) {
        "--replay-user-messages requires both --input-format=stream-json and \
         --output-format=stream-json"
    } else if session.session_id.is_some() && resumes && !session.fork_session {
        "--session-id can only be used with --continue or --resume if --fork-session is also \
         specified"
    } else if session.resume_session_at.is_some() && session.resume.is_none() {
        "--resume-session-at requires --resume"
    } else if session.resume_drops_turn.is_some() && session.resume_session_at.is_none() {
        "--resume-drops-turn requires --resume-session-at"
    } else if session.rewind_files.is_some() && session.resume.is_none() {
        "--rewind-files requires --resume"
    } else {
        return Ok(());
    };
    Err(wrong.into())
}
