//! Fetch of one page, including redirects within its site.

use std::sync::{Arc, OnceLock};

use reqwest::{Client, StatusCode, Url, header};

use super::address::{self, PublicOnly};
use crate::http::{client_builder, describe, read_body};

/// Larger pages are no reading matter.
const MAX_BYTES: usize = 10 * 1024 * 1024;

/// As many steps as browsers take, roughly.
const MAX_REDIRECTS: usize = 10;

/// What a fetch came to.
#[derive(Debug, Clone)]
pub(super) enum Fetched {
    Page(Page),
    /// It is somewhere else, on another site: not ours to follow.
    Moved {
        to: Url,
        status: StatusCode,
    },
}

/// A page as it came.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) status: StatusCode,
    pub(super) media_type: String,
    pub(super) body: Vec<u8>,
}

/// The clients, made when they are first needed: loading certificates takes a moment.
#[derive(Debug, Default)]
pub(super) struct Clients {
    public: OnceLock<Client>,
    open: OnceLock<Client>,
}

impl Clients {
    fn get(&self, private_allowed: bool) -> Result<&Client, String> {
        let place = if private_allowed { &self.open } else { &self.public };
        if let Some(client) = place.get() {
            return Ok(client);
        }
        let mut builder = client_builder();
        if !private_allowed {
            builder = builder.dns_resolver(Arc::new(PublicOnly::new()));
        }
        let client = builder.build().map_err(|error| describe(&error))?;
        Ok(place.get_or_init(|| client))
    }

    /// Fetches a page. The caller limits the time.
    pub(super) async fn fetch(&self, url: &Url, private_allowed: bool) -> Result<Fetched, String> {
        let client = self.get(private_allowed)?;
        let mut at = url.clone();
        for _ in 0..MAX_REDIRECTS {
            if !private_allowed && address::is_private(&at) {
                return Err(address::private(&address::host(&at)));
            }
            let response = client
                .get(at.clone())
                .header(
                    header::ACCEPT,
                    "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.5",
                )
                .send()
                .await
                .map_err(|error| describe(&error))?;
            let status = response.status();
            let location = response.headers().get(header::LOCATION);
            let location = location.and_then(|location| location.to_str().ok());
            match location.and_then(|location| at.join(location).ok()) {
                Some(to) if status.is_redirection() => {
                    if !address::same_site(&at, &to) || !matches!(to.scheme(), "http" | "https") {
                        return Ok(Fetched::Moved { to, status });
                    }
                    at = to;
                }
                _ => return read(response).await.map(Fetched::Page),
            }
        }
        Err(format!("Too many redirects (more than {MAX_REDIRECTS})"))
    }
}

async fn read(response: reqwest::Response) -> Result<Page, String> {
    let status = response.status();
    let media_type = response.headers().get(header::CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let body = read_body(response, MAX_BYTES).await?;
    Ok(Page { status, media_type, body })
}
