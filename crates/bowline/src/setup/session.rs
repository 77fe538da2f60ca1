//! Which session is run: a new one, or one that is taken up again.

use std::path::Path;

use bowline_engine::settings::Places;
use bowline_protocol::{MessageUuid, RawJson};
use bowline_sessions::{
    ConfigHome, LineOrigin, ProjectKey, StartFrom, TakeUp, TakenUp, git_branch,
};

use super::SetupError;
use crate::{args::RunArgs, environment::Environment, version};

/// Finds the session that the command line names, or begins one.
pub(super) fn take_up(
    args: &RunArgs,
    environment: &Environment,
    places: &Places,
    cwd: &Path,
    entrypoint: &str,
    fetched: Option<Vec<RawJson>>,
) -> Result<TakenUp, SetupError> {
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
    let mirrored = args.session_mirror || fetched.is_some();
    let from = match (fetched, args.resume.as_deref()) {
        (Some(lines), _) => StartFrom::Lines(lines),
        (None, Some("")) => {
            return Err("--resume needs a session when nobody is there to choose: its id, its \
                        title, or its .jsonl file"
                .into());
        }
        (None, Some(target)) => StartFrom::Session(target.to_owned()),
        (None, None) if args.continue_newest => StartFrom::Newest,
        (None, None) => StartFrom::Nothing,
    };
    let uuid = |text: &Option<String>| text.as_deref().map(MessageUuid::from);
    let wanted = TakeUp {
        from,
        id: args.session_id.clone(),
        fork: args.fork_session,
        at: uuid(&args.resume_session_at),
        drops_turn: uuid(&args.resume_drops_turn),
        unsaved: args.no_session_persistence,
        mirrored,
    };
    Ok(wanted.open(&ConfigHome::new(&places.config_dir), &project, origin)?)
}
