//! An agent's program that is spoken to in another way than over its pipes.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, process::Stdio};

use tokio::{process::Command, time};
use tokio_util::task::AbortOnDropHandle;

use super::{
    group::Group,
    guardian::Guardian,
    life::{LAST_WORDS, ending},
    locate::locate,
    stderr::{self, Tail},
};
use crate::Error;

/// Runs a program until it ends. Dropped before, it takes the program with it.
pub(crate) async fn run(
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: BTreeMap<String, Option<String>>,
    cwd: Option<PathBuf>,
) -> Result<(), Error> {
    let program = locate(Some(&program))?;
    let mut command = Command::new(&program);
    command.args(arguments);
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.kill_on_drop(true).process_group(0);
    let failed = |error| Error::connection(format!("starting {}", program.display()), error);
    let mut child = command.spawn().map_err(failed)?;
    let group = Group::led_by(child.id());
    let mut guardian = Guardian::over(child.id());
    let tail = Tail::default();
    let stderr = child.stderr.take().map(|stderr| stderr::read(stderr, tail.clone(), None));
    let stderr = stderr.map(|reading| AbortOnDropHandle::new(tokio::spawn(reading)));
    let status = child.wait().await;
    group.outlive();
    guardian.dismiss().await;
    if let Some(reading) = stderr {
        time::timeout(LAST_WORDS, reading).await.ok();
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        status => Err(Error::Process(ending(status, tail.text()))),
    }
}
