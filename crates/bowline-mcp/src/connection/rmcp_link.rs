//! Requests through `rmcp`.

use std::time::Duration;

use rmcp::{
    RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
        ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
        ListResourcesRequest, ListToolsRequest, PaginatedRequestParams, ReadResourceRequest,
        ReadResourceRequestParams, RequestId, RequestMetaObject,
    },
    service::{Peer, PeerRequestOptions, ServiceError},
};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use super::{
    cause::{is_gone, refusal, root_cause},
    request::{Request, RequestError, TOOL_USE_ID},
};
use crate::login::Wanted;

/// A connection to a server through `rmcp`.
pub(super) struct RmcpLink {
    pub(super) peer: Peer<RoleClient>,
    /// Where the server is, if it is on the network.
    pub(super) url: Option<String>,
}

impl RmcpLink {
    pub(super) async fn request(
        &self,
        request: Request,
        timeout: Duration,
        asides: &TaskTracker,
    ) -> Result<Value, RequestError> {
        let mut options = PeerRequestOptions::with_timeout(timeout);
        if let Request::CallTool { tool_use_id, .. } = &request {
            options = options.reset_timeout_on_progress();
            if let Some(id) = tool_use_id {
                let mut meta = RequestMetaObject::default();
                meta.insert(TOOL_USE_ID.to_owned(), Value::String(id.to_string()));
                options = options.with_meta(meta);
            }
        }
        let explain = |error| explain(error, self.url.as_deref());
        let sent = self.peer.send_request_with_option(translate(request), options).await;
        let handle = sent.map_err(explain)?;
        let mut guard = CancelOnDrop { peer: &self.peer, asides, request: Some(handle.id.clone()) };
        let response = handle.await_response().await;
        guard.request = None;
        let result = response.map_err(explain)?;
        serde_json::to_value(result).map_err(|error| RequestError::Undelivered(error.to_string()))
    }
}

fn translate(request: Request) -> ClientRequest {
    let page = |cursor| Some(PaginatedRequestParams::default().with_cursor(cursor));
    match request {
        Request::ListTools { cursor } => {
            ListToolsRequest { params: page(cursor), ..Default::default() }.into()
        }
        Request::ListPrompts { cursor } => {
            ListPromptsRequest { params: page(cursor), ..Default::default() }.into()
        }
        Request::ListResources { cursor } => {
            ListResourcesRequest { params: page(cursor), ..Default::default() }.into()
        }
        Request::ReadResource { uri } => {
            ReadResourceRequest::new(ReadResourceRequestParams::new(uri)).into()
        }
        Request::GetPrompt { name, arguments } => {
            let params = GetPromptRequestParams::new(name).with_arguments(arguments);
            GetPromptRequest::new(params).into()
        }
        Request::CallTool { name, arguments, .. } => {
            let params = CallToolRequestParams::new(name).with_arguments(arguments);
            CallToolRequest::new(params).into()
        }
    }
}

fn explain(error: ServiceError, url: Option<&str>) -> RequestError {
    match error {
        ServiceError::McpError(error) => {
            RequestError::Refused { code: error.code.0.into(), message: error.message.into() }
        }
        ServiceError::TransportClosed => RequestError::Closed,
        ServiceError::Timeout { timeout } => RequestError::Timeout(timeout),
        ServiceError::TransportSend(error) => {
            if let Some((url, challenge)) = url.zip(refusal(&error)) {
                return RequestError::Unauthorized(Wanted::new(challenge, url));
            }
            let text = root_cause(&error);
            match is_gone(&error) {
                true => RequestError::Lost(text),
                false => RequestError::Undelivered(text),
            }
        }
        other => RequestError::Undelivered(other.to_string()),
    }
}

/// Cancels a request on the server when dropped before the response.
struct CancelOnDrop<'a> {
    peer: &'a Peer<RoleClient>,
    asides: &'a TaskTracker,
    /// The request, until its response has arrived.
    request: Option<RequestId>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else { return };
        // Without a runtime the connection is gone too.
        let Ok(runtime) = Handle::try_current() else { return };
        let params =
            CancelledNotificationParam::new(Some(request), Some("the user interrupted".to_owned()));
        let peer = self.peer.clone();
        self.asides.spawn_on(
            async move {
                if let Err(error) =
                    peer.send_notification(CancelledNotification::new(params).into()).await
                {
                    tracing::debug!(%error, "cannot send a cancellation");
                }
            },
            &runtime,
        );
    }
}
