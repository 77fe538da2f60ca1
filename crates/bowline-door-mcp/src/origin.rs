//! Web pages that may use the server, and what browsers are told so that they can.

use std::{fmt, str::FromStr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

/// How long a browser need not ask again whether it may ask.
const ASK_AGAIN_SECONDS: &str = "600";

/// What a page may do.
const METHODS: &str = "GET, POST, DELETE";

/// What a page may read of an answer, beside its body.
const READABLE: &str = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate";

/// Where web pages come from: `https://example.org`, with a port if it is not the usual one, or
/// with `:*` for any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: Scheme,
    host: String,
    /// `None` for any.
    port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

/// It is not where web pages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be where web pages come from, as in `https://example.org`, with `:PORT` or `:*` if it is \
     not the usual port"
)]
pub struct OriginError;

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let (base, any_port) = match text.strip_suffix(":*") {
            Some(base) => (base, true),
            None => (text, false),
        };
        let uri: Uri = base.parse().map_err(|_| OriginError)?;
        let scheme = match uri.scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            _ => return Err(OriginError),
        };
        let authority = uri.authority().ok_or(OriginError)?;
        let is_bare = uri.path() == "/" && !base.ends_with('/') && uri.query().is_none();
        let has_port = authority.as_str().len() > authority.host().len();
        if !is_bare || authority.host().is_empty() || authority.as_str().contains('@') {
            return Err(OriginError);
        }
        let port = match (any_port, has_port) {
            (true, true) => return Err(OriginError),
            (true, false) => None,
            (false, true) => Some(authority.port_u16().ok_or(OriginError)?),
            (false, false) => Some(match scheme {
                Scheme::Http => 80,
                Scheme::Https => 443,
            }),
        };
        Ok(Self { scheme, host: authority.host().to_ascii_lowercase(), port })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        match self.port {
            Some(port) => write!(f, "{scheme}://{}:{port}", self.host),
            None => write!(f, "{scheme}://{}:*", self.host),
        }
    }
}

impl Origin {
    /// Whether it is, or includes, the other one.
    fn includes(&self, other: &Self) -> bool {
        (self.scheme, &self.host) == (other.scheme, &other.host)
            && self.port.is_none_or(|port| Some(port) == other.port)
    }
}

/// The pages that may use a server.
#[derive(Debug, Clone)]
pub(crate) struct Pages(Arc<[Origin]>);

impl Pages {
    pub(crate) fn new(named: &[Origin]) -> Self {
        Self(named.into())
    }

    fn may_use_it(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Origin>().ok());
        origin.is_some_and(|origin| {
            origin.port.is_some() && self.0.iter().any(|page| page.includes(&origin))
        })
    }
}

/// Lets in what does not come from a web page, and web pages that may.
///
/// Browsers ask first whether a page may send such a request, without any token; and hide the
/// answer from the page unless it says that the page may read it.
pub(crate) async fn check(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    let Some(origin) = request.headers().get(header::ORIGIN).cloned() else {
        return next.run(request).await;
    };
    if !pages.may_use_it(&origin) {
        return (StatusCode::FORBIDDEN, "this web page may not use the server\n").into_response();
    }
    let asks = request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut answer = match asks {
        true => permission(request.headers()),
        false => next.run(request).await,
    };
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READABLE));
    headers.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
    answer
}

/// What a browser is told that asks whether a page may ask.
fn permission(asked: &HeaderMap) -> Response {
    let mut answer = StatusCode::NO_CONTENT.into_response();
    let headers = answer.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(ASK_AGAIN_SECONDS));
    // Newer versions of MCP name their headers as they go, so every header that is asked for is fine.
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.append(header::VARY, HeaderValue::from_name(header::ACCESS_CONTROL_REQUEST_HEADERS));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_pages_come_from() {
        let cases = [
            ("https://app.example.org", "https://app.example.org:443"),
            ("http://App.Example.org", "http://app.example.org:80"),
            ("https://app.example.org:8443", "https://app.example.org:8443"),
            ("https://app.example.org:*", "https://app.example.org:*"),
            ("http://[::1]:3000", "http://[::1]:3000"),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Origin>().unwrap().to_string(), expected);
        }
        let nonsense = [
            "",
            "*",
            "null",
            "app.example.org",
            "ftp://app.example.org",
            "https://",
            "https://app.example.org/",
            "https://app.example.org/page",
            "https://app.example.org?x",
            "https://me@app.example.org",
            "https://app.example.org:99999",
            "https://app.example.org:",
            "https://app.example.org:443:*",
            "https://two words",
        ];
        for text in nonsense {
            assert_eq!(text.parse::<Origin>(), Err(OriginError), "{text}");
        }
    }

    #[test]
    fn who_may_use_it() {
        let named = ["https://app.example.org".parse().unwrap(), "http://dev:*".parse().unwrap()];
        let pages = Pages::new(&named);
        let may = |origin: &str| pages.may_use_it(&HeaderValue::from_str(origin).unwrap());
        for origin in ["https://app.example.org", "https://app.example.org:443", "http://dev:1234"]
        {
            assert!(may(origin), "{origin}");
        }
        for origin in [
            "null",
            "http://localhost",
            "http://localhost:3000",
            "https://localhost",
            "http://127.0.0.1",
            "http://[::1]:8080",
            "http://dev:*",
            "http://app.example.org",
            "https://app.example.org:444",
            "https://app.example.org.evil.example",
            "https://dev",
        ] {
            assert!(!may(origin), "{origin}");
        }
    }
}
