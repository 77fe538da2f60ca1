//! HTTP connections: how many there may be, and how long each may take to name its request.
//!
//! Both hold before a token is looked at, so they are what a stranger can use up.

use std::{io, pin::pin, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time,
};
use tokio_util::sync::CancellationToken;

/// Connections at a time. More wait in the system's queue. Half of the descriptors that a process
/// usually may have, so that tools find some.
pub(crate) const MAX_CONNECTIONS: usize = 512;

/// How long a client may take for the head of a request, also of the next one on a connection that
/// it keeps.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Bytes of the head of a request. Longer than that a token or a cookie never is.
const HEAD_BYTES: usize = 64 * 1024;

/// A pause when the system has no descriptor left to give.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(50);

/// Limits of connections, as tests change them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) head_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: MAX_CONNECTIONS, head_time: HEAD_TIME }
    }
}

/// Serves connections until `stop` fires, and then those there are until each has its response.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_buf_size(HEAD_BYTES);
    let mut connections = JoinSet::new();
    loop {
        let has_room = connections.len() < limits.connections;
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(http.clone(), stream, router.clone(), stop.clone()));
                }
                Err(error) => pause_after(&error).await,
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// One connection, until it ends or `stop` fires and its request has been answered.
async fn converse(
    http: http1::Builder,
    stream: TcpStream,
    router: Router,
    stop: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "responses may be late");
    }
    let service = TowerToHyperService::new(router);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Errors of single connections are over with them; others need some time.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, "a client could not be let in");
        time::sleep(OUT_OF_DESCRIPTORS).await;
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        time::{Instant, timeout},
    };

    use super::*;

    /// Longer than anything here takes.
    const PATIENCE: Duration = Duration::from_secs(30);

    async fn listen(connections: usize, head_time: Duration) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let router = Router::new().route("/", get(async || "here"));
        let limits = Limits { connections, head_time };
        tokio::spawn(serve(listener, router, limits, CancellationToken::new()));
        port
    }

    async fn dial(port: u16) -> TcpStream {
        TcpStream::connect(("127.0.0.1", port)).await.unwrap()
    }

    /// What is answered before the connection ends.
    async fn ask(stream: &mut TcpStream) -> String {
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).await.unwrap();
        heard
    }

    #[tokio::test]
    async fn a_head_that_drips_in_is_not_waited_for() {
        let port = listen(1, Duration::from_millis(300)).await;
        let (mut slow, began) = (dial(port).await, Instant::now());
        let drip = async {
            slow.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
            // Each byte comes in time, and the last never does.
            while slow.write_all(b"X").await.is_ok() {
                time::sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, drip).await.expect("the connection is closed");
        assert!(began.elapsed() >= Duration::from_millis(300));
        // Nor is one that stays silent.
        let mut silent = dial(port).await;
        let mut heard = Vec::new();
        timeout(PATIENCE, silent.read_to_end(&mut heard)).await.expect("it is closed").ok();
        assert!(timeout(PATIENCE, ask(&mut dial(port).await)).await.unwrap().ends_with("here"));
    }

    #[tokio::test]
    async fn connections_beyond_the_limit_wait() {
        let port = listen(2, PATIENCE).await;
        let (first, _second) = (dial(port).await, dial(port).await);
        let mut third = dial(port).await;
        let mut asked = pin!(ask(&mut third));
        assert!(timeout(Duration::from_millis(200), &mut asked).await.is_err());
        drop(first);
        assert!(timeout(PATIENCE, asked).await.unwrap().ends_with("here"));
    }
}
