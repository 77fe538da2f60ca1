//! The questions of an agent, answered by the callbacks of this program.
//!
//! Whatever the transport, each question comes here and gets one answer: from its callback, or
//! that there is none, that it failed, panicked, or was too slow.

use std::{
    any::Any, collections::BTreeMap, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration,
};

use bowline_protocol::{
    CanUseTool as ToolQuestion, Elicitation, ElicitationResponse, HookCallback,
    HookOutput as WireHookOutput, McpMessage, McpServerMessage, PermissionResult, RawJson,
    RequestId, RequestUserDialog, UserDialogResponse,
};
use futures_util::FutureExt;
use tokio::{sync::mpsc, time};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, info_span};

use super::{
    CanUseTool, DialogRequest, ElicitationRequest, HookCall, OnElicitation, OnRequest,
    OnUserDialog, OtherRequest, RegisteredHooks, ToolRequest,
};
#[cfg(feature = "embedded")]
use crate::tool::{ServedTools, ToolResult};
use crate::{
    Options,
    session::Tracker,
    tool::{CallParams, CurrentSession, Incoming, Served, outlet},
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
    /// How long that may take.
    permission_limit: Option<Duration>,
    on_elicitation: Option<Arc<dyn OnElicitation>>,
    on_user_dialog: Option<Arc<dyn OnUserDialog>>,
    on_request: BTreeMap<String, Arc<dyn OnRequest>>,
    hooks: RegisteredHooks,
    pub(crate) servers: Served,
    pub(crate) session: CurrentSession,
    /// Is told what the agent waits for, and says when it has to wait longer.
    tracker: Option<Arc<Tracker>>,
    /// Where the session was opened. Callbacks run in other tasks, and belong to it all the same.
    span: Span,
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
            permission_limit: options.limits.permission,
            on_elicitation,
            on_user_dialog: options.on_user_dialog.as_ref().map(|(_, callback)| callback.clone()),
            on_request: options.on_request.clone(),
            hooks,
            servers,
            session,
            tracker,
            span: Span::current(),
        };
        (callbacks, said)
    }

    pub(crate) async fn can_use_tool(
        &self,
        question: ToolQuestion,
        request_id: Option<RequestId>,
        cancel: CancellationToken,
    ) -> Result<PermissionResult, Refusal> {
        let tracker = self.tracker.as_ref().filter(|_| self.can_use_tool.is_some());
        let _waiting = tracker.map(|tracker| tracker.permission(&question, request_id.as_ref()));
        let (tool, call) = (&*question.tool_name, question.tool_use_id.as_str());
        let span = info_span!(parent: &self.span, "permission", tool, tool_use_id = call);
        self.held_back(span, async {
            let Some(callback) = &self.can_use_tool else {
                return Err(Refusal::new("no permission callback is installed"));
            };
            let input = question.input.clone();
            let request = ToolRequest::new(question, request_id, cancel);
            let deciding = caught(async { callback.decide(request).await });
            let mut decision = match self.permission_limit {
                None => deciding.await?,
                Some(limit) => time::timeout(limit, deciding).await.unwrap_or_else(|_| {
                    Ok(PermissionResult::deny(format!("Nobody decided within {limit:?}.")))
                })?,
            };
            if let PermissionResult::Allow(allow) = &mut decision {
                // Older agents do not take an answer without an input.
                allow.updated_input.get_or_insert(input);
            }
            Ok(decision)
        })
        .await
    }

    pub(crate) async fn hook(
        &self,
        call: HookCallback,
        cancel: CancellationToken,
    ) -> Result<WireHookOutput, Refusal> {
        let (event, id) = (call.input.event_name(), call.tool_use_id.as_ref());
        let tool_use_id = id.map(|id| id.as_str());
        let span = info_span!(parent: &self.span, "hook", %event, tool_use_id);
        self.held_back(span, async {
            let Some((hook, limit)) = self.hooks.get(&call.callback_id) else {
                return Err(Refusal::new(format!(
                    "no hook callback is named {}",
                    call.callback_id
                )));
            };
            let event = call.input.event.clone();
            let call = HookCall { input: call.input, tool_use_id: call.tool_use_id, cancel };
            let output = within(*limit, caught(async { hook.run(call).await })).await?;
            Ok(output.for_event(&event))
        })
        .await
    }

    pub(crate) async fn elicit(
        &self,
        question: Elicitation,
        cancel: CancellationToken,
    ) -> Result<ElicitationResponse, Refusal> {
        let server = &*question.mcp_server_name;
        let span = info_span!(parent: &self.span, "elicitation", server);
        self.held_back(span, async {
            let Some(callback) = &self.on_elicitation else {
                return Ok(ElicitationResponse::decline());
            };
            let request = ElicitationRequest::new(question, cancel);
            caught(async { callback.answer(request).await }).await
        })
        .await
    }

    pub(crate) async fn show(
        &self,
        question: RequestUserDialog,
        cancel: CancellationToken,
    ) -> Result<UserDialogResponse, Refusal> {
        let span = info_span!(parent: &self.span, "dialog", kind = &*question.dialog_kind);
        self.held_back(span, async {
            let Some(callback) = &self.on_user_dialog else {
                return Err(Refusal::unsupported("request_user_dialog"));
            };
            let request = DialogRequest::new(question, cancel);
            let answer = caught(async { callback.show(request).await }).await?;
            Ok(answer.into_wire())
        })
        .await
    }

    /// Answers a request that has no callback of its own.
    pub(crate) async fn other(
        &self,
        subtype: &str,
        body: RawJson,
        cancel: CancellationToken,
    ) -> Result<RawJson, Refusal> {
        let span = info_span!(parent: &self.span, "request", subtype);
        self.held_back(span, async {
            let Some(callback) = self.on_request.get(subtype) else {
                return Err(Refusal::unsupported(subtype));
            };
            let request = OtherRequest::new(body, cancel);
            let answer = caught(async { callback.answer(request).await }).await?;
            Ok(RawJson::from(answer))
        })
        .await
    }

    /// Passes a message to one of our MCP servers.
    pub(crate) async fn mcp_message(
        &self,
        message: McpMessage,
        cancel: CancellationToken,
    ) -> Result<RawJson, Refusal> {
        let read = Incoming::read(&message.message);
        let name = &message.server_name;
        let _waiting = match (&self.tracker, read.call()) {
            (Some(tracker), Some(call)) => Some(tracker.tool_call(name, call)),
            _ => None,
        };
        let span = match read.call() {
            Some(call) => self.call_span(name, call),
            None => self.span.clone(),
        };
        let answer = self.held_back(span, pin!(self.servers.answer(&message, read, cancel))).await;
        answer.ok_or_else(|| Refusal::new(format!("SDK MCP server not found: {name}")))
    }

    /// Calls a tool of one of our MCP servers with no message in between.
    #[cfg(feature = "embedded")]
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        server: &ServedTools,
        call: CallParams,
    ) -> ToolResult {
        let _waiting = self.tracker.as_ref().map(|tracker| tracker.tool_call(name, &call));
        let span = self.call_span(name, &call);
        self.held_back(span, pin!(self.servers.call(server, call))).await
    }

    fn call_span(&self, server: &str, call: &CallParams) -> Span {
        let (tool, id) = (&*call.name, call.meta.tool_use_id.as_ref());
        let tool_use_id = id.map(|id| id.as_str());
        info_span!(parent: &self.span, "tool", server, tool, tool_use_id)
    }

    /// Finds an answer and, whatever it is, keeps it back while the session is paused.
    async fn held_back<T>(&self, span: Span, finding: impl Future<Output = T>) -> T {
        let answer = finding.instrument(span).await;
        if let Some(tracker) = &self.tracker {
            tracker.unpaused().await;
        }
        answer
    }
}

