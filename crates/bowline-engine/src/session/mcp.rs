//! Between MCP servers and the session: the way to servers inside the host, and what servers ask and report.

use std::{
    sync::{Arc, OnceLock, Weak, atomic::Ordering},
    time::Duration,
};

use bowline_mcp::{
    Elicit, McpCallResult, McpObserver, McpServers, McpToolCall, NamedServer, SdkServerError,
    SdkServers, Setup, tool_name,
};
use bowline_model::BoxFuture;
use bowline_protocol::{
    CommandsChangedMessage, Elicitation, ElicitationAction, ElicitationCompleteMessage,
    ElicitationInput, ElicitationOutput, ElicitationResponse, ElicitationResultInput, EventInput,
    Extra, HookEvent, McpMessage, McpPermissionPolicy, McpServerConfig, McpToolPolicy,
    NotificationInput, PermissionBehavior, RawJson,
};
use bowline_tools::Workspace;
use futures_util::TryFutureExt;
use tokio_util::sync::CancellationToken;

use super::{ServerPolicy, Shared, catalog, questions::Question};
use crate::{
    config::SessionConfig,
    host::{Host, HostError},
    identity::Identity,
    permission::RuleSource,
    sink::new_uuid,
};

/// How long servers may take to go away.
const CLOSE_GRACE: Duration = Duration::from_secs(3);

/// What servers need of the session.
pub(crate) struct McpBridge {
    host: Arc<dyn Host>,
    session: OnceLock<Weak<Shared>>,
}

impl McpBridge {
    pub(crate) fn new(host: Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Self { host, session: OnceLock::new() })
    }

    /// The servers of a session; they are reached later.
    pub(crate) fn servers(
        self: &Arc<Self>,
        config: &SessionConfig,
        workspace: &Arc<Workspace>,
    ) -> Arc<McpServers> {
        let mut setup = self.setup(config, workspace);
        setup.observer = Some(Arc::clone(self) as Arc<dyn McpObserver>);
        servers(setup, &config.mcp_servers)
    }

    /// The servers of one of its agents, whose prompts nobody can call.
    pub(crate) fn agent_servers(
        self: &Arc<Self>,
        session: &Shared,
        wanted: &[NamedServer],
    ) -> Arc<McpServers> {
        servers(self.setup(&session.config, &session.workspace), wanted)
    }

    fn setup(self: &Arc<Self>, config: &SessionConfig, workspace: &Arc<Workspace>) -> Setup {
        let mut setup = Setup::new(Arc::clone(workspace));
        setup.options = config.mcp_options.clone();
        setup.sdk = Some(Arc::clone(self) as Arc<dyn SdkServers>);
        setup.elicit = Some(Arc::clone(self) as Arc<dyn Elicit>);
        setup.logins = Some(config.places.mcp_logins());
        setup
    }

    /// From now on, servers can ask and report.
    pub(crate) fn belongs_to(&self, session: &Arc<Shared>) {
        // Called once, when the session is set up.
        self.session.set(Arc::downgrade(session)).ok();
    }

    fn session(&self) -> Option<Arc<Shared>> {
        self.session.get()?.upgrade()
    }
}

fn servers(setup: Setup, wanted: &[NamedServer]) -> Arc<McpServers> {
    let servers = McpServers::new(setup);
    for server in wanted {
        servers.add(server.clone());
    }
    Arc::new(servers)
}

impl SdkServers for McpBridge {
    fn send(
        &self,
        server: &str,
        message: RawJson,
    ) -> BoxFuture<'_, Result<RawJson, SdkServerError>> {
        let server_name = server.to_owned();
        let message = McpMessage { server_name, message, ..McpMessage::default() };
        Box::pin(self.host.mcp_message(message).map_err(no_answer))
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        call: &'a McpToolCall,
        progress_token: u64,
    ) -> Option<BoxFuture<'a, Result<McpCallResult, SdkServerError>>> {
        let answer = self.host.call_tool(server, call, progress_token)?;
        Some(Box::pin(answer.map_err(no_answer)))
    }
}

/// Why the host has no answer of a server.
fn no_answer(error: HostError) -> SdkServerError {
    match error {
        HostError::Closed => SdkServerError::Closed,
        error => SdkServerError::Refused(error.to_string()),
    }
}

impl Elicit for McpBridge {
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationResponse> {
        Box::pin(async move {
            match self.session() {
                Some(session) => session.elicit(question).await,
                None => response(ElicitationAction::Cancel, None),
            }
        })
    }

    fn complete(&self, server: &str, elicitation_id: &str) {
        if let Some(session) = self.session() {
            session.sink.enqueue(ElicitationCompleteMessage {
                mcp_server_name: server.to_owned(),
                elicitation_id: elicitation_id.to_owned(),
                uuid: new_uuid(),
                session_id: session.id(),
                extra: Extra::new(),
            });
        }
    }
}

impl McpObserver for McpBridge {
    fn prompts_changed(&self, _: &str) {
        // At the end everything goes, which is no news.
        let going_on = |session: &Arc<Shared>| !session.servers_closing.load(Ordering::Acquire);
        if let Some(session) = self.session().filter(going_on) {
            let commands = catalog::commands(&session);
            session
                .sink
                .enqueue(CommandsChangedMessage { commands, ..CommandsChangedMessage::default() });
        }
    }
}

impl Shared {
    /// Reaches servers that nobody has tried to reach yet, and waits a while for them.
    pub(crate) async fn await_servers(&self, cancel: &CancellationToken) {
        self.mcp.start();
        if self.servers_awaited.swap(true, Ordering::AcqRel) {
            return;
        }
        tokio::select! {
            () = self.mcp.wait_ready(self.config.mcp_grace) => {}
            () = cancel.cancelled() => {}
        }
    }

