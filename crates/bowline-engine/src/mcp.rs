//! Bridge between MCP servers and the session: servers inside the host, elicitations, lifetimes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_mcp::{
    CallLimits, Elicit, InProcessServer, McpObserver, McpServers, NamedServer, SdkServerError,
    SdkServers, Setup,
};
use bowline_model::BoxFuture;
use bowline_protocol::{
    CommandsChangedMessage, Elicitation, ElicitationAction, ElicitationCompleteMessage,
    ElicitationInput, ElicitationOutput, ElicitationResponse, ElicitationResultInput, EventInput,
    Extra, HookEvent, McpMessage, NotificationInput, RawJson,
};
use bowline_tools::Workspace;
use futures_util::TryFutureExt;
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::PendingApprovals,
    config::SessionConfig,
    hooking::HookRunner,
    host::{Host, HostError},
    identity::Identity,
    library::CommandCatalog,
    sink::{MessageSink, new_uuid},
};

/// How long servers may take to close.
const CLOSE_GRACE: Duration = Duration::from_secs(3);

/// Connects MCP servers to the session: servers inside the host, elicitations, changed prompts.
pub(crate) struct McpBridge {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) sink: Arc<MessageSink>,
    pub(crate) hooks: Arc<HookRunner>,
    pub(crate) approvals: Arc<PendingApprovals>,
    pub(crate) commands: Arc<CommandCatalog>,
    /// Fires when the servers are closed.
    pub(crate) closing: CancellationToken,
}

impl McpBridge {
    /// The servers of a session; they are connected later.
    pub(crate) fn servers(
        self: &Arc<Self>,
        config: &SessionConfig,
        workspace: &Arc<Workspace>,
    ) -> McpServers {
        let mut setup = self.setup(config, workspace);
        setup.observer = Some(Arc::clone(self) as Arc<dyn McpObserver>);
        servers(setup, &config.mcp_servers)
    }

    /// The servers of one of its agents, whose prompts cannot be called.
    pub(crate) fn agent_servers(
        self: &Arc<Self>,
        config: &SessionConfig,
        workspace: &Arc<Workspace>,
        wanted: &[NamedServer],
    ) -> Arc<McpServers> {
        Arc::new(servers(self.setup(config, workspace), wanted))
    }

    fn setup(self: &Arc<Self>, config: &SessionConfig, workspace: &Arc<Workspace>) -> Setup {
        let mut setup = Setup::new(Arc::clone(workspace));
        setup.options = config.mcp_options.clone();
        setup.sdk = Some(Arc::clone(self) as Arc<dyn SdkServers>);
        setup.elicit = Some(Arc::clone(self) as Arc<dyn Elicit>);
        setup.logins = Some(config.places.mcp_logins());
        setup
    }
}

fn servers(setup: Setup, wanted: &[NamedServer]) -> McpServers {
    let servers = McpServers::new(setup);
    for server in wanted {
        servers.add(server.clone());
    }
    servers
}

impl SdkServers for McpBridge {
    fn send(
        &self,
        server: &str,
        message: RawJson,
    ) -> BoxFuture<'_, Result<RawJson, SdkServerError>> {
        let server_name = server.to_owned();
        let message = McpMessage { server_name, message, ..McpMessage::default() };
        Box::pin(self.host.mcp_message(message).map_err(sdk_server_error))
    }

    fn in_process(&self, server: &str, limits: CallLimits) -> Option<InProcessServer> {
        self.host.in_process_server(server, limits)
    }
}

/// The error for a server inside the host that did not respond.
fn sdk_server_error(error: HostError) -> SdkServerError {
    match error {
        HostError::Closed => SdkServerError::Closed,
        error => SdkServerError::Refused(error.to_string()),
    }
}

impl Elicit for McpBridge {
    fn elicit(&self, request: Elicitation) -> BoxFuture<'_, ElicitationResponse> {
        Box::pin(self.elicit_from_user(request))
    }

    fn complete(&self, server: &str, elicitation_id: &str) {
        self.sink.enqueue(ElicitationCompleteMessage {
            mcp_server_name: server.to_owned(),
            elicitation_id: elicitation_id.to_owned(),
            uuid: new_uuid(),
            session_id: self.sink.session_id(),
            extra: Extra::new(),
        });
    }
}

impl McpObserver for McpBridge {
    fn prompts_changed(&self, _: &str) {
        // When the session closes, all prompts disappear; the host need not be notified.
        if !self.closing.is_cancelled() {
            let commands = self.commands.all();
            self.sink
                .enqueue(CommandsChangedMessage { commands, ..CommandsChangedMessage::default() });
        }
    }
}

/// The lifetime of a session's MCP servers: started, awaited once, closed.
pub(crate) struct ServerStartup {
    mcp: Arc<McpServers>,
    /// How long the first turn waits for servers.
    grace: Duration,
    /// Whether the session waits to be claimed: then no server is connected.
    unclaimed: bool,
    /// Whether a turn has already waited for the current servers.
    awaited: AtomicBool,
    closing: CancellationToken,
}