/// Runs a callback; a panic is an error like any other.
pub(crate) async fn caught<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, Refusal> {
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

#[cfg(test)]
mod tests {
    use bowline_protocol::ElicitationAction;

    use super::*;
    use crate::session::Step;

    /// Finds an answer in a paused session, and tells what it is once the session goes on.
    async fn after_a_pause<T>(
        mut options: Options,
        ask: impl AsyncFnOnce(&Callbacks) -> Result<T, Refusal>,
    ) -> Result<T, String> {
        let tracker = Tracker::new(None);
        for step in [Step::Start, Step::Connect, Step::Pause] {
            tracker.step(step).unwrap();
        }
        let hooks = RegisteredHooks::default();
        let (callbacks, _said) = Callbacks::new(&mut options, hooks, Some(tracker.clone()));
        let mut answer = Box::pin(ask(&callbacks));
        assert!((&mut answer).now_or_never().is_none(), "it is kept back");
        tracker.step(Step::Resume).unwrap();
        answer.await.map_err(|refusal| refusal.why)
    }

    #[tokio::test]
    async fn a_pause_keeps_back_every_answer_and_every_refusal() {
        let cancel = CancellationToken::new;
        let declined = after_a_pause(Options::default(), async |callbacks| {
            callbacks.elicit(Elicitation::default(), cancel()).await
        });
        assert_eq!(declined.await.unwrap().action, ElicitationAction::Decline);
        let unknown = after_a_pause(Options::default(), async |callbacks| {
            callbacks.other("odd", RawJson::empty_object(), cancel()).await
        });
        assert_eq!(unknown.await.unwrap_err(), "Unsupported control request subtype: odd");
        let panics = Options::default()
            .can_use_tool(async |_: ToolRequest| -> PermissionResult { panic!("no idea") });
        let panicked = after_a_pause(panics, async |callbacks| {
            callbacks.can_use_tool(ToolQuestion::default(), None, cancel()).await
        });
        assert_eq!(panicked.await.unwrap_err(), "the callback panicked: no idea");
    }
}
