//! Selection of the session: a new one, or one that is resumed.

use bowline_engine::SessionConfig;
use bowline_protocol::{MessageUuid, RawJson};
use bowline_sessions::{Mirroring, ProjectKey, StartFrom, StartOptions};

use super::SetupError;
use crate::{args::SessionArgs, environment::Environment};

/// Resumes the session that the command line names, or begins a new one.
pub(super) fn open(
    config: &mut SessionConfig,
    args: &SessionArgs,
    environment: &Environment,
    fetched: Option<Vec<RawJson>>,
) -> Result<(), SetupError> {
    let mirroring = match (&fetched, args.session_mirror) {
        // A remote log has each line before its message is emitted.
        (Some(_), _) => Mirroring::AtOnce,
        (None, true) => Mirroring::Ended,
        (None, false) => Mirroring::No,
    };
    let from = match (fetched, args.resume.as_deref()) {
        (Some(lines), _) => StartFrom::Lines(lines),
        (None, Some("")) => {
            return Err(SetupError::RESUME.into());
        }
        (None, Some(target)) => StartFrom::Session(target.to_owned()),
        (None, None) if args.continue_newest => StartFrom::Newest,
        (None, None) => StartFrom::Nothing,
    };
    let uuid = |text: &Option<String>| text.as_deref().map(MessageUuid::from);
    let wanted = StartOptions {
        from,
        id: args.session_id.clone(),
        fork: args.fork_session,
        at: uuid(&args.resume_session_at),
        drops_turn: uuid(&args.resume_drops_turn),
        unsaved: args.no_session_persistence,
        mirroring,
    };
    let project = environment.project_dir_name().map(ProjectKey::from_name);
    Ok(config.resume(&wanted, project)?)
}
