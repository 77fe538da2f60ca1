//! Dispatcher of the agent's requests to the callbacks of this program.
//!
//! Over any transport, each request comes here and gets one response: that of its callback, or
//! the failure: no callback, an error, a panic, a timeout.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bowline_protocol::{
    CanUseTool as CanUseToolRequest, Elicitation, ElicitationResponse, HookCallback,
    HookOutput as WireHookOutput, McpMessage, McpServerMessage, PermissionResult, RawJson,
    RequestId, RequestUserDialog, ToolUseId, UserDialogResponse,
};
use tokio::{sync::mpsc, time};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span, info_span};

#[cfg(feature = "embedded")]
use crate::tool::{DirectCall, Tool, ToolResult};
use crate::{
    callback::{
        CallbackFailure, CanUseTool, DialogRequest, ElicitationRequest, HookCall, OnElicitation,
        OnRequest, OnUserDialog, OtherRequest, RegisteredHooks, ToolRequest, caught,
    },
    status::{PendingToolCall, Tracker},
    tool::{CurrentSession, SdkServer, Served, ServerRequest, server_messages},
};

/// Responder of the program, as its options name them.
pub(crate) struct ResponderSetup {
    pub(crate) can_use_tool: Option<Arc<dyn CanUseTool>>,
    /// Time limit of `can_use_tool`.
    pub(crate) permission_limit: Option<Duration>,
    pub(crate) on_elicitation: Option<Arc<dyn OnElicitation>>,
    pub(crate) on_user_dialog: Option<Arc<dyn OnUserDialog>>,
    pub(crate) on_request: BTreeMap<String, Arc<dyn OnRequest>>,
    pub(crate) hooks: RegisteredHooks,
    pub(crate) servers: Vec<SdkServer>,
    /// The session's id, if the options choose it.
    pub(crate) session_id: Option<String>,
}

/// Responds to the requests of one session.
pub(crate) struct Responder {
    can_use_tool: Option<Arc<dyn CanUseTool>>,
    /// How long that may take.
    permission_limit: Option<Duration>,
    on_elicitation: Option<Arc<dyn OnElicitation>>,
    on_user_dialog: Option<Arc<dyn OnUserDialog>>,
    on_request: BTreeMap<String, Arc<dyn OnRequest>>,
    hooks: RegisteredHooks,
    pub(crate) servers: Served,
    pub(crate) session: CurrentSession,
    /// Tracks what the agent waits for, and signals when it has to wait longer.
    tracker: Option<Arc<Tracker>>,
    /// Where the session was opened. Responder run in other tasks, and belong to it all the same.
    span: Span,
}

impl Responder {
    /// The responder of a session, and the messages that its MCP servers send on their own.
    pub(crate) fn new(
        setup: ResponderSetup,
        tracker: Option<Arc<Tracker>>,
    ) -> (Self, mpsc::Receiver<McpServerMessage>) {
        let (messages, notifications) = server_messages();
        let session = CurrentSession::default();
        if let Some(id) = setup.session_id {
            session.is(id.as_str().into());
        }
        let on_elicitation = setup.on_elicitation;
        let servers = Served::new(setup.servers, messages, session.clone(), on_elicitation.clone());
        let responder = Self {
            can_use_tool: setup.can_use_tool,
            permission_limit: setup.permission_limit,
            on_elicitation,
            on_user_dialog: setup.on_user_dialog,
            on_request: setup.on_request,
            hooks: setup.hooks,
            servers,
            session,
            tracker,
            span: Span::current(),
        };
        (responder, notifications)
    }