impl ServerStartup {
    pub(crate) fn new(
        config: &SessionConfig,
        mcp: &Arc<McpServers>,
        closing: CancellationToken,
    ) -> Self {
        Self {
            mcp: Arc::clone(mcp),
            grace: config.mcp_grace,
            unclaimed: config.unclaimed,
            awaited: AtomicBool::new(false),
            closing,
        }
    }

    /// Starts servers that were not started yet, and waits a while for them.
    pub(crate) async fn wait_ready(&self, cancel: &CancellationToken) {
        self.mcp.start();
        if self.awaited.swap(true, Ordering::AcqRel) {
            return;
        }
        tokio::select! {
            () = self.mcp.wait_ready(self.grace) => {}
            () = cancel.cancelled() => {}
        }
    }

    /// The set of servers has changed: the next turn waits for new ones.
    pub(crate) fn changed(&self) {
        if self.unclaimed {
            return;
        }
        self.mcp.start();
        self.awaited.store(false, Ordering::Release);
    }

    /// Closes all servers.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        tokio::time::timeout(CLOSE_GRACE, self.mcp.close()).await.ok();
    }
}

impl McpBridge {
    /// Passes a server's request to hooks and, if these do not decide, to the host.
    async fn elicit_from_user(&self, request: Elicitation) -> ElicitationResponse {
        // Never cancelled: a server that cancels its request drops this future.
        let cancel = CancellationToken::new();
        let response = match self.request_from_hooks(&request, &cancel).await {
            Some(response) => response,
            None => self.request_from_host(request.clone()).await,
        };
        let response = self.run_result_hooks(&request, response, &cancel).await;
        self.run_notification_hooks(&request, &response, &cancel).await;
        response
    }

    /// Runs the `Notification` hooks after a response.
    async fn run_notification_hooks(
        &self,
        request: &Elicitation,
        response: &ElicitationResponse,
        cancel: &CancellationToken,
    ) {
        if !self.hooks.has(HookEvent::Notification) {
            return;
        }
        let (server, action) = (&request.mcp_server_name, &response.action);
        let event = EventInput::Notification(NotificationInput {
            message: format!("Elicitation response for server \"{server}\": {action}"),
            notification_type: "elicitation_response".into(),
            ..NotificationInput::default()
        });
        self.hooks.run(&Identity::Main, event, cancel).await;
    }

    async fn request_from_host(&self, request: Elicitation) -> ElicitationResponse {
        let _pending = self.approvals.opened().await;
        match self.host.elicit(request).await {
            Ok(response) => response,
            Err(HostError::Closed) => response(ElicitationAction::Cancel, None),
            Err(error) => {
                tracing::debug!(%error, "the elicitation of an MCP server got no response");
                response(ElicitationAction::Decline, None)
            }
        }
    }

    async fn request_from_hooks(
        &self,
        request: &Elicitation,
        cancel: &CancellationToken,
    ) -> Option<ElicitationResponse> {
        if !self.hooks.has(HookEvent::Elicitation) {
            return None;
        }
        let event = EventInput::Elicitation(ElicitationInput {
            mcp_server_name: request.mcp_server_name.clone(),
            message: request.message.clone(),
            mode: request.mode.clone(),
            url: request.url.clone(),
            elicitation_id: request.elicitation_id.clone(),
            requested_schema: request.requested_schema.clone(),
            extra: Extra::new(),
        });
        let report = self.hooks.run(&Identity::Main, event, cancel).await;
        if !report.blocks.is_empty() {
            return Some(response(ElicitationAction::Decline, None));
        }
        let ElicitationOutput { action, content, .. } = report.elicitation?;
        Some(response(action?, content))
    }

    /// Runs the `ElicitationResult` hooks, which may change the response before the server gets it.
    async fn run_result_hooks(
        &self,
        request: &Elicitation,
        given: ElicitationResponse,
        cancel: &CancellationToken,
    ) -> ElicitationResponse {
        if !self.hooks.has(HookEvent::ElicitationResult) {
            return given;
        }
        let event = EventInput::ElicitationResult(ElicitationResultInput {
            mcp_server_name: request.mcp_server_name.clone(),
            action: given.action.to_string(),
            elicitation_id: request.elicitation_id.clone(),
            mode: request.mode.clone(),
            content: given.content.clone(),
            extra: Extra::new(),
        });
        let report = self.hooks.run(&Identity::Main, event, cancel).await;
        if !report.blocks.is_empty() {
            return response(ElicitationAction::Decline, None);
        }
        match report.elicitation {
            Some(ElicitationOutput { action: Some(action), content, .. }) => {
                response(action, content)
            }
            _ => given,
        }
    }
}

fn response(action: ElicitationAction, content: Option<RawJson>) -> ElicitationResponse {
    ElicitationResponse { action, content, extra: Extra::new() }
}
