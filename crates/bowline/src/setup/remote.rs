//! Remote log of a session, as the command line selects it.

use bowline_engine::settings::Settings;
use bowline_protocol::RawJson;

use super::SetupError;
use crate::{args::SessionArgs, environment::Environment, remote_log::RemoteLog};

/// The log that the command line names, if it names one.
pub(super) fn log(
    args: &SessionArgs,
    environment: &Environment,
    settings: &Settings,
) -> Result<Option<RemoteLog>, SetupError> {
    let token = environment.session_access_token();
    let log = match (&args.teleport, args.resume.as_deref()) {
        (Some(id), _) => {
            let server = environment.session_server().or_else(|| named(settings));
            let server = server.ok_or(
                "--teleport needs a server: name it in the setting bowline.sessionServer or in \
                 BOWLINE_SESSION_SERVER",
            )?;
            RemoteLog::of_session(server, id, token)
        }
        (None, Some(target)) if RemoteLog::is_address(target) => RemoteLog::new(target, token),
        _ => return Ok(None),
    };
    if args.no_session_persistence {
        return Err("--no-session-persistence cannot be used with a session that a server keeps: \
                    what is stored there comes from the transcript"
            .into());
    }
    log.map(Some).map_err(|error| error.to_string().into())
}

/// Fetches a log. The session does not run yet, so nothing else waits.
pub(super) fn fetch(log: &RemoteLog) -> Result<Vec<RawJson>, SetupError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(log.fetch()).map_err(|error| error.to_string().into())
}

/// The server that settings name. It gets a token and the whole log: the settings of a project that
/// is not trusted come without one.
fn named(settings: &Settings) -> Option<&str> {
    settings.known().bowline.session_server.as_deref()
}
