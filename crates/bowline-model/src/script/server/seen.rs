//! Log of the requests that the server received, for tests.

use std::collections::VecDeque;

use axum::{body::Bytes, http::request::Parts};
use parking_lot::Mutex;
use serde_json::Value;

/// A request the server has seen. Credentials are left out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeenRequest {
    /// As in `POST`.
    pub method: String,
    /// As in `/v1/messages`.
    pub path: String,
    /// Its headers, but for credentials.
    pub headers: Vec<(String, String)>,
    /// Its body; `null` if that was no JSON.
    pub body: Value,
}

impl SeenRequest {
    fn new(Unread { parts, body }: &Unread) -> Self {
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

    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The newest requests.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<VecDeque<Unread>>);

/// A request as it came: most are never looked at, so nothing is done for those who might.
#[derive(Debug)]
struct Unread {
    parts: Parts,
    body: Bytes,
}

impl Seen {
    /// A test looks at a few; a server that runs for days must not keep them all.
    const MOST: usize = 256;

    pub(super) fn add(&self, parts: Parts, body: Bytes) {
        let mut seen = self.0.lock();
        if seen.len() == Self::MOST {
            seen.pop_front();
        }
        seen.push_back(Unread { parts, body });
    }

    pub(super) fn all(&self) -> Vec<SeenRequest> {
        let seen = self.0.lock();
        seen.iter().map(SeenRequest::new).collect()
    }
}
