//! Errors of starting a session, worded for the user.

use std::path::Path;

use bowline_doorway::InputError;
use bowline_engine::{
    StartError,
    settings::{NO_SANDBOX, SettingsError},
};
use bowline_protocol::MessageUuid;
use bowline_sessions::SessionError;
use uuid::Uuid;

use crate::args::{InputFormat, OutputFormat, RunArgs};

/// Reason why a session cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    /// The session to resume does not exist. Also reported to hosts, in a result.
    #[error("{}", not_found(target))]
    NoConversation {
        /// The requested session.
        target: String,
        /// Descriptions of sessions with similar names.
        nearest: Vec<String>,
    },
    /// The message to resume after does not exist. Also reported to hosts, in a result.
    #[error("No message found with message.uuid of: {0}")]
    NoMessage(MessageUuid),
    /// Permissions cannot be bypassed by root.
    #[error(
        "--dangerously-skip-permissions cannot be used with root/sudo privileges for security \
         reasons"
    )]
    BypassAsRoot,
    /// A sandbox is required and not available. Also reported to hosts, in a result.
    #[error(
        "Error: {NO_SANDBOX}. Refusing to start without one, as sandbox.failIfUnavailable requires."
    )]
    NoSandbox,
    /// The first line of the host is not `initialize`.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The managed settings that the host announced are missing.
    #[error(
        "Error: --managed-settings-in-initialize requires initialize.managedSettings to be a JSON \
         object."
    )]
    ManagedSettingsMissing,
    /// The settings are invalid.
    #[error("{}", about_settings(.0))]
    Settings(#[from] SettingsError),
    /// The session cannot be opened.
    #[error("Error: {0}")]
    Session(SessionError),
    /// The engine refuses the configuration.
    #[error("Error: {0}")]
    Start(#[from] StartError),
    /// Anything else.
    #[error("Error: {0}")]
    Other(String),
}

impl SetupError {
    /// Error of `--resume` without a session: there is no user to choose one.
    pub(super) const RESUME: &str = "--resume requires a valid session ID or session title when \
                                     used with --print. Usage: bowline -p --resume \
                                     <session-id|title>";
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
            SessionError::NoSuchMessage(uuid) => Self::NoMessage(uuid),
            error => Self::Session(error),
        }
    }
}

fn not_found(target: &str) -> String {
    match Uuid::parse_str(target) {
        Ok(_) => format!("No conversation found with session ID: {target}"),
        Err(_) => format!(
            "Error: {}. Provided value \"{target}\" is not a UUID and does not match any session \
             title.",
            SetupError::RESUME
        ),
    }
}

fn about_settings(error: &SettingsError) -> String {
    match error {
        SettingsError::NotFound { path } => {
            format!("Error: Settings file not found: {}", path.display())
        }
        SettingsError::UnknownSource { name } => format!(
            "Error processing --setting-sources: Invalid setting source: {name}. Valid options are: \
             user, project, local"
        ),
        other => format!("Error: {other}"),
    }
}

/// Refuses flags that require or exclude others.
pub(crate) fn check_combinations(args: &RunArgs) -> Result<(), SetupError> {
    let (output, session) = (&args.output, &args.session);
    let streams_out = output.output_format == OutputFormat::StreamJson;
    let streams_in = output.input_format == InputFormat::StreamJson;
    let resumes = session.resume.is_some() || session.continue_newest;
    let in_initialize = args.sources.managed_settings_in_initialize;
    let wrong = if streams_in && !streams_out {
        "--input-format=stream-json requires output-format=stream-json."
    } else if args.print && streams_out && !output.verbose {
        "When using --print, --output-format=stream-json requires --verbose"
    } else if output.include_partial_messages && !streams_out {
        "--include-partial-messages requires --print and --output-format=stream-json."
    } else if output.replay_user_messages && !(streams_in && streams_out) {
        "--replay-user-messages requires both --input-format=stream-json and \
         --output-format=stream-json."
    } else if output.forward_subagent_text && !streams_out {
        "--forward-subagent-text requires --print and --output-format=stream-json."
    } else if output.await_initialize && !streams_in {
        "--await-initialize requires --input-format=stream-json."
    } else if args.sources.project_config_root.as_deref().is_some_and(Path::is_relative) {
        "--project-config-root must be an absolute local path"
    } else if output.await_claim && !(streams_in && streams_out && args.remote.sdk_url.is_none()) {
        "--await-claim requires --print with --input-format=stream-json and \
         --output-format=stream-json."
    } else if output.await_claim && (resumes || session.fork_session) {
        "--await-claim cannot be combined with --continue, --resume or --fork-session."
    } else if in_initialize
        && !(output.await_initialize && streams_in && args.remote.sdk_url.is_none())
    {
        "--managed-settings-in-initialize requires --await-initialize and \
         --input-format=stream-json with stdin piped, and cannot be used with --sdk-url or a \
         subcommand."
    } else if in_initialize && args.sources.managed_settings.is_some() {
        "--managed-settings-in-initialize cannot be used with --managed-settings."
    } else if session.session_id.is_some() && resumes && !session.fork_session {
        "--session-id can only be used with --continue or --resume if --fork-session is also \
         specified."
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
