//! The older HTTP transport: events of the server come in one long response, and its first event
//! names the address to which our messages are posted.

use std::collections::HashMap;

use bowline_protocol::McpRemoteServer;
use futures_util::{StreamExt, stream::BoxStream};
use reqwest::{
    Client, Url,
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
};
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::{Transport, auth::AuthClient, streamable_http_client::StreamableHttpClient},
};

use super::{ConnectError, http, message::read_message, open::refused};

/// An event of the server: its name and its data.
type Event = (Option<String>, String);

/// A connection to a server of the older kind.
pub(super) struct SseTransport {
    client: Client,
    /// The client with the user's login, if there is one.
    authorized: Option<AuthClient<Client>>,
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
        authorized: Option<AuthClient<Client>>,
    ) -> Result<Self, ConnectError> {
        let headers = http::headers(config)?;
        let failed = |what: &dyn ToString| ConnectError::Failed(what.to_string());
        let base = Url::parse(&config.url).map_err(|error| failed(&error))?;
        let url = config.url.as_str().into();
        let stream = match &authorized {
            Some(authorized) => authorized.get_stream(url, None, None, None, headers.clone()).await,
            None => client.get_stream(url, None, None, None, headers.clone()).await,
        };
        let stream = stream.map_err(|error| refused(&error, Some(&config.url)))?;
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
        Ok(Self { client, authorized, endpoint, headers, events })
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
        request = request.header(CONTENT_TYPE, "application/json").json(&message);
        let authorized = self.authorized.clone();
        async move {
            if let Some(authorized) = authorized
                && let Ok(token) = authorized.get_access_token().await
            {
                request = request.bearer_auth(token);
            }
            request.send().await?.error_for_status().map(drop)
        }
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