    /// The set of servers has changed: the next turn waits for those that are new.
    pub(crate) fn servers_changed(&self) {
        if self.config.unclaimed {
            return;
        }
        self.mcp.start();
        self.servers_awaited.store(false, Ordering::Release);
    }

    /// Lets go of all servers.
    pub(crate) async fn close_servers(&self) {
        self.servers_closing.store(true, Ordering::Release);
        tokio::time::timeout(CLOSE_GRACE, self.mcp.close()).await.ok();
    }

    /// What the configuration of a server decides about its tools counts from now on.
    pub(crate) fn set_server_policy(&self, name: &str, config: &McpServerConfig) {
        let (tools, may_allow) = match config {
            McpServerConfig::Sdk(server) => (&server.tools, false),
            McpServerConfig::Http(server) | McpServerConfig::Sse(server) => (&server.tools, true),
            _ => (&None, false),
        };
        let policy = ServerPolicy { tools: tools.clone().unwrap_or_default(), may_allow };
        self.live().server_policies.insert(name.to_owned(), policy);
    }

    /// Brings the rules up to date with what is decided about the tools of servers.
    pub(crate) fn apply_server_policies(&self) {
        let policies = self.live().server_policies.clone();
        let mut policy = self.policy();
        policy.rules.clear_source(RuleSource::McpServerPolicy);
        for (server, decided) in &policies {
            for McpToolPolicy { name, permission_policy, .. } in &decided.tools {
                let behavior = match permission_policy {
                    Some(McpPermissionPolicy::AlwaysDeny) => PermissionBehavior::Deny,
                    Some(McpPermissionPolicy::AlwaysAsk) => PermissionBehavior::Ask,
                    Some(McpPermissionPolicy::AlwaysAllow) if decided.may_allow => {
                        PermissionBehavior::Allow
                    }
                    _ => continue,
                };
                let rule = tool_name(server, name);
                policy.rules.add(RuleSource::McpServerPolicy, &behavior, &rule);
            }
        }
    }

    /// Puts a server's question to hooks and, if they have no answer, to the host.
    async fn elicit(&self, question: Elicitation) -> ElicitationResponse {
        // A server that withdraws its question drops this future.
        let cancel = CancellationToken::new();
        let answer = match self.ask_hooks(&question, &cancel).await {
            Some(answer) => answer,
            None => self.ask_host(question.clone()).await,
        };
        let answer = self.tell_hooks(&question, answer, &cancel).await;
        self.notify_of(&question, &answer, &cancel).await;
        answer
    }

    /// Tells hooks that there is an answer, whatever it is.
    async fn notify_of(
        &self,
        question: &Elicitation,
        answer: &ElicitationResponse,
        cancel: &CancellationToken,
    ) {
        if !self.has_hooks(HookEvent::Notification) {
            return;
        }
        let (server, action) = (&question.mcp_server_name, &answer.action);
        let event = EventInput::Notification(NotificationInput {
            message: format!("Elicitation response for server \"{server}\": {action}"),
            notification_type: "elicitation_response".into(),
            ..NotificationInput::default()
        });
        self.run_hooks(&Identity::Main, event, cancel).await;
    }

    async fn ask_host(&self, question: Elicitation) -> ElicitationResponse {
        let _waiting =
            self.question_opened(Question::Elicitation(Box::new(question.clone()))).await;
        match self.sink.host().elicit(question).await {
            Ok(answer) => answer,
            Err(HostError::Closed) => response(ElicitationAction::Cancel, None),
            Err(error) => {
                tracing::debug!(%error, "nobody answered the question of an MCP server");
                response(ElicitationAction::Decline, None)
            }
        }
    }

    async fn ask_hooks(
        &self,
        question: &Elicitation,
        cancel: &CancellationToken,
    ) -> Option<ElicitationResponse> {
        if !self.has_hooks(HookEvent::Elicitation) {
            return None;
        }
        let event = EventInput::Elicitation(ElicitationInput {
            mcp_server_name: question.mcp_server_name.clone(),
            message: question.message.clone(),
            mode: question.mode.clone(),
            url: question.url.clone(),
            elicitation_id: question.elicitation_id.clone(),
            requested_schema: question.requested_schema.clone(),
            extra: Extra::new(),
        });
        let report = self.run_hooks(&Identity::Main, event, cancel).await;
        if !report.blocks.is_empty() {
            return Some(response(ElicitationAction::Decline, None));
        }
        let ElicitationOutput { action, content, .. } = report.elicitation?;
        Some(response(action?, content))
    }

    /// Tells hooks what was answered; they may change it before the server hears it.
    async fn tell_hooks(
        &self,
        question: &Elicitation,
        answer: ElicitationResponse,
        cancel: &CancellationToken,
    ) -> ElicitationResponse {
        if !self.has_hooks(HookEvent::ElicitationResult) {
            return answer;
        }
        let event = EventInput::ElicitationResult(ElicitationResultInput {
            mcp_server_name: question.mcp_server_name.clone(),
            action: answer.action.to_string(),
            elicitation_id: question.elicitation_id.clone(),
            mode: question.mode.clone(),
            content: answer.content.clone(),
            extra: Extra::new(),
        });
        let report = self.run_hooks(&Identity::Main, event, cancel).await;
        if !report.blocks.is_empty() {
            return response(ElicitationAction::Decline, None);
        }
        match report.elicitation {
            Some(ElicitationOutput { action: Some(action), content, .. }) => {
                response(action, content)
            }
            _ => answer,
        }
    }
}

fn response(action: ElicitationAction, content: Option<RawJson>) -> ElicitationResponse {
    ElicitationResponse { action, content, extra: Extra::new() }
}
