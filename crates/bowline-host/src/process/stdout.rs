//! The agent's stdout: a pipe that is enlarged in a flood.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, ReadBuf},
    process::ChildStdout,
};

/// What a pipe holds at first.
const USUAL: usize = 64 * 1024;

/// What it holds once it was found full: the agent is woken, and waits, half as often.
#[cfg(target_os = "linux")]
const WIDE: usize = 128 * 1024;

/// The stdout of an agent.
pub(super) struct Stdout {
    pipe: ChildStdout,
    is_usual: bool,
}

impl Stdout {
    pub(super) fn new(pipe: ChildStdout) -> Self {
        Self { pipe, is_usual: true }
    }

    /// Not at once: the system has only so much room for all pipes of a user, and most agents write
    /// little. Where it refuses, nothing is lost but time.
    #[cold]
    fn widen(&mut self) {
        self.is_usual = false;
        #[cfg(target_os = "linux")]
        if let Err(error) = rustix::pipe::fcntl_setpipe_size(&self.pipe, WIDE) {
            tracing::debug!(%error, "a pipe stays as it is");
        }
    }
}

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(context, buffer))?;
        if self.is_usual && buffer.filled().len() - before >= USUAL {
            self.widen();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{process::Stdio, time::Duration};

    use tokio::{io::AsyncReadExt, time};

    use super::*;

    /// The size of the pipe once all output of a process was read.
    async fn size_after(bytes: usize) -> usize {
        let script = format!("head -c {bytes} /dev/zero");
        let mut command = bowline_process::command("sh");
        let mut child = command.args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = Stdout::new(child.stdout.take().unwrap());
        // As from an agent that is faster than we are.
        while rustix::io::ioctl_fionread(&stdout.pipe).unwrap() < bytes.min(USUAL) as u64 {
            time::sleep(Duration::from_millis(1)).await;
        }
        let (mut read, mut chunk) = (0, vec![0; WIDE]);
        while read < bytes {
            read += stdout.read(&mut chunk).await.unwrap();
        }
        child.wait().await.unwrap();
        rustix::pipe::fcntl_getpipe_size(&stdout.pipe).unwrap()
    }

    #[tokio::test]
    async fn a_pipe_is_widened_only_for_an_agent_that_says_much() {
        assert_eq!(size_after(1000).await, USUAL);
        assert_eq!(size_after(4_000_000).await, WIDE);
    }
}
