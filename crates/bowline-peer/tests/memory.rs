//! Memory stays flat however much is unread. A process of its own, because it measures the process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use bowline_peer::{Link, Options, Request, Service, connect};
use bowline_protocol::{Failure, Success};
use tokio_util::sync::CancellationToken;

struct Nothing;

impl Service for Nothing {
    async fn request(&self, _: Request, _: CancellationToken) -> Result<Success, Failure> {
        Ok(Success::default())
    }
}

/// The most memory this process has had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_hundred_megabytes_unread_cost_what_the_inbox_may_hold() {
    const COUNT: usize = 100_000;
    let (here, there) = Link::pair();
    let (speaker, _, speaking) = connect(here, Nothing, Options::default());
    let (listener, mut inbox, listening) = connect(there, Nothing, Options::default());
    let sessions = [tokio::spawn(speaking), tokio::spawn(listening)];
    let before = peak();
    let padding = "x".repeat(1000);
    for n in 0..COUNT {
        speaker.send(&(n, &padding)).await.unwrap();
    }
    // Everything has arrived when a question behind it is answered.
    speaker.request_raw(&1).await.unwrap();
    for n in 0..COUNT {
        let line = inbox.next().await.unwrap();
        assert!(line.text.starts_with(&format!("[{n},")));
    }
    let grown = (peak() - before) / (1024 * 1024);
    assert!(grown < 24, "{grown} MiB for an inbox of 8");
    listener.close();
    for session in sessions {
        session.await.unwrap().unwrap();
    }
}
