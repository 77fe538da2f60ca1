//! HTTP clients, and posting JSON to a configured server.

use std::{collections::BTreeMap, error::Error as _, sync::OnceLock};

use reqwest::{Client, ClientBuilder, header, redirect};

/// The most of a response that is read. Hooks respond in a few hundred bytes.
const MAX_RESPONSE: usize = 1024 * 1024;

/// Response of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The body, as text.
    pub body: String,
}

impl HttpResponse {
    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Posts JSON. Redirects are not followed: what is sent was meant for this server.
///
/// # Cancel safety
///
/// Dropping the future closes the connection. The caller limits the time.
pub async fn post_json(
    url: &str,
    headers: &BTreeMap<String, String>,
    json: String,
) -> Result<HttpResponse, String> {
    let mut request = client()?.post(url).header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.body(json).send().await.map_err(|error| describe(&error))?;
    let status = response.status().as_u16();
    let body = read_body(response, MAX_RESPONSE).await?;
    Ok(HttpResponse { status, body: String::from_utf8_lossy(&body).into_owned() })
}

/// A client that follows no redirect by itself.
pub(crate) fn client_builder() -> ClientBuilder {
    // If another call was first, it has installed the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .redirect(redirect::Policy::none())
        .user_agent(concat!("bowline/", env!("CARGO_PKG_VERSION")))
}

/// The body of a response, unless it is too large.
pub(crate) async fn read_body(
    mut response: reqwest::Response,
    limit: usize,
) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| describe(&error))? {
        if body.len() + chunk.len() > limit {
            return Err(format!("maxContentLength size of {limit} exceeded"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// An error with its causes: the first one alone only reports that sending failed.
pub(crate) fn describe(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

/// One client for all, made when it is first needed: loading certificates takes a moment.
fn client() -> Result<&'static Client, String> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let client = client_builder().build().map_err(|error| describe(&error))?;
    Ok(CLIENT.get_or_init(|| client))
}
