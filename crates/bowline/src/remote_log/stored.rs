//! A host that hears nothing which is not stored yet.

use std::sync::{Arc, Mutex, PoisonError};

use bowline_engine::{Answer, BoxFuture, Host, McpCallResult, McpToolCall};
use bowline_protocol::{
    CanUseTool, Elicitation, ElicitationResponse, HookCallback, McpMessage, Message,
    PermissionResult, RawJson, TranscriptMirrorMessage,
};
use reqwest::Client;
use tokio_util::sync::CancellationToken;

use super::{RemoteLog, client};
use crate::complain;

/// Stores the lines that the engine tells of before it passes on what follows them.
///
/// When a line cannot be stored, nothing more is said, and `lost` says that the session must end.
pub(crate) struct Stored {
    host: Arc<dyn Host>,
    log: RemoteLog,
    /// Made where it is used: its connections live as long as their runtime.
    client: Mutex<Option<Client>>,
    /// Whether the host itself wants to hear of the lines.
    mirrored: bool,
    lost: CancellationToken,
}

impl Stored {
    /// `host`, as it hears of a session with this log; `lost` fires when a line could not be stored.
    pub(crate) fn new(
        host: Arc<dyn Host>,
        log: RemoteLog,
        mirrored: bool,
        lost: CancellationToken,
    ) -> Self {
        Self { host, log, client: Mutex::default(), mirrored, lost }
    }

    async fn store(&self, mirror: &TranscriptMirrorMessage) {
        // What subagents say among themselves is theirs.
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
        let mut made = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some(client) => Ok(client.clone()),
            None => Ok(made.insert(client(&self.log.url)?).clone()),
        }
    }
}

impl Host for Stored {
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

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        self.host.can_use_tool(question)
    }

    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        self.host.hook_callback(call)
    }

    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        self.host.mcp_message(message)
    }

    fn call_tool<'a>(
        &'a self,
        server: &'a str,
        call: &'a McpToolCall,
        progress_token: u64,
    ) -> Option<Answer<'a, McpCallResult>> {
        self.host.call_tool(server, call, progress_token)
    }

    fn elicit(&self, question: Elicitation) -> Answer<'_, ElicitationResponse> {
        self.host.elicit(question)
    }
}
