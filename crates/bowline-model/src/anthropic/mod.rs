//! The Anthropic Messages API, or a server that speaks it.

mod body;
mod cache;
mod decode;

use std::{fmt, sync::Arc};

use futures_util::stream;
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;

use crate::{
    BoxFuture, Delivery, ErrorKind, EventStream, Model, ModelError, ModelRequest, Secret, Timeouts,
    event,
    http::{Endpoint, HttpResponse, events},
};

/// Configuration of the Anthropic API.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnthropicConfig {
    /// `https://api.anthropic.com` by default.
    pub base_url: Option<String>,
    /// Goes into `x-api-key`.
    pub api_key: Option<Secret>,
    /// Goes into `authorization`, for gateways.
    pub auth_token: Option<Secret>,
    /// Beta features of every request.
    pub betas: Vec<String>,
    /// More headers of every request.
    pub headers: Vec<(String, String)>,
}

/// The public API.
const PUBLIC_API: &str = "https://api.anthropic.com";
/// The version of the API that this module is written for.
const API_VERSION: &str = "2023-06-01";

/// The Messages API as a [`Model`].
pub struct Anthropic {
    endpoint: Endpoint,
    betas: Vec<String>,
}

impl Anthropic {
    /// Creates a model from this configuration. Nothing is connected yet.
    ///
    /// Fails if there is neither a credential nor a server of the user's own.
    pub fn new(config: &AnthropicConfig, timeouts: Timeouts) -> Result<Self, ModelError> {
        let AnthropicConfig { base_url, api_key, auth_token, betas, headers } = config;
        if base_url.is_none() && api_key.is_none() && auth_token.is_none() {
            return Err(ModelError::new(
                ErrorKind::NoCredentials,
                "no key for the Anthropic API: set ANTHROPIC_API_KEY, or use any \
                 chat-completions server with OPENAI_BASE_URL and --model openai/NAME, or \
                 --model script, which needs no server",
            ));
        }
        let base = base_url.as_deref().unwrap_or(PUBLIC_API).trim_end_matches('/');
        // Some people give the address with the version, as other servers want it.
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let key = api_key.iter().map(|key| ("x-api-key".to_owned(), key.reveal().to_owned()));
        let bearer = |token: &Secret| format!("Bearer {}", token.reveal());
        let token = auth_token.iter().map(|token| ("authorization".to_owned(), bearer(token)));
        let version = [("anthropic-version".to_owned(), API_VERSION.to_owned())];
        let headers = version.into_iter().chain(key).chain(token).chain(headers.iter().cloned());
        let endpoint = Endpoint::new(base, headers, timeouts)?;
        Ok(Self { endpoint, betas: betas.clone() })
    }

    /// Header for beta features, if there are any.
    fn beta_header(&self, request: &ModelRequest) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        let mut wanted: Vec<&str> = Vec::new();
        for beta in self.betas.iter().chain(&request.betas) {
            if !wanted.contains(&beta.as_str()) {
                wanted.push(beta);
            }
        }
        if !wanted.is_empty() {
            let value = HeaderValue::from_str(&wanted.join(",")).map_err(|_| {
                let message = format!("these beta names are no header: {wanted:?}");
                ModelError::new(ErrorKind::Unsupported, message)
            })?;
            headers.insert("anthropic-beta", value);
        }
        Ok(headers)
    }
}

impl Model for Anthropic {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let headers = self.beta_header(&request)?;
            let response =
                self.endpoint.post("/v1/messages", &body::Body::new(&request), headers).await?;
            // Some gateways respond in one piece whatever was requested.
            if request.delivery == Delivery::Whole || response.is_json() {
                return whole(response).await;
            }
            let decoder = decode::AnthropicDecoder::new(response.origin());
            Ok(events(response, decoder))
        })
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        #[derive(Deserialize)]
        struct Count {
            input_tokens: u64,
        }

        Box::pin(async move {
            let headers = self.beta_header(&request)?;
            let body = body::CountBody::new(&request);
            let response = self.endpoint.post("/v1/messages/count_tokens", &body, headers).await?;
            let origin = response.origin().to_owned();
            let count: Count =
                serde_json::from_slice(&response.whole().await?).map_err(|error| {
                    let message = format!("{origin} sent an invalid token count");
                    ModelError::new(ErrorKind::Unreadable, message).with_source(error)
                })?;
            Ok(Some(count.input_tokens))
        })
    }
}

async fn whole(response: HttpResponse) -> Result<EventStream, ModelError> {
    let origin = response.origin().to_owned();
    let request_id = response.request_id();
    let message = decode::read_whole(&response.whole().await?, &origin)?;
    let events = stream::iter(event::events_of(message).into_iter().map(Ok));
    Ok(EventStream::new(events).with_request_id(request_id))
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The endpoint's headers hold the key.
        f.debug_struct("Anthropic").field("server", &self.endpoint.origin()).finish_non_exhaustive()
    }
}
