//! Process of an agent's program that communicates in another way than over its pipes.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, process::Stdio};

use bowline_process::{ProcessGroup, group_command, set_variables};
use tokio::time;
use tokio_util::task::AbortOnDropHandle;

use super::{
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
    let mut command = group_command(&program);
    command.args(arguments);
    set_variables(&mut command, &variables);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let failed = |error| Error::connection(format!("starting {}", program.display()), error);
    let mut child = command.spawn().map_err(failed)?;
    let group = ProcessGroup::of_agent(&child).map_err(failed)?;
    let tail = Tail::default();
    let stderr = child.stderr.take().map(|stderr| stderr::read(stderr, tail.clone(), None));
    let stderr = stderr.map(|reading| AbortOnDropHandle::new(tokio::spawn(reading)));
    let status = child.wait().await;
    group.terminate_rest();
    if let Some(reading) = stderr {
        time::timeout(LAST_WORDS, reading).await.ok();
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        status => Err(Error::Process(ending(status, tail.text()))),
    }
}
