//! Statuses, broken connections and silence.

use std::time::Duration;

use bowline_model::{Anthropic, AnthropicConfig, ErrorKind, ModelError, Timeouts};

use crate::{
    client::{anthropic, events, openai, prompt},
    odd_server::{OddServer, Step, stream_head, whole},
};

async fn failure(status: &str, headers: &str, body: &str) -> ModelError {
    let server = OddServer::once(whole(status, headers, body)).await;
    events(&anthropic(&server.url), prompt("hi")).await.unwrap_err()
}

#[tokio::test]
async fn status_error_has_all_details_of_the_server() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let headers = "retry-after: 7\r\nrequest-id: req_1\r\nx-should-retry: true\r\n";
    let error = failure("429 Too Many Requests", headers, body).await;
    assert_eq!(error.kind, ErrorKind::Status);
    assert_eq!(error.status, Some(429));
    assert_eq!(error.api_type.as_deref(), Some("rate_limit_error"));
    assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(error.should_retry, Some(true));
    assert_eq!(error.request_id.as_deref(), Some("req_1"));
    assert_eq!(error.to_string(), "429 slow down");
}

#[tokio::test]
async fn error_bodies_of_every_shape() {
    let table = [
        (r#"{"error":{"message":"a","type":"t","code":"c"}}"#, "a", Some("c")),
        (r#"{"error":{"message":"b","type":"t","code":null}}"#, "b", Some("t")),
        (r#"{"error":"only text"}"#, "only text", None),
        (
            r#"{"object":"error","message":"vllm","type":"BadRequestError","code":400}"#,
            "vllm",
            Some("BadRequestError"),
        ),
        (r#"{"detail":"fastapi"}"#, "fastapi", None),
        ("plain text", "plain text", None),
        ("", "Bad Request", None),
        ("{}", "Bad Request", None),
    ];
    for (body, message, api_type) in table {
        let error = failure("400 Bad Request", "", body).await;
        assert_eq!(
            (error.message.as_str(), error.api_type.as_deref()),
            (message, api_type),
            "{body}"
        );
    }
}

#[tokio::test]
async fn retry_after_is_read_in_every_unit() {
    let wait = async |headers: &str| failure("429 X", headers, "{}").await.retry_after;
    assert_eq!(
        wait("retry-after-ms: 1500\r\nretry-after: 9\r\n").await,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(wait("retry-after: 0.5\r\n").await, Some(Duration::from_millis(500)));
    assert_eq!(wait("retry-after: soon\r\n").await, None);
    assert_eq!(wait("retry-after: -3\r\n").await, None);
    assert_eq!(wait("retry-after: Wed, 21 Oct 2015 07:28:00 GMT\r\n").await, None, "long past");
    let future = wait("retry-after: Thu, 01 Jan 2099 00:00:00 GMT\r\n").await;
    assert!(future > Some(Duration::from_secs(3600)));
}

#[tokio::test]
async fn connection_refused_is_a_connection_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for error in [
        events(&anthropic(&format!("http://{address}")), prompt("hi")).await.unwrap_err(),
        events(&openai(&format!("http://{address}")), prompt("hi")).await.unwrap_err(),
    ] {
        assert_eq!(error.kind, ErrorKind::Connection);
        assert!(error.is_retryable());
        let text = error.to_string();
        assert!(text.starts_with(&format!("cannot connect to http://{address}: ")), "{text}");
        assert!(text.contains("refused"), "{text}");
    }
}

#[tokio::test]
async fn connection_closed_before_the_response_is_an_error() {
    let server = OddServer::once(vec![]).await;
    let error = events(&anthropic(&server.url), prompt("hi")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Connection);
    assert!(error.is_retryable());
}

fn impatient(url: &str) -> Anthropic {
    let mut timeouts = Timeouts::default();
    timeouts.begin = Duration::from_millis(100);
    timeouts.silence = Duration::from_millis(100);
    let config = AnthropicConfig { base_url: Some(url.to_owned()), ..AnthropicConfig::default() };
    Anthropic::new(&config, timeouts).unwrap()
}

#[tokio::test]
async fn silence_times_out_before_and_inside_a_response() {
    for steps in [vec![Step::Hold], vec![stream_head(), Step::Hold]] {
        let mut server = OddServer::once(steps).await;
        let error = events(&impatient(&server.url), prompt("hi")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Timeout);
        assert!(error.is_retryable());
        assert!(error.to_string().contains("silent for 0.1 s"), "{error}");
        server.client_gone().await;
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let error = failure("307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", "").await;
    assert_eq!((error.kind, error.status), (ErrorKind::Status, Some(307)));
    assert!(!error.is_retryable());
}

#[test]
fn invalid_base_url_is_an_error() {
    for url in ["not a url", "ftp://host", "http://"] {
        let config =
            AnthropicConfig { base_url: Some(url.to_owned()), ..AnthropicConfig::default() };
        let error = Anthropic::new(&config, Timeouts::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported, "{url}");
    }
}
