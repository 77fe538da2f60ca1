//! The port of this machine that the browser comes back to.

use std::{io, net::Ipv4Addr, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

/// How long a visitor may take to say what it wants. Browsers open connections ahead of time.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// More than any address with a code in it needs.
const MAX_HEAD: u64 = 64 * 1024;

/// More at once are no browser.
const MAX_VISITORS: usize = 16;

/// The path that the browser comes back to.
const PATH: &str = "/callback";

/// Waits for the browser.
pub(crate) struct Listener {
    socket: TcpListener,
    pub(crate) port: u16,
    /// Those that have come and not yet said what they want.
    visitors: JoinSet<Option<Visit>>,
}

/// The browser, back from the authorization server.
pub(crate) struct Visit {
    stream: BufReader<TcpStream>,
    /// The whole address it came to.
    pub(crate) url: String,
}

impl Listener {
    /// Takes this port, or any.
    pub(crate) async fn bind(port: Option<u16>) -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = socket.local_addr()?.port();
        Ok(Self { socket, port, visitors: JoinSet::new() })
    }

    /// Where the authorization server is to send the browser.
    pub(crate) fn redirect_uri(&self) -> String {
        format!("http://localhost:{}{PATH}", self.port)
    }

    /// The next visit to the one page that is here.
    pub(crate) async fn next(&mut self) -> Visit {
        loop {
            tokio::select! {
                accepted = self.socket.accept(), if self.visitors.len() < MAX_VISITORS => {
                    match accepted {
                        Ok((stream, _)) => {
                            let head = timeout(HEAD_TIME, receive(stream, self.redirect_uri()));
                            self.visitors.spawn(async { head.await.ok()?.ok()? });
                        }
                        Err(error) => tracing::debug!(%error, "a visitor was gone at once"),
                    }
                }
                Some(visit) = self.visitors.join_next() => {
                    if let Ok(Some(visit)) = visit {
                        return visit;
                    }
                }
            }
        }
    }
}

/// Reads a request. Any but that for the one page gets 404.
async fn receive(stream: TcpStream, redirect_uri: String) -> io::Result<Option<Visit>> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    let mut head = (&mut stream).take(MAX_HEAD);
    head.read_line(&mut first).await?;
    let mut line = String::new();
    while head.read_line(&mut line).await? > 0 && line.trim_end() != "" {
        line.clear();
    }
    let target = first.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    let query = target.and_then(|target| target.strip_prefix(PATH));
    match query.filter(|query| query.is_empty() || query.starts_with('?')) {
        Some(query) => Ok(Some(Visit { stream, url: redirect_uri + query })),
        None => {
            reply(stream, "404 Not Found", "There is nothing here.").await?;
            Ok(None)
        }
    }
}

impl Visit {
    /// Shows the user the outcome, unless the browser has gone.
    pub(crate) async fn reply(self, status: &str, text: &str) {
        if let Err(error) = reply(self.stream, status, text).await {
            tracing::debug!(%error, "the browser is gone");
        }
    }
}

async fn reply(mut stream: BufReader<TcpStream>, status: &str, text: &str) -> io::Result<()> {
    let length = text.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{text}"
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}
