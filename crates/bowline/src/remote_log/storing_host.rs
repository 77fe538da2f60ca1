//! Host wrapper that stores transcript lines before it passes on the messages that follow.

use std::sync::Arc;

use bowline_engine::{Answer, BoxFuture, CallLimits, Host, InProcessServer};
use bowline_protocol::{
    CanUseTool, Elicitation, ElicitationResponse, HookCallback, McpMessage, Message,
    PermissionResult, RawJson, TranscriptMirrorMessage,
};
use parking_lot::Mutex;
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use super::{RemoteLog, client};
use crate::complain;

/// Stores mirrored lines before it passes on the messages that follow them.
///
/// When a line cannot be stored, no more messages are emitted, and `lost` ends the session.
pub(crate) struct StoringHost {
    host: Arc<dyn Host>,
    log: RemoteLog,
    /// Built on first use: its connections live as long as their runtime.
    client: Mutex<Option<Client>>,
    /// Whether the host itself receives the mirrored lines.
    mirrored: bool,
    lost: CancellationToken,
}

impl StoringHost {
    /// Wraps `host`; `lost` fires when a line could not be stored.
    pub(crate) fn new(
        host: Arc<dyn Host>,
        log: RemoteLog,
        mirrored: bool,
        lost: CancellationToken,
    ) -> Self {
        Self { host, log, client: Mutex::default(), mirrored, lost }
    }

    async fn store(&self, mirror: &TranscriptMirrorMessage) {
        // Transcripts of subagents are not part of the log.
        if mirror.file_path.contains("/subagents/") {
            return;
        }
        let stored = match self.client() {
            Ok(client) => self.log.append(&client, &mirror.entries).await,
            Err(error) => Err(error),
        };
        if let Err(error) = stored {
            complain(format!("Error: {error}"));
            self.lost.cancel();
        }
    }

    fn client(&self) -> Result<Client, super::RemoteLogError> {
        let mut made = self.client.lock();
        match &*made {
            Some(client) => Ok(client.clone()),
            None => Ok(made.insert(client(&self.log.url)?).clone()),
        }
    }
}

impl Host for StoringHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.lost.is_cancelled() {
                return;
            }
            if let Message::TranscriptMirror(mirror) = &message {
                self.store(mirror).await;
                if !self.mirrored || self.lost.is_cancelled() {
                    return;
                }
            }
            self.host.emit(message).await;
        })
    }

    fn can_use_tool(&self, request: CanUseTool) -> Answer<'_, PermissionResult> {
        self.host.can_use_tool(request)
    }

    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        self.host.hook_callback(call)
    }

    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        self.host.mcp_message(message)
    }

    fn in_process_server(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        self.host.in_process_server(server, limits)
    }

    fn elicit(&self, request: Elicitation) -> Answer<'_, ElicitationResponse> {
        self.host.elicit(request)
    }
}
