//! HTTP endpoint of a provider, and the client that sends requests to it.

use std::sync::OnceLock;

use reqwest::{
    Client, ClientBuilder, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use serde::Serialize;

use super::{HttpResponse, Timeouts, failure};
use crate::{ErrorKind, ModelError};

/// A server, and what every request to it carries.
pub(crate) struct Endpoint {
    base: Url,
    headers: HeaderMap,
    timeouts: Timeouts,
    client: OnceLock<Client>,
}

impl Endpoint {
    /// A server at `base`; nothing is connected or built yet.
    pub(crate) fn new(
        base: &str,
        headers: impl IntoIterator<Item = (String, String)>,
        timeouts: Timeouts,
    ) -> Result<Self, ModelError> {
        let unsupported = |message| ModelError::new(ErrorKind::Unsupported, message);
        let url = Url::parse(base.trim().trim_end_matches('/'))
            .map_err(|error| unsupported(format!("the base URL {base:?} is not a URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(unsupported(format!("the base URL {base:?} is not an http(s) URL")));
        }
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let bad = |_| unsupported(format!("the header {name:?} has no valid name or value"));
            let value = HeaderValue::from_str(&value).map_err(|_| bad(()))?;
            map.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(()))?, value);
        }
        Ok(Self { base: url, headers: map, timeouts, client: OnceLock::new() })
    }

    /// The server as people should read it: no user, no password, no path.
    pub(crate) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Sends `body` to `path` and returns once the server has responded with a
    /// status of success. `more` are headers of this request alone.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &impl Serialize,
        more: HeaderMap,
    ) -> Result<HttpResponse, ModelError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            ModelError::new(ErrorKind::Unsupported, "the request cannot be written as JSON")
                .with_source(error)
        })?;
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let request = self
            .client()?
            .post(url)
            .headers(self.headers.clone())
            .headers(more)
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        let response = match tokio::time::timeout(self.timeouts.begin, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(failure::unreachable(&self.origin(), error)),
            Err(_) => return Err(failure::silent(&self.origin(), self.timeouts.begin)),
        };
        let response = HttpResponse::new(response, self.origin(), self.timeouts.silence);
        if response.is_success() { Ok(response) } else { Err(response.into_error().await) }
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = self.build_client().map_err(|error| {
            let message = format!("cannot set up a connection to {}", self.origin());
            ModelError::new(ErrorKind::Unsupported, message).with_source(error)
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    fn build_client(&self) -> reqwest::Result<Client> {
        // Fails if a provider is installed already, and then that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder: ClientBuilder = Client::builder()
            .user_agent(concat!("bowline/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.timeouts.connect)
            // A redirected request would carry the key to a server that is not configured.
            .redirect(redirect::Policy::none())
            // Who drives us decides about every retry.
            .retry(reqwest::retry::never());
        // Reading the system's certificates takes longer than everything else here.
        match self.base.scheme() {
            "http" => builder.tls_certs_only([]).build(),
            _ => builder.build(),
        }
    }
}
