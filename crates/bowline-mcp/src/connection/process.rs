//! Process of a stdio server: its process group, and the tail of its stderr.

use std::{io, process::Stdio, sync::Arc, time::Duration};

use bowline_process::{ProcessGroup, StopGrace, group_command, set_variables};
use bowline_protocol::McpStdioServer;
use bowline_tools::{MODEL_KEYS, Workspace};
use tokio::{
    io::AsyncReadExt,
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    time::timeout,
};
use tokio_util::task::AbortOnDropHandle;

use crate::{config::Scope, stderr_tail::StderrTail};

/// Grace period for a server to exit after its input has ended, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// A running program. Dropping it kills the whole group, and so does the death of this process.
pub(crate) struct Process {
    // Dropped first: the number of the group is sure to be ours while its leader is not reaped.
    group: ProcessGroup,
    child: Child,
    stderr: Arc<StderrTail>,
    drain: AbortOnDropHandle<()>,
}

impl Process {
    /// Starts the program in the workspace's directory and environment. One that a project
    /// configures gets no API keys of models, unless its configuration names them.
    pub(super) fn start(
        config: &McpStdioServer,
        scope: Scope,
        workspace: &Workspace,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = group_command(&config.command);
        command
            .args(config.args.iter().flatten())
            .current_dir(workspace.start_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        set_variables(&mut command, &workspace.environment());
        if scope.is_projects() {
            for name in MODEL_KEYS {
                command.env_remove(name);
            }
        }
        command.envs(config.env.iter().flatten());
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the program has no pipes");
        let group = ProcessGroup::led_by(&child)?;
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = Arc::new(StderrTail::default());
        let drain = child.stderr.take().ok_or_else(missing)?;
        let drain = AbortOnDropHandle::new(tokio::spawn(drain_into(drain, Arc::clone(&stderr))));
        Ok((Self { group, child, stderr, drain }, stdout, stdin))
    }

    /// The tail of its stderr, also after it has exited.
    pub(super) fn stderr(&self) -> Arc<StderrTail> {
        Arc::clone(&self.stderr)
    }

    /// Ends it, its input being closed already: waits, then sends SIGTERM, then SIGKILL.
    pub(super) async fn end(mut self) {
        let grace = StopGrace { end_of_input: GRACE, terminate: GRACE };
        if let Err(error) = self.group.stop(&mut self.child, grace).await {
            tracing::warn!(%error, "the exit status of an MCP server is unknown");
        }
        // Kills what the server started and left running.
        drop(self.group);
        // The last of stderr may still be in the pipe.
        let _ = timeout(GRACE, self.drain).await;
    }
}

async fn drain_into(mut stderr: ChildStderr, tail: Arc<StderrTail>) {
    let mut chunk = [0; 4096];
    while let Ok(read) = stderr.read(&mut chunk).await {
        if read == 0 {
            return;
        }
        tail.push(&chunk[..read]);
    }
}
