//! Fetching pages from a server on this machine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline_tools::{Access, Summarize};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_util::task::AbortOnDropHandle;

use crate::rig::Rig;

/// Responds to every request with what `answer` returns for its path.
struct Server {
    base: String,
    requests: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let mut request = vec![0; 8192];
                let read = stream.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..read]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
                let _ = stream.write_all(&answer(&path)).await;
            }
        });
        Self { base, requests, _task: AbortOnDropHandle::new(task) }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut response = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    )
    .into_bytes();
    response.extend_from_slice(body);
    response
}

fn page(kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    response("200 OK", &format!("Content-Type: {kind}\r\n"), body)
}

fn open() -> Rig {
    Rig::options(|options| options.private_addresses = true)
}

fn about(url: &str) -> Value {
    json!({ "url": url, "prompt": "What is it about?" })
}

#[tokio::test]
async fn a_page_becomes_markdown_and_is_fetched_once() {
    let server = Server::start(|_| {
        page("text/html; charset=utf-8", "<h1>Knots</h1><p>A <b>bowline</b> holds.</p>")
    })
    .await;
    let rig = open();
    let url = server.url("/");
    let (text, object) = rig.ok("WebFetch", about(&url)).await;
    assert_eq!(text, "# Knots\n\nA **bowline** holds.");
    assert_eq!(
        (&object["code"], &object["codeText"], &object["bytes"], &object["url"]),
        (&json!(200), &json!("OK"), &json!(44), &json!(url))
    );
    assert_eq!(object["result"], text);
    assert_eq!(rig.text("WebFetch", about(&url)).await, text);
    assert_eq!(server.requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn private_addresses_are_not_reached_by_default() {
    let server = Server::start(|_| page("text/plain", "secret")).await;
    let rig = Rig::new();
    let text = rig.error("WebFetch", about(&server.url("/"))).await;
    assert!(text.starts_with("WebFetch cannot fetch 127.0.0.1: "), "{text}");
    let text = rig.error("WebFetch", about("http://localhost/")).await;
    assert!(text.starts_with("WebFetch cannot fetch localhost: "), "{text}");
    assert_eq!(server.requests.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn redirects_stay_on_the_site() {
    let server = Server::start(|path| match path {
        "/here" => response("302 Found", "Location: /there\r\n", ""),
        "/away" => response("301 Moved Permanently", "Location: https://example.com/x\r\n", ""),
        "/round" => response("302 Found", "Location: /round\r\n", ""),
        _ => page("text/plain", "arrived"),
    })
    .await;
    let rig = open();
    assert_eq!(rig.text("WebFetch", about(&server.url("/here"))).await, "arrived");
    let (text, object) = rig.ok("WebFetch", about(&server.url("/away"))).await;
    assert!(text.starts_with("REDIRECT DETECTED:"), "{text}");
    assert!(text.contains("https://example.com/x") && text.contains(&server.url("/away")));
    assert_eq!(object["code"], 301);
    let text = rig.error("WebFetch", about(&server.url("/round"))).await;
    assert!(text.starts_with("Too many redirects"), "{text}");
}

#[tokio::test]
async fn http_error_is_a_result() {
    let server = Server::start(|_| response("404 Not Found", "", "no")).await;
    let (text, object) = open().ok("WebFetch", about(&server.url("/"))).await;
    assert!(text.starts_with("The server returned HTTP 404 Not Found."), "{text}");
    assert_eq!((&object["code"], &object["bytes"]), (&json!(404), &json!(0)));
}

#[tokio::test]
async fn long_pages_are_truncated_and_huge_ones_refused() {
    let server = Server::start(|path| match path {
        "/huge" => page("text/plain", vec![b'x'; (10 << 20) + 1]),
        _ => page("text/plain", format!("{}END", "x".repeat(100_000))),
    })
    .await;
    let rig = open();
    let text = rig.text("WebFetch", about(&server.url("/"))).await;
    assert!(text.ends_with("Go on with offset 100000.]"), "{}", &text[text.len() - 200..]);
    let mut rest = about(&server.url("/"));
    rest["offset"] = 100_000.into();
    assert_eq!(rig.text("WebFetch", rest).await, "END");
    assert_eq!(
        rig.error("WebFetch", about(&server.url("/huge"))).await,
        "maxContentLength size of 10485760 exceeded"
    );
}

#[tokio::test]
async fn binary_response_is_saved() {
    let server = Server::start(|_| page("application/zip", b"PK\x03\x04")).await;
    let rig = open();
    let text = rig.text("WebFetch", about(&server.url("/"))).await;
    let saved = rig.outside().join("results/toolu_test.bin");
    assert_eq!(
        text,
        format!("[Binary content (application/zip, 4 bytes) also saved to {}]", saved.display())
    );
    assert_eq!(std::fs::read(saved).unwrap(), b"PK\x03\x04");
}

#[tokio::test]
async fn unresponsive_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let rig = Rig::options(|options| {
        options.private_addresses = true;
        options.fetch_timeout = Duration::from_millis(100);
    });
    let text = rig.error("WebFetch", about(&url)).await;
    assert!(text.starts_with("The page did not arrive within"), "{text}");
    drop(listener);
    let text = rig.error("WebFetch", about(&url)).await;
    assert!(text.contains("refused"), "{text}");
}

/// Answers with both things it was given.
struct Echo;

impl Summarize for Echo {
    fn summarize<'a>(
        &'a self,
        page: &'a str,
        prompt: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move { Ok(format!("{prompt} {page}")) })
    }
}

#[tokio::test]
async fn summarizer_answers_the_prompt() {
    let server = Server::start(|_| page("text/markdown", "Knots.")).await;
    let rig = Rig::with(|setup| {
        setup.options.private_addresses = true;
        setup.summarize = Some(Arc::new(Echo));
    });
    let text = rig.text("WebFetch", about(&server.url("/"))).await;
    assert_eq!(text, "What is it about? Knots.");
}

#[tokio::test]
async fn invalid_urls_are_reported() {
    let rig = open();
    assert_eq!(rig.error("WebFetch", about("file:///etc/passwd")).await, "Invalid URL");
    assert_eq!(
        rig.error("WebFetch", about("ftp://example.com/")).await,
        "Unsupported protocol ftp:"
    );
    let text = rig.error("WebFetch", about("not an address")).await;
    assert!(text.contains("invalid_format"), "{text}");
    let fetch = rig.registry.find("WebFetch").unwrap();
    assert_eq!(
        fetch.access(&about("https://example.com/"), &rig.workspace),
        Access::Fetch("https://example.com/".to_owned())
    );
    // Rules about hosts see the one that will be contacted.
    assert_eq!(
        fetch.access(&about("https://ex%61mple.c\tom"), &rig.workspace),
        Access::Fetch("https://example.com/".to_owned())
    );
}
