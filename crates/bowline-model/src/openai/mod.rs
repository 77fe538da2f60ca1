//! Chat-completions servers: OpenAI's own, llama.cpp, vLLM, Ollama and their kin.
//!
//! Requests are translated into their terms, and their responses into the Messages
//! API's events. Servers differ in details; whatever they leave out or add is
//! tolerated here, so that no other module has to know.

mod assemble;
mod body;
mod chunk;
mod decode;
mod message;
mod names;

use std::{fmt, sync::Arc};

use futures_util::stream;
use reqwest::header::HeaderMap;

use crate::{
    BoxFuture, Delivery, ErrorKind, EventStream, Model, ModelError, ModelRequest, Secret, Timeouts,
    http::{Endpoint, events},
};
use body::Body;
use decode::OpenAiDecoder;
use names::ToolNames;

/// Configuration of a chat-completions server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenAiConfig {
    /// As in `http://127.0.0.1:8080/v1`; OpenAI's own if there is only a key.
    pub base_url: Option<String>,
    /// Goes into `authorization`; many servers need none.
    pub api_key: Option<Secret>,
    /// More headers of every request.
    pub headers: Vec<(String, String)>,
    /// Field for the output limit; `None` goes by the address.
    pub limit_field: Option<LimitField>,
}

/// Field name of the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitField {
    /// `max_tokens`, which nearly every server knows.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's newer models insist on.
    MaxCompletionTokens,
}

/// OpenAI's own servers.
const PUBLIC_API: &str = "https://api.openai.com/v1";

/// A chat-completions server as a [`Model`].
pub struct OpenAi {
    endpoint: Endpoint,
    limit_field: LimitField,
}

impl OpenAi {
    /// Creates a model from this configuration. Nothing is connected yet.
    ///
    /// Fails if there is neither a server nor a key.
    pub fn new(config: &OpenAiConfig, timeouts: Timeouts) -> Result<Self, ModelError> {
        let OpenAiConfig { base_url, api_key, headers, limit_field } = config;
        if base_url.is_none() && api_key.is_none() {
            return Err(ModelError::new(
                ErrorKind::NoCredentials,
                "no server for openai/… models: set OPENAI_BASE_URL to any chat-completions \
                 server (or OPENAI_API_KEY for OpenAI's own), or set ANTHROPIC_API_KEY and use a \
                 claude model, or --model script, which needs no server",
            ));
        }
        let base = base_url.as_deref().unwrap_or(PUBLIC_API);
        let bearer = |key: &Secret| format!("Bearer {}", key.reveal());
        let key = api_key.iter().map(|key| ("authorization".to_owned(), bearer(key)));
        let endpoint = Endpoint::new(base, key.chain(headers.iter().cloned()), timeouts)?;
        let by_address = match PUBLIC_API.starts_with(&endpoint.origin()) {
            true => LimitField::MaxCompletionTokens,
            false => LimitField::MaxTokens,
        };
        Ok(Self { endpoint, limit_field: limit_field.unwrap_or(by_address) })
    }
}

impl Model for OpenAi {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let names = ToolNames::new(request.tools.iter().map(|tool| tool.name.as_str()));
            let body = Body::new(&request, self.limit_field);
            let response = self.endpoint.post("/chat/completions", &body, HeaderMap::new()).await?;
            let decoder = OpenAiDecoder::new(response.origin(), &request.model, names);
            // Some servers respond in one piece whatever was requested.
            if request.delivery == Delivery::Whole || response.is_json() {
                let request_id = response.request_id();
                let events = decoder.read_whole(&response.whole().await?)?;
                let events = stream::iter(events.into_iter().map(Ok));
                return Ok(EventStream::new(events).with_request_id(request_id));
            }
            Ok(events(response, decoder))
        })
    }

    /// These servers have no such call.
    fn count_tokens(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(async { Ok(None) })
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The endpoint's headers hold the key.
        f.debug_struct("OpenAi").field("server", &self.endpoint.origin()).finish_non_exhaustive()
    }
}
