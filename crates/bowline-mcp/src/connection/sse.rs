//! The older HTTP transport: events of the server come over one long answer, and its first event
//! names the address to which our messages are posted.

use std::collections::HashMap;

use bowline_protocol::McpRemoteServer;
use futures_util::{StreamExt, stream::BoxStream};
use reqwest::{
    Client, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
};
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{
        Transport,
        streamable_http_client::{StreamableHttpClient, StreamableHttpError},
    },
};

use super::{ConnectError, cause::root_cause, http, message::read_message};

/// An event of the server: its name and its data.
type Event = (Option<String>, String);

/// A connection to a server of the older kind.
pub(super) struct SseTransport {
    client: Client,
    /// Where our messages go.
    endpoint: Url,
    headers: HashMap<HeaderName, HeaderValue>,
    events: BoxStream<'static, Event>,
}

impl SseTransport {
    /// Opens the stream and waits for the address.
    pub(super) async fn open(
        config: &McpRemoteServer,
        client: Client,
    ) -> Result<Self, ConnectError> {
        let headers = http::headers(config)?;
        let failed = |what: &dyn ToString| ConnectError::Failed(what.to_string());
        let base = Url::parse(&config.url).map_err(|error| failed(&error))?;
        let stream = client
            .get_stream(config.url.as_str().into(), None, None, None, headers.clone())
            .await
            .map_err(|error| refused(&error))?;
        // A broken stream has ended: the session lives in it, so there is nothing to resume.
        let mut events = stream
            .take_while(|event| std::future::ready(event.is_ok()))
            .filter_map(|event| async move {
                event.ok().map(|event| (event.event, event.data.unwrap_or_default()))
            })
            .boxed();
        let endpoint = loop {
            match events.next().await {
                Some((Some(name), data)) if name == "endpoint" => break data,
                Some(_) => {}
                None => return Err(ConnectError::Failed("Connection closed".to_owned())),
            }
        };
        let endpoint = base.join(endpoint.trim()).map_err(|error| failed(&error))?;
        // Our headers may hold a key, which is for the configured server only.
        if endpoint.origin() != base.origin() {
            return Err(failed(&"the server names an address that is not its own"));
        }
        Ok(Self { client, endpoint, headers, events })
    }
}

/// What a failed attempt to open the stream means.
fn refused(error: &StreamableHttpError<reqwest::Error>) -> ConnectError {
    let unauthorized = match error {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::Client(error) => error.status() == Some(StatusCode::UNAUTHORIZED),
        _ => false,
    };
    match unauthorized {
        true => ConnectError::NeedsAuth,
        false => ConnectError::Failed(root_cause(error)),
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = reqwest::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), reqwest::Error>> + Send + 'static {
        let mut request = self.client.post(self.endpoint.clone());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.header(CONTENT_TYPE, "application/json").json(&message);
        async move { request.send().await?.error_for_status().map(drop) }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let (name, data) = self.events.next().await?;
            if name.is_none_or(|name| name == "message")
                && let Some(message) = read_message(&data)
            {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), reqwest::Error> {
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}
