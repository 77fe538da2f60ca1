//! Log of the requests that the server received, for tests.

use std::collections::VecDeque;

use axum::{body::Bytes, http::request::Parts};
use parking_lot::Mutex;
use serde_json::Value;

/// A request that the server received, without credentials.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeenRequest {
    /// HTTP method, such as `POST`.
    pub method: String,
    /// Path, such as `/v1/messages`.
    pub path: String,
    /// Its headers, but for credentials.
    pub headers: Vec<(String, String)>,
    /// Its body; `null` if it is not valid JSON.
    pub body: Value,
}

impl SeenRequest {
    fn new(RawRequest { parts, body }: &RawRequest) -> Self {
        let secret = |name: &str| {
            matches!(name, "x-api-key" | "authorization" | "proxy-authorization" | "cookie")
        };
        let headers = parts.headers.iter().filter(|(name, _)| !secret(name.as_str()));
        Self {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            headers: headers
                .map(|(name, value)| {
                    (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                })
                .collect(),
            body: serde_json::from_slice(body).unwrap_or_default(),
        }
    }

    /// The first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Log of the newest requests.
#[derive(Debug, Default)]
pub(super) struct RequestLog(Mutex<VecDeque<RawRequest>>);

/// A request as received; parsed only when a test reads the log.
#[derive(Debug)]
struct RawRequest {
    parts: Parts,
    body: Bytes,
}

impl RequestLog {
    /// Limit of the log, so that a long-running server does not grow.
    const CAPACITY: usize = 256;

    pub(super) fn add(&self, parts: Parts, body: Bytes) {
        let mut requests = self.0.lock();
        if requests.len() == Self::CAPACITY {
            requests.pop_front();
        }
        requests.push_back(RawRequest { parts, body });
    }

    pub(super) fn all(&self) -> Vec<SeenRequest> {
        let requests = self.0.lock();
        requests.iter().map(SeenRequest::new).collect()
    }
}