    pub(crate) async fn can_use_tool(
        &self,
        request_body: CanUseToolRequest,
        request_id: Option<RequestId>,
        cancel: CancellationToken,
    ) -> Result<PermissionResult, CallbackFailure> {
        let tracker = self.tracker.as_ref().filter(|_| self.can_use_tool.is_some());
        let _waiting =
            tracker.map(|tracker| tracker.permission(&request_body, request_id.as_ref()));
        let (tool, call) = (&*request_body.tool_name, request_body.tool_use_id.as_str());
        let span = info_span!(parent: &self.span, "permission", tool, tool_use_id = call);
        self.held_back(span, async {
            let Some(callback) = &self.can_use_tool else {
                return Err(CallbackFailure::new("no permission callback is installed"));
            };
            let input = request_body.input.clone();
            let request = ToolRequest::new(request_body, request_id, cancel);
            let deciding = caught(async { callback.decide(request).await });
            let mut decision = match self.permission_limit {
                None => deciding.await?,
                Some(limit) => time::timeout(limit, deciding).await.unwrap_or_else(|_| {
                    Ok(PermissionResult::deny(format!("No decision within {limit:?}.")))
                })?,
            };
            if let PermissionResult::Allow(allow) = &mut decision {
                // Older agents do not accept a response without an input.
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
    ) -> Result<WireHookOutput, CallbackFailure> {
        let (event, id) = (call.input.event_name(), call.tool_use_id.as_ref());
        let tool_use_id = id.map(|id| id.as_str());
        let span = info_span!(parent: &self.span, "hook", %event, tool_use_id);
        self.held_back(span, async {
            let Some((hook, limit)) = self.hooks.get(&call.callback_id) else {
                return Err(CallbackFailure::new(format!(
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
        request_body: Elicitation,
        cancel: CancellationToken,
    ) -> Result<ElicitationResponse, CallbackFailure> {
        let server = &*request_body.mcp_server_name;
        let span = info_span!(parent: &self.span, "elicitation", server);
        self.held_back(span, async {
            let Some(callback) = &self.on_elicitation else {
                return Ok(ElicitationResponse::decline());
            };
            let request = ElicitationRequest::new(request_body, cancel);
            caught(async { callback.answer(request).await }).await
        })
        .await
    }

    pub(crate) async fn show(
        &self,
        request_body: RequestUserDialog,
        cancel: CancellationToken,
    ) -> Result<UserDialogResponse, CallbackFailure> {
        let span = info_span!(parent: &self.span, "dialog", kind = &*request_body.dialog_kind);
        self.held_back(span, async {
            let Some(callback) = &self.on_user_dialog else {
                return Err(CallbackFailure::unsupported("request_user_dialog"));
            };
            let request = DialogRequest::new(request_body, cancel);
            let response = caught(async { callback.show(request).await }).await?;
            Ok(response.into_wire())
        })
        .await
    }

    /// Responds to a request that has no typed callback.
    pub(crate) async fn other(
        &self,
        subtype: &str,
        body: RawJson,
        cancel: CancellationToken,
    ) -> Result<RawJson, CallbackFailure> {
        let span = info_span!(parent: &self.span, "request", subtype);
        self.held_back(span, async {
            let Some(callback) = self.on_request.get(subtype) else {
                return Err(CallbackFailure::unsupported(subtype));
            };
            let request = OtherRequest::new(body, cancel);
            let response = caught(async { callback.answer(request).await }).await?;
            Ok(RawJson::from(response))
        })
        .await
    }

    /// Passes a message to one of our MCP servers.
    pub(crate) async fn mcp_message(
        &self,
        message: McpMessage,
        cancel: CancellationToken,
    ) -> Result<RawJson, CallbackFailure> {
        let read = ServerRequest::read(&message.message);
        let name = &message.server_name;
        let (mut _waiting, mut span) = (None, self.span.clone());
        if let Some(call) = read.call() {
            let id = call.meta.tool_use_id.as_ref();
            span = self.call_span(name, &call.name, id);
            _waiting = self.tracker.as_ref().map(|tracker| {
                tracker.tool_call(pending(name, &call.name, id, call.arguments.clone()))
            });
        }
        let response =
            self.held_back(span, pin!(self.servers.respond(&message, read, cancel))).await;
        response.ok_or_else(|| CallbackFailure::new(format!("SDK MCP server not found: {name}")))
    }

    /// Calls a tool of one of our MCP servers for an embedded engine, without a message.
    #[cfg(feature = "embedded")]
    pub(crate) async fn call_tool(
        &self,
        server: &str,
        tool: &Tool,
        call: DirectCall,
    ) -> ToolResult {
        let (name, id) = (tool.name(), Some(&call.id));
        let span = self.call_span(server, name, id);
        let _waiting = self.tracker.as_ref().map(|tracker| {
            let arguments = RawJson::from(call.arguments.clone());
            tracker.tool_call(pending(server, name, id, arguments))
        });
        self.held_back(span, pin!(self.servers.call(server, tool, call))).await
    }

    fn call_span(&self, server: &str, tool: &str, id: Option<&ToolUseId>) -> Span {
        let tool_use_id = id.map(|id| id.as_str());
        info_span!(parent: &self.span, "tool", server, tool, tool_use_id)
    }

    /// Computes a response and withholds it while the session is paused.
    async fn held_back<T>(&self, span: Span, finding: impl Future<Output = T>) -> T {
        let response = finding.instrument(span).await;
        if let Some(tracker) = &self.tracker {
            tracker.unpaused().await;
        }
        response
    }
}

/// A call of one of our tools, as the status of a session shows it.
fn pending(
    server: &str,
    tool: &str,
    id: Option<&ToolUseId>,
    arguments: RawJson,
) -> PendingToolCall {
    PendingToolCall {
        tool_use_id: id.cloned(),
        server_name: server.to_owned(),
        tool_name: tool.to_owned(),
        arguments,
        started_at: SystemTime::now(),
    }
}

async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, CallbackFailure>>,
) -> Result<T, CallbackFailure> {
    match limit {
        None => work.await,
        Some(limit) => time::timeout(limit, work).await.unwrap_or_else(|_| {
            Err(CallbackFailure::new(format!("the hook did not respond within {limit:?}")))
        }),
    }
}

#[cfg(test)]
mod tests {
    use bowline_protocol::ElicitationAction;

    use super::*;
    use futures_util::FutureExt;

    use crate::{
        options::{Options, opening::responder},
        status::Step,
    };

    /// Computes a response in a paused session, and returns it once the session is resumed.
    async fn after_a_pause<T>(
        mut options: Options,
        send: impl AsyncFnOnce(&Responder) -> Result<T, CallbackFailure>,
    ) -> Result<T, String> {
        let tracker = Tracker::new(None);
        for step in [Step::Start, Step::Connect, Step::Pause] {
            tracker.step(step).unwrap();
        }
        let hooks = RegisteredHooks::default();
        let (callbacks, _said) = responder(&mut options, hooks, Some(tracker.clone()));
        let mut response = Box::pin(send(&callbacks));
        assert!((&mut response).now_or_never().is_none(), "it is kept back");
        tracker.step(Step::Resume).unwrap();
        response.await.map_err(|failure| failure.message)
    }

    #[tokio::test]
    async fn pause_withholds_every_response_and_refusal() {
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
            callbacks.can_use_tool(CanUseToolRequest::default(), None, cancel()).await
        });
        assert_eq!(panicked.await.unwrap_err(), "the callback panicked: no idea");
    }
}
