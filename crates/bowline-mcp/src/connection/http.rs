//! The HTTP client for servers on the network.

use std::{collections::HashMap, time::Duration};

use bowline_protocol::McpRemoteServer;
use reqwest::{
    Client,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::transport::{
    StreamableHttpClientTransport,
    streamable_http_client::{StreamableHttpClient, StreamableHttpClientTransportConfig},
};

use super::ConnectError;

/// Largest event or response: as large as a line of a program may be.
const MAX_EVENT: usize = bowline_protocol::MAX_LINE_BYTES;

/// More are a loop.
const MAX_REDIRECTS: usize = 5;

/// Chooses who does cryptography for everybody, unless that is chosen already.
fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for one server.
pub(crate) fn client(url: &str, connect_timeout: Duration) -> reqwest::Result<Client> {
    install_tls();
    let builder = Client::builder()
        .user_agent(concat!("bowline/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        .redirect(redirect::Policy::custom(stay_home));
    // Reading the system's certificates takes longer than everything else here.
    match url.starts_with("http://") {
        true => builder.tls_certs_only([]).build(),
        false => builder.build(),
    }
}

/// Redirections within the server are followed; our headers may hold a key, which is for no one
/// else.
fn stay_home(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let origin = attempt.url().origin();
    let same = attempt.previous().iter().all(|url| url.origin() == origin);
    match same && attempt.previous().len() <= MAX_REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// The headers of the configuration.
pub(super) fn headers(
    config: &McpRemoteServer,
) -> Result<HashMap<HeaderName, HeaderValue>, ConnectError> {
    let read = |(name, value): (&String, &String)| {
        let bad = || ConnectError::Failed(format!("not an HTTP header: {name}"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    config.headers.iter().flatten().map(read).collect()
}

/// The transport to a server that speaks streamable HTTP.
pub(super) fn streamable<C: StreamableHttpClient + Send>(
    config: &McpRemoteServer,
    client: C,
) -> Result<StreamableHttpClientTransport<C>, ConnectError> {
    let settings = StreamableHttpClientTransportConfig::with_uri(config.url.as_str())
        .custom_headers(headers(config)?)
        .max_sse_event_size(MAX_EVENT)
        .reinit_on_expired_session(true);
    Ok(StreamableHttpClientTransport::with_client(client, settings))
}
