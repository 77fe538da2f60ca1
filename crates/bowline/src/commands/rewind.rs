//! `--resume SESSION --rewind-files MESSAGE`: restores files from checkpoints and exits.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use bowline_protocol::MessageUuid;
use bowline_sessions::{Checkpoints, ConfigHome, Rewind, Target, find};

use crate::{args::RunArgs, environment::Environment, print_line};

/// Restores the files of a session as they were before a prompt.
pub(crate) fn run(
    args: &RunArgs,
    environment: &Environment,
    cwd: &Path,
) -> anyhow::Result<ExitCode> {
    let session = args.session.resume.as_deref().filter(|session| !session.is_empty());
    let (Some(session), Some(prompt)) = (session, &args.session.rewind_files) else {
        anyhow::bail!("Error: --rewind-files requires --resume");
    };
    let home = ConfigHome::new(environment.config_dir());
    let Target::Session(files) = find(&home, session, cwd).map_err(anyhow::Error::new)? else {
        anyhow::bail!(
            "Error: there is no session {session}, so there are no checkpoints to restore"
        );
    };
    let added: Vec<_> = args.permissions.add_dir.iter().map(|folder| cwd.join(folder)).collect();
    let copies = Checkpoints::load(
        home.file_history(files.id()),
        cwd,
        added.iter().map(PathBuf::as_path),
        &files.transcript(),
    )?;
    let report = copies.rewind(&MessageUuid::from(prompt.as_str()), Rewind::Restore);
    match report.error {
        Some(error) => anyhow::bail!("Error: {error}"),
        None => print_line(&format!("Files rewound to state at message {prompt}")),
    }
}
