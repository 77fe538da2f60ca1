//! The life of the agent's process, from its start to the moment it was waited for.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc, time::Duration};

use bowline_peer::{Peer, SessionFuture};
use bowline_process::{ProcessGroup, StopGrace};
use tokio::{process::Child, sync::watch, task::JoinHandle, time};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::stderr::Tail;
use crate::ProcessError;

/// How long we read on after the process has exited. Its pipes end with it, unless a process that
/// it started holds them open.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long a process that has closed its stdout may live on before it is terminated.
const MUTE: Duration = Duration::from_secs(1);

/// How the process ended; `None` while it has not.
pub(super) type Ended = watch::Receiver<Option<Arc<ProcessError>>>;

/// All that belongs to a running process.
pub(super) struct Life {
    /// Before the child: until that is dropped, it is not reaped and its number is not reused.
    pub(super) group: ProcessGroup,
    pub(super) child: Child,
    pub(super) peer: Peer,
    pub(super) wire: SessionFuture,
    pub(super) stderr: AbortOnDropHandle<()>,
    pub(super) tail: Tail,
    /// Fires when we want the process to end.
    pub(super) closing: CancellationToken,
    /// How long the process may take to end, and again to heed SIGTERM.
    pub(super) limit: Duration,
}

impl Life {
    /// Watches the process until it has exited and all its output was read.
    pub(super) fn begin(self) -> (AbortOnDropHandle<()>, Ended) {
        let (publish, ended) = watch::channel(None);
        let task: JoinHandle<()> = tokio::spawn(self.live(publish));
        (AbortOnDropHandle::new(task), ended)
    }

    async fn live(mut self, publish: watch::Sender<Option<Arc<ProcessError>>>) {
        let mut wire = AbortOnDropHandle::new(tokio::spawn(self.wire));
        let mut mute = false;
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = self.closing.cancelled() => {
                self.peer.end_output();
                let grace = StopGrace { end_of_input: self.limit, terminate: self.limit };
                self.group.stop(&mut self.child, grace).await
            }
            // It has closed its stdout, so it can send nothing more.
            over = &mut wire => {
                log_wire(over);
                mute = true;
                let grace =
                    StopGrace { end_of_input: MUTE.min(self.limit), terminate: self.limit };
                self.group.stop(&mut self.child, grace).await
            }
        };
        self.group.terminate_rest();
        // The tail must be complete before the end is published.
        time::timeout(LAST_WORDS, &mut self.stderr).await.ok();
        publish.send_replace(Some(Arc::new(ending(status, self.tail.text()))));
        if !mute && time::timeout(LAST_WORDS, &mut wire).await.is_err() {
            self.peer.close();
            wire.await.ok();
        }
    }
}

fn log_wire(over: Result<Result<(), bowline_peer::SessionError>, tokio::task::JoinError>) {
    match over {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the connection to the agent failed"),
        Err(error) => tracing::error!(%error, "the connection to the agent failed"),
    }
}

/// How a process ended, as an error.
pub(super) fn ending(status: std::io::Result<ExitStatus>, stderr: Arc<str>) -> ProcessError {
    let status = status.ok();
    let signal = status.and_then(|status| status.signal());
    ProcessError { code: status.and_then(|status| status.code()), signal, stderr }
}
