//! Control requests of a host, and their responses.
//!
//! One file per family of requests, as in the protocol crate. Every response is made here
//! for all doors, and none waits for the turn that runs.

mod files;
mod initialize;
mod mcp;
mod mcp_login;
mod model;
mod plugins;
mod session;
mod settings;
mod side;
mod suggest;
mod tasks;
mod texts;
mod usage;

use bowline_model::BoxFuture;
use bowline_protocol::{Extra, HostRequest, RawJson, RequestId};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    Session,
    claim::{self, ClaimRequests},
};

/// The response to a request, or its error.
type ControlResult = Result<ControlReply, ControlError>;

/// The id and cancellation of a control request.
pub(crate) struct RequestHandle {
    /// Its id, if it has one.
    pub(crate) id: Option<RequestId>,
    /// Fires when the host cancels it.
    pub(crate) cancel: CancellationToken,
}

/// The response to a control request.
#[must_use = "some responses have consequences that wait for their delivery"]
pub struct ControlReply {
    /// The payload; `None` for a mere acknowledgement.
    pub result: Result<Option<RawJson>, ControlError>,
    then: Option<BoxFuture<'static, ()>>,
}

/// Why a control request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// The message for people.
    pub message: String,
    /// The code for programs.
    pub code: Option<String>,
    /// More fields for programs, sent beside the error.
    pub details: Extra,
}

impl ControlError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: None, details: Extra::new() }
    }

    pub(crate) fn coded(message: impl Into<String>, code: &str) -> Self {
        Self { code: Some(code.to_owned()), ..Self::new(message) }
    }

    /// The same with one more detail.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    fn unsupported(subtype: &str) -> Self {
        Self::coded(
            format!("Unsupported control request subtype: {subtype}"),
            "unsupported_request",
        )
    }
}

impl ControlReply {
    /// Done, without a payload.
    pub(crate) fn ack() -> Self {
        Self { result: Ok(None), then: None }
    }

    /// Done, with a payload.
    pub(crate) fn payload(payload: &impl Serialize) -> Self {
        let result = RawJson::from_value(payload);
        Self {
            result: result.map(Some).map_err(|error| ControlError::new(error.to_string())),
            then: None,
        }
    }

    /// Runs something once the host has the response.
    pub(crate) fn then(mut self, then: impl Future<Output = ()> + Send + 'static) -> Self {
        self.then = Some(Box::pin(then));
        self
    }

    /// The host has the response: what follows from it may happen now.
    pub async fn delivered(self) {
        if let Some(then) = self.then {
            then.await;
        }
    }
}

impl From<ControlError> for ControlReply {
    fn from(error: ControlError) -> Self {
        Self { result: Err(error), then: None }
    }
}

impl std::fmt::Debug for ControlReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ControlReply").field("result", &self.result).finish_non_exhaustive()
    }
}

/// Responds to one request.
pub(crate) async fn respond(
    own: &Session,
    request_handle: RequestHandle,
    request: HostRequest,
) -> ControlReply {
    use HostRequest as Request;
    let context = &own.context;
    let applies = context.config.unclaimed && ClaimRequests::applies(&request);
    let kept = applies.then(|| request.clone());
    let result = match request {
        Request::Initialize(request) => initialize::initialize(context, request).await,

        Request::Interrupt(request) => session::interrupt(own, request).await,
        Request::SetPermissionMode(request) => session::set_permission_mode(context, request),
        Request::SetMaxThinkingTokens(request) => {
            session::set_max_thinking_tokens(context, request)
        }
        Request::SetModel(request) => model::set_model(context, request).await,
        Request::RenameSession(request) => session::rename_session(context, request).await,
        Request::SetHasSubscribers(request) => session::set_has_subscribers(context, request),
        Request::SetCwd(request) => session::set_cwd(context, request).await,
        Request::EndSession(_) => session::end_session(own),
        Request::ClaimSession(_) => Err(ControlError::new(claim::NOT_A_SPARE)),
        Request::CancelAsyncMessage(request) => session::cancel_async_message(own, request).await,

        Request::GetContextUsage(request) => usage::get_context_usage(context, request).await,
        Request::GetUsage(_) => usage::get_usage(context),
        Request::ListModels(_) => usage::list_models(context),
        Request::GetSessionCost(_) => texts::get_session_cost(context),
        Request::GetBinaryVersion(_) => texts::get_binary_version(context),
        Request::GetStatus(_) => texts::get_status(context),
        Request::GetPlan(_) => texts::get_plan(context),
        Request::ExportConversation(_) => texts::export_conversation(context),
        Request::SideQuestion(request) => {
            side::side_question(context, request_handle, request).await
        }
        Request::GenerateSessionTitle(request) => {
            side::generate_session_title(context, request_handle, request).await
        }

        Request::McpStatus(_) => mcp::mcp_status(context),
        Request::McpSetServers(request) => mcp::mcp_set_servers(context, request).await,
        Request::McpReconnect(request) => mcp::mcp_reconnect(context, request).await,
        Request::McpToggle(request) => mcp::mcp_toggle(context, request).await,
        Request::McpAuthenticate(request) => mcp_login::mcp_authenticate(context, request).await,
        Request::McpOauthCallbackUrl(request) => {
            mcp_login::mcp_oauth_callback_url(context, request).await
        }
        Request::McpClearAuth(request) => mcp_login::mcp_clear_auth(context, request).await,
        Request::McpCall(request) => mcp::mcp_call(context, request).await,
        Request::McpReadResource(request) => mcp::mcp_read_resource(context, request).await,
        Request::McpServerMessage(request) => mcp::mcp_message(context, request),
        Request::SetMcpPermissionModeOverride(request) => {
            mcp::set_mcp_permission_mode_override(context, request)
        }

        Request::RewindFiles(request) => files::rewind_files(context, request).await,
        Request::SeedReadState(request) => files::seed_read_state(context, request),
        Request::FileSuggestions(request) => files::file_suggestions(context, request).await,
        Request::ReadFile(request) => files::read_file(context, request).await,
        Request::RegisterRepoRoot(request) => files::register_repo_root(context, request).await,

        Request::StopTask(request) => tasks::stop_task(context, request).await,
        Request::BackgroundTasks(request) => tasks::background_tasks(context, request).await,
        Request::GetTaskOutput(request) => tasks::get_task_output(context, request),

        Request::ApplyFlagSettings(request) => {
            settings::apply_flag_settings(context, request).await
        }
        Request::GetSettings(_) => settings::get_settings(context),
        Request::UpdateSettings(request) => settings::update_settings(context, request),
        Request::GetHooksListing(_) => settings::get_hooks_listing(context),
        Request::ListPermissionRules(_) => settings::list_permission_rules(context),

        Request::ReloadPlugins(request) => plugins::reload_plugins(context, request).await,
        Request::ReloadSkills(_) => plugins::reload_skills(context),
        Request::ReloadOutputStyles(_) => plugins::reload_output_styles(context),

        other => Err(ControlError::unsupported(&subtype(&other))),
    };
    let result = result.and_then(|reply| own.claim.keep(kept).map(|()| reply));
    result.unwrap_or_else(ControlReply::from)
}

/// The subtype of an unsupported request.
fn subtype(request: &HostRequest) -> String {
    let value = serde_json::to_value(request).unwrap_or_default();
    value.get("subtype").and_then(|subtype| subtype.as_str()).unwrap_or_default().to_owned()
}
