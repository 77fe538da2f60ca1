//! A live connection to a server: requests out, responses and notifications in.

mod cause;
mod changes;
mod defaults;
mod handler;
mod http;
mod line;
mod message;
mod open;
mod process;
mod request;
mod rmcp_link;
mod sdk;
mod sse;
mod watched;

use std::{
    pin::pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bowline_protocol::{McpServerInfo, RawJson};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use changes::Changed;
use changes::Changes;
pub(crate) use http::client as http_client;
pub(crate) use open::{ConnectError, Opened, Owner, has_authorization, open};
pub(crate) use request::{Request, RequestError};
pub(crate) use sdk::{SdkClient, greet};

use crate::login::Wanted;

/// How long a call waits for lists it has changed: reading them is one request to a server that
/// has just responded.
const SETTLE: Duration = Duration::from_secs(5);

/// One live connection. Requests on it fail at once when the other end is gone.
pub(crate) struct Connection {
    link: Link,
    /// Fires when the other end is gone.
    closed: CancellationToken,
    /// Lists that the server says have changed.
    changes: Arc<Changes>,
    /// Messages that no caller waits for, such as cancellations.
    asides: TaskTracker,
    /// The challenge with which the server rejected the login.
    refused: OnceLock<Wanted>,
}

enum Link {
    Rmcp(rmcp_link::RmcpLink),
    Sdk(Arc<SdkClient>),
}

impl Connection {
    /// Sends a request, and waits for the response.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the request on the server.
    pub(crate) async fn request(
        &self,
        request: Request,
        timeout: Duration,
    ) -> Result<Value, RequestError> {
        let is_call = matches!(request, Request::CallTool { .. });
        let asking = pin!(async {
            match &self.link {
                Link::Rmcp(link) => link.request(request, timeout, &self.asides).await,
                Link::Sdk(client) => client.request(request, timeout, &self.asides).await,
            }
        });
        let response = self.while_open(asking).await;
        if is_call {
            self.settle().await;
        }
        response
    }

    /// Waits for a response, but not beyond the end of the connection.
    async fn while_open(
        &self,
        asking: impl Future<Output = Result<Value, RequestError>>,
    ) -> Result<Value, RequestError> {
        tokio::select! {
            biased;
            response = asking => {
                match &response {
                    Err(RequestError::Lost(_)) => self.closed.cancel(),
                    // The login is no longer valid.
                    Err(RequestError::Unauthorized(wanted)) if wanted.scopes.is_empty() => {
                        let _ = self.refused.set(wanted.clone());
                        self.closed.cancel();
                    }
                    _ => {}
                }
                response
            }
            () = self.closed.cancelled() => Err(RequestError::Closed),
        }
    }

    /// Waits for the lists that a call has changed, so that the next call finds what this one
    /// brought about.
    async fn settle(&self) {
        if self.changes.are_settled() {
            return;
        }
        tokio::select! {
            biased;
            () = self.changes.settled() => {}
            () = self.closed.cancelled() => {}
            () = sleep(SETTLE) => tracing::debug!("a changed list takes long"),
        }
    }

    /// Ends when the other end is gone.
    pub(crate) async fn closed(&self) {
        self.closed.cancelled().await;
    }

    /// The challenge, if the server ended the connection because of the login.
    pub(crate) fn refused(&self) -> Option<&Wanted> {
        self.refused.get()
    }

    /// The lists that have changed since this was last asked, and a number to
    /// [catch up](Self::caught_up) to; waits until one has.
    pub(crate) async fn changed(&self) -> (Changed, u64) {
        self.changes.next().await
    }

    /// The changed lists have been read.
    pub(crate) fn caught_up(&self, count: u64) {
        self.changes.caught_up(count);
    }

    /// Delivers a message that a server inside the host sends unasked.
    pub(crate) fn deliver(&self, message: &RawJson) {
        if let Link::Sdk(client) = &self.link {
            client.deliver(message, &self.changes, &self.asides);
        }
    }
}

/// The result of `initialize`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hello {
    #[serde(default)]
    pub(crate) server_info: Option<McpServerInfo>,
    #[serde(default)]
    pub(crate) instructions: Option<String>,
    #[serde(default)]
    pub(crate) capabilities: Capabilities,
}

/// Which lists a server has.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Capabilities {
    #[serde(default)]
    tools: Option<Value>,
    #[serde(default)]
    prompts: Option<Value>,
    #[serde(default)]
    resources: Option<Value>,
}

impl Hello {
    /// The greeting of a server that has tools and nothing else.
    fn of_tools(info: McpServerInfo, instructions: Option<String>) -> Self {
        let capabilities = Capabilities { tools: Some(Value::Null), ..Capabilities::default() };
        Self { server_info: Some(info), instructions, capabilities }
    }
}

impl Capabilities {
    pub(crate) fn tools(&self) -> bool {
        self.tools.is_some()
    }

    pub(crate) fn prompts(&self) -> bool {
        self.prompts.is_some()
    }

    pub(crate) fn resources(&self) -> bool {
        self.resources.is_some()
    }
}
