//! A host that somebody else could have written: a plain WebSocket server.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request, Response},
        http::HeaderMap,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use crate::rig::soon;

/// A server.
pub(crate) struct PlainHost {
    listener: TcpListener,
}

impl PlainHost {
    pub(crate) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/agents/1?x=y", self.address())
    }

    /// The next connection, which is told nothing.
    pub(crate) async fn accept(&self) -> Connection {
        self.accept_knowing(None).await
    }

    /// The next connection, which is told what was last heard.
    pub(crate) async fn accept_knowing(&self, last_received: Option<&str>) -> Connection {
        let (stream, _) = soon("a dial", self.listener.accept()).await.unwrap();
        Connection::over(stream, last_received).await.unwrap()
    }

    /// The next connection that somebody still waits for: dials that were given up are passed over.
    pub(crate) async fn accept_patiently(&self, last_received: Option<&str>) -> Connection {
        loop {
            if let Ok(connection) = Connection::over(self.accept_raw().await, last_received).await {
                return connection;
            }
        }
    }

    /// The next connection, before any handshake.
    pub(crate) async fn accept_raw(&self) -> TcpStream {
        soon("a dial", self.listener.accept()).await.unwrap().0
    }
}

/// A connection to an agent.
pub(crate) struct Connection {
    stream: WebSocketStream<TcpStream>,
    pub(crate) headers: HeaderMap,
    pub(crate) path: String,
    /// How many lines it has heard.
    heard: u64,
}

impl Connection {
    pub(crate) async fn over(
        stream: TcpStream,
        last_received: Option<&str>,
    ) -> Result<Self, tokio_tungstenite::tungstenite::Error> {
        let (mut headers, mut path) = (HeaderMap::new(), String::new());
        #[expect(clippy::result_large_err, reason = "the WebSocket library wants it so")]
        let answer = |request: &Request, mut response: Response| -> Result<_, ErrorResponse> {
            headers = request.headers().clone();
            path = request.uri().to_string();
            if let Some(uuid) = last_received {
                response.headers_mut().insert("X-Last-Request-Id", uuid.parse().unwrap());
            }
            Ok(response)
        };
        let stream = accept_hdr_async(stream, answer).await?;
        Ok(Self { stream, headers, path, heard: 0 })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) async fn say(&mut self, line: &Value) {
        self.say_text(format!("{line}\n")).await;
    }

    pub(crate) async fn say_text(&mut self, text: String) {
        // Nobody may be there to hear it.
        self.stream.send(Message::text(text)).await.ok();
    }

    pub(crate) async fn prompt(&mut self, uuid: &str, script: &str) {
        self.say(&prompt(uuid, script)).await;
    }

    pub(crate) async fn answer(&mut self, question: &Value, response: Value) {
        self.say(&json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": question["request_id"], "response": response,
        }}))
        .await;
    }

    /// The next line; `None` when the connection has ended.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        loop {
            match soon("a line", self.stream.next()).await? {
                Ok(Message::Text(text)) => {
                    assert!(text.ends_with('\n') && text.matches('\n').count() == 1, "{text:?}");
                    self.heard += 1;
                    return Some(serde_json::from_str(&text).unwrap());
                }
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The next line of this type, or with this subtype; those before it are skipped.
    pub(crate) async fn await_kind(&mut self, kind: &str) -> Value {
        let of_kind = async {
            loop {
                let line = self.hear().await.unwrap_or_else(|| panic!("no {kind}"));
                if [&line["type"], &line["subtype"], &line["request"]["subtype"]]
                    .contains(&&json!(kind))
                {
                    return line;
                }
            }
        };
        soon(kind, of_kind).await
    }

    /// Waits for the ping behind the last line that was heard, on an agent's first connection. The
    /// pong to it tells the agent that all lines have arrived.
    pub(crate) async fn await_last_ping(&mut self) {
        loop {
            match soon("a ping", self.stream.next()).await.unwrap().unwrap() {
                Message::Ping(number) if *number == self.heard.to_be_bytes() => {
                    return self.stream.flush().await.unwrap();
                }
                Message::Text(_) => self.heard += 1,
                _ => {}
            }
        }
    }

    /// Ends the session.
    pub(crate) async fn hang_up(self) {
        self.close_with(1000).await;
    }

    pub(crate) async fn close_with(mut self, code: u16) {
        // Nobody may be there to hear it.
        self.stream.close(Some(goodbye(code))).await.ok();
        while self.hear().await.is_some() {}
    }
}

pub(crate) fn goodbye(code: u16) -> CloseFrame {
    CloseFrame { code: CloseCode::from(code), reason: "".into() }
}

pub(crate) fn prompt(uuid: &str, script: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": script}})
}
