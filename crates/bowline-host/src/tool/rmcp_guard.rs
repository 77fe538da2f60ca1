//! Wrapper of an `rmcp` service that responds to every request, even if its handler panics or takes too long.
//!
//! `rmcp` runs each request in a separate task and waits for none of them: a handler that
//! panics would never respond.

use std::{borrow::Cow, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use rmcp::{
    ErrorData, RoleServer, Service,
    model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext},
};
use tokio::time;

use crate::callback::panic_text;

/// A service, and how long it may work on a call of a tool.
pub(super) struct Guarded<S> {
    pub(super) service: S,
    pub(super) time_limit: Option<Duration>,
}

impl<S: Service<RoleServer>> Service<RoleServer> for Guarded<S> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let is_call = matches!(request, ClientRequest::CallToolRequest(_));
        let work = AssertUnwindSafe(async { self.service.handle_request(request, context).await });
        let response = match self.time_limit.filter(|_| is_call) {
            None => work.catch_unwind().await,
            Some(limit) => match time::timeout(limit, work.catch_unwind()).await {
                Ok(response) => response,
                Err(_) => return Err(failed(format!("the tool took longer than {limit:?}"))),
            },
        };
        response.unwrap_or_else(|panic| {
            Err(failed(format!("the MCP server panicked: {}", panic_text(&*panic))))
        })
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.service.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.service.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.service.supported_protocol_versions()
    }
}

fn failed(why: String) -> ErrorData {
    ErrorData::internal_error(why, None)
}
