//! Output: ordered, one line each, with back-pressure.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bowline_peer::{Link, Options, SendError};
use bowline_protocol::RawJson;
use serde_json::json;
use tokio::{io::AsyncWrite, sync::mpsc};

use crate::rig::{near, rig};

#[tokio::test]
async fn lines_leave_in_the_order_of_sending() {
    let (near, mut far) = rig(Options::default());
    let speak = async {
        for n in 0..10_000 {
            near.peer.send(&n).await.unwrap();
        }
    };
    let listen = async {
        for n in 0..10_000 {
            assert_eq!(far.receive().await, n);
        }
    };
    tokio::join!(speak, listen);
}

#[tokio::test]
async fn every_message_is_one_line() {
    let (near, mut far) = rig(Options::default());
    let laid_out = RawJson::from_text("{\n  \"a\": [1,\r\n 2]\n}".to_owned()).unwrap();
    near.peer.send(&json!({"raw": laid_out, "text": "a\nb\u{2028}c\u{2029}d"})).await.unwrap();
    near.peer.send_line("{\n}".to_owned()).await.unwrap();
    for expected in [json!({"raw": {"a": [1, 2]}, "text": "a\nb\u{2028}c\u{2029}d"}), json!({})] {
        let line = far.lines.recv().await.unwrap();
        assert!(!line.contains(['\n', '\r', '\u{2028}', '\u{2029}']), "{line}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn senders_wait_while_the_other_end_does_not_read() {
    let (near, mut far) = rig(Options::default());
    let line = "x".repeat(10_000);
    let mut said = 0;
    while tokio::time::timeout(Duration::from_secs(1), near.peer.send(&line)).await.is_ok() {
        said += 1;
        assert!(said < 10_000, "no end of room");
    }
    assert!(said >= 100, "a mebibyte waits, not just {said} lines");
    // Every line that was sent comes out, and the one whose send was dropped does not.
    near.peer.send_line("\"last\"".to_owned()).await.unwrap_or_else(|_| unreachable!());
    for _ in 0..said {
        assert_eq!(far.receive().await.as_str().unwrap().len(), line.len());
    }
    assert_eq!(far.receive().await, "last");
}

#[tokio::test]
async fn end_of_output_stops_sending_but_not_receiving() {
    let (mut near, mut far) = rig(Options::default());
    near.peer.send(&1).await.unwrap();
    near.peer.end_output();
    assert!(matches!(near.peer.send(&2).await, Err(SendError::Closed)));
    assert_eq!(far.receive().await, 1);
    assert_eq!(far.lines.recv().await, None);
    far.send(json!({"type": "result"})).await;
    assert_eq!(near.inbox.next().await.unwrap().text, r#"{"type":"result"}"#);
}

#[tokio::test]
async fn output_ends_when_the_other_end_stops_reading() {
    let (near, far) = rig(Options::default());
    drop(far.lines);
    near.peer.send(&json!({"type": "user"})).await.unwrap();
    // Without another word: the first one that could not be written is enough.
    near.peer.output_ended().await;
}

/// Gives what was written on when it is flushed, and only then.
struct Lazy {
    written: Vec<u8>,
    flushed: mpsc::UnboundedSender<Vec<u8>>,
}

impl AsyncWrite for Lazy {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.written.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = std::mem::take(&mut self.written);
        self.flushed.send(written).unwrap();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn the_last_line_is_flushed() {
    let (flushed, mut seen) = mpsc::unbounded_channel();
    let lazy = Lazy { written: Vec::new(), flushed };
    let near = near(Link::stream(tokio::io::empty(), lazy), Options::default());
    near.peer.send(&json!({"type": "result"})).await.unwrap();
    near.may_stop.add_permits(1);
    near.session.await.unwrap().unwrap();
    let mut all = Vec::new();
    while let Some(bytes) = seen.recv().await {
        all.extend(bytes);
    }
    assert_eq!(all, b"{\"type\":\"result\"}\n");
}
