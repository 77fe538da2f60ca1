//! The questions of an agent, answered by the callbacks of this program.
//!
//! Whatever the transport, each question comes here and gets one answer: from its callback, or
//! that there is none, that it failed, panicked, or was too slow.

use std::{any::Any, collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use bowline_protocol::{
    CanUseTool as ToolQuestion, Elicitation, ElicitationAction, ElicitationResponse, Extra,
    HookCallback, HookOutput as WireHookOutput, McpMessage, McpServerMessage, PermissionResult,
    RawJson, RequestUserDialog, UserDialogResponse,
};
use futures_util::FutureExt;
use tokio::{sync::mpsc, time};
use tokio_util::sync::CancellationToken;

use super::{
    CanUseTool, DialogRequest, ElicitationRequest, HookCall, OnElicitation, OnRequest,
    OnUserDialog, OtherRequest, RegisteredHooks, ToolRequest,
};
use crate::{
    Options,
    session::Tracker,
    tool::{CurrentSession, Served, outlet},
};

/// Why a question is not answered, as the agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// For people.
    pub(crate) why: String,
    /// For programs.
    pub(crate) code: Option<&'static str>,
}

impl Refusal {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), code: None }
    }

    pub(crate) fn unsupported(subtype: &str) -> Self {
        let why = format!("Unsupported control request subtype: {subtype}");
        Self { why, code: Some("unsupported_request") }
    }
}

/// All that this program lends to a session.
pub(crate) struct Callbacks {
    can_use_tool: Option<Arc<dyn CanUseTool>>,
    on_elicitation: Option<Arc<dyn OnElicitation>>,
    on_user_dialog: Option<Arc<dyn OnUserDialog>>,
    on_request: BTreeMap<String, Arc<dyn OnRequest>>,
    hooks: RegisteredHooks,
    servers: Served,
    pub(crate) session: CurrentSession,
    /// Is told what the agent waits for, and says when it has to wait longer.
    tracker: Option<Arc<Tracker>>,
}

impl Callbacks {
    /// The callbacks of a session, and what their servers say by themselves.
    pub(crate) fn new(
        options: &mut Options,
        hooks: RegisteredHooks,
        tracker: Option<Arc<Tracker>>,
    ) -> (Self, mpsc::Receiver<McpServerMessage>) {
        let (outlet, said) = outlet();
        let session = CurrentSession::default();
        if let Some(id) = &options.session_id {
            session.is(id.as_str().into());
        }
        let on_elicitation = options.on_elicitation.clone();
        let servers = std::mem::take(&mut options.sdk_mcp_servers);
        let servers = Served::new(servers, outlet, session.clone(), on_elicitation.clone());
        let callbacks = Self {
            can_use_tool: options.can_use_tool.clone(),
            on_elicitation,
            on_user_dialog: options.on_user_dialog.as_ref().map(|(_, callback)| callback.clone()),
            on_request: options.on_request.clone(),
            hooks,
            servers,
            session,
            tracker,
        };
        (callbacks, said)
    }

    pub(crate) async fn can_use_tool(
        &self,
        question: ToolQuestion,
        cancel: CancellationToken,
    ) -> Result<PermissionResult, Refusal> {
        let Some(callback) = &self.can_use_tool else {
            return Err(Refusal::new("no permission callback is installed"));
        };
        let _waiting = self.tracker.as_ref().map(|tracker| tracker.permission(&question));
        let input = question.input.clone();
        let request = ToolRequest::new(question, cancel);
        let mut decision = caught(async { callback.decide(request).await }).await?;
        if let PermissionResult::Allow(allow) = &mut decision {
            // Older agents do not take an answer without an input.
            allow.updated_input.get_or_insert(input);
        }
        self.unpaused().await;
        Ok(decision)
    }

    pub(crate) async fn hook(
        &self,
        call: HookCallback,
        cancel: CancellationToken,
    ) -> Result<WireHookOutput, Refusal> {
        let Some((hook, limit)) = self.hooks.get(&call.callback_id) else {
            return Err(Refusal::new(format!("no hook callback is named {}", call.callback_id)));
        };
        let event = call.input.event.clone();
        let call = HookCall { input: call.input, tool_use_id: call.tool_use_id, cancel };
        let output = within(*limit, caught(async { hook.run(call).await })).await?;
        self.unpaused().await;
        Ok(output.for_event(&event))
    }

    pub(crate) async fn elicit(
        &self,
        question: Elicitation,
        cancel: CancellationToken,
    ) -> Result<ElicitationResponse, Refusal> {
        let Some(callback) = &self.on_elicitation else {
            return Ok(ElicitationResponse {
                action: ElicitationAction::Decline,
                content: None,
                extra: Extra::new(),
            });
        };
        let request = ElicitationRequest::new(question, cancel);
        caught(async { callback.answer(request).await }).await
    }

    pub(crate) async fn show(
        &self,
        question: RequestUserDialog,
        cancel: CancellationToken,
    ) -> Result<UserDialogResponse, Refusal> {
        let Some(callback) = &self.on_user_dialog else {
            return Err(Refusal::unsupported("request_user_dialog"));
        };
        let request = DialogRequest::new(question, cancel);
        let answer = caught(async { callback.show(request).await }).await?;
        Ok(answer.into_wire())
    }

    /// Answers a request that has no callback of its own.
    pub(crate) async fn other(
        &self,
        subtype: &str,
        body: RawJson,
        cancel: CancellationToken,
    ) -> Result<RawJson, Refusal> {
        let Some(callback) = self.on_request.get(subtype) else {
            return Err(Refusal::unsupported(subtype));
        };
        let request = OtherRequest::new(body, cancel);
        let answer = caught(async { callback.answer(request).await }).await?;
        Ok(RawJson::from(answer))
    }

    /// Passes a message to one of our MCP servers.
    pub(crate) async fn mcp_message(
        &self,
        message: McpMessage,
        cancel: CancellationToken,
    ) -> Result<RawJson, Refusal> {
        let _waiting = self.tracker.as_ref().and_then(|tracker| tracker.tool_call(&message));
        let name = &message.server_name;
        let answer = self.servers.answer(name, &message.message, cancel).await;
        self.unpaused().await;
        answer.ok_or_else(|| Refusal::new(format!("SDK MCP server not found: {name}")))
    }

    /// Keeps an answer back while the session is paused.
    async fn unpaused(&self) {
        if let Some(tracker) = &self.tracker {
            tracker.unpaused().await;
        }
    }
}

/// Runs a callback; a panic is an error like any other.
async fn caught<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, Refusal> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(answer) => answer.map_err(Refusal::new),
        Err(panic) => Err(Refusal::new(format!("the callback panicked: {}", panic_text(&*panic)))),
    }
}

async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    match limit {
        None => work.await,
        Some(limit) => time::timeout(limit, work).await.unwrap_or_else(|_| {
            Err(Refusal::new(format!("the hook did not answer within {limit:?}")))
        }),
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
