//! A server on a real socket that responds with the bytes of a test.

use std::time::Duration;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::task::AbortOnDropHandle;

/// What the server does after it has read a request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends these bytes as they are.
    Raw(Vec<u8>),
    /// Sends one chunk of a chunked body.
    Chunk(Vec<u8>),
    /// Ends a chunked body properly.
    End,
    /// Waits until the client goes away.
    Hold,
}

/// What a client sent.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Received {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Serves one connection after the other from its list.
pub(crate) struct OddServer {
    pub(crate) url: String,
    requests: mpsc::UnboundedReceiver<Received>,
    /// One message for each client that a `Hold` has seen go.
    gone: mpsc::UnboundedReceiver<()>,
    _task: AbortOnDropHandle<()>,
}

/// Nothing here takes long unless it is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

impl OddServer {
    /// A server with a new connection for every response.
    pub(crate) async fn new(responses: Vec<Vec<Step>>) -> Self {
        Self::start(responses.into_iter().map(|response| vec![response]).collect()).await
    }

    /// A server with a single connection for all requests.
    pub(crate) async fn on_one_connection(responses: Vec<Vec<Step>>) -> Self {
        Self::start(vec![responses]).await
    }

    /// A server with these responses on each of these connections.
    async fn start(connections: Vec<Vec<Vec<Step>>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (request, requests) = mpsc::unbounded_channel();
        let (went, gone) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            for responses in connections {
                let (mut socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                for steps in responses {
                    let _ = request.send(read_request(&mut socket).await);
                    for step in steps {
                        perform(step, &mut socket, &went).await;
                    }
                }
            }
        });
        Self { url, requests, gone, _task: AbortOnDropHandle::new(task) }
    }

    /// A server for one request.
    pub(crate) async fn once(steps: Vec<Step>) -> Self {
        Self::new(vec![steps]).await
    }

    /// The next request.
    pub(crate) async fn request(&mut self) -> Received {
        let next = tokio::time::timeout(PATIENCE, self.requests.recv()).await;
        next.expect("a request comes in time").expect("the server runs")
    }

    /// Waits until a client has gone away.
    pub(crate) async fn client_gone(&mut self) {
        let gone = tokio::time::timeout(PATIENCE, self.gone.recv()).await;
        gone.expect("the client goes away in time").expect("the server runs");
    }
}

async fn perform(step: Step, socket: &mut TcpStream, went: &mpsc::UnboundedSender<()>) {
    // The client may be gone.
    match step {
        Step::Raw(bytes) => drop(socket.write_all(&bytes).await),
        Step::Chunk(bytes) => {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend(bytes);
            chunk.extend(b"\r\n");
            drop(socket.write_all(&chunk).await);
        }
        Step::End => drop(socket.write_all(b"0\r\n\r\n").await),
        Step::Hold => {
            let mut rest = [0; 64];
            while matches!(socket.read(&mut rest).await, Ok(1..)) {}
            let _ = went.send(());
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Received {
    let mut bytes = Vec::new();
    let end = loop {
        let mut piece = [0; 4096];
        let count = socket.read(&mut piece).await.unwrap();
        assert!(count > 0, "the client sends a whole request");
        bytes.extend(&piece[..count]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut received =
        Received { path: head.split(' ').nth(1).unwrap().to_owned(), head, body: Value::Null };
    let length: usize = received.header("content-length").unwrap().parse().unwrap();
    let mut body = bytes.split_off(end);
    let missing = length - body.len();
    let mut rest = vec![0; missing];
    socket.read_exact(&mut rest).await.unwrap();
    body.extend(rest);
    received.body = serde_json::from_slice(&body).unwrap();
    received
}

/// The head of a streamed response on a connection that stays open.
pub(crate) fn lasting_stream_head() -> Step {
    Step::Raw(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec(),
    )
}

/// The head of a streamed response.
pub(crate) fn stream_head() -> Step {
    Step::Raw(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\
          connection: close\r\n\r\n"
            .to_vec(),
    )
}

/// A streamed response that ends properly.
pub(crate) fn streamed(body: &str) -> Vec<Step> {
    vec![stream_head(), Step::Chunk(body.into()), Step::End]
}

/// A streamed response whose connection breaks.
pub(crate) fn cut(body: &str) -> Vec<Step> {
    vec![stream_head(), Step::Chunk(body.into())]
}

/// A response in one piece.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<Step> {
    vec![Step::Raw(
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: \
             {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .into_bytes(),
    )]
}
