//! What a host may ask a session, and what it gets.
//!
//! One file per family of requests, as in the protocol crate. Every answer is made
//! here whatever the door, and none waits for the turn that runs.

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
    spare::{self, ClaimRequests},
};

/// What a request leads to.
type Answered = Result<ControlReply, ControlError>;

/// A question as it was asked.
pub(crate) struct Asked {
    /// Its name, if it has one.
    pub(crate) id: Option<RequestId>,
    /// Fires when the host no longer wants an answer.
    pub(crate) cancel: CancellationToken,
}

/// The answer to a host's question.
#[must_use = "some answers have consequences that wait for their delivery"]
pub struct ControlReply {
    /// The answer; `None` for a mere acknowledgement.
    pub result: Result<Option<RawJson>, ControlError>,
    then: Option<BoxFuture<'static, ()>>,
}

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ControlError {
    /// Why, for people.
    pub message: String,
    /// Why, for programs.
    pub code: Option<String>,
    /// More about it, for programs: beside the error, by name.
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

    /// What happens once the host has the answer.
    pub(crate) fn then(mut self, then: impl Future<Output = ()> + Send + 'static) -> Self {
        self.then = Some(Box::pin(then));
        self
    }

    /// The host has the answer: what follows from it may happen now.
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

/// Answers one question.
pub(crate) async fn answer(own: &Session, asked: Asked, request: HostRequest) -> ControlReply {
    use HostRequest as Request;
    let shared = &own.shared;
    let applies = shared.config.unclaimed && ClaimRequests::applies(&request);
    let kept = applies.then(|| request.clone());
    let answered = match request {
        Request::Initialize(request) => initialize::initialize(shared, request).await,

        Request::Interrupt(request) => session::interrupt(own, request).await,
        Request::SetPermissionMode(request) => session::set_permission_mode(shared, request),
        Request::SetMaxThinkingTokens(request) => session::set_max_thinking_tokens(shared, request),
        Request::SetModel(request) => model::set_model(shared, request).await,
        Request::RenameSession(request) => session::rename_session(shared, request).await,
        Request::SetHasSubscribers(request) => session::set_has_subscribers(shared, request),
        Request::SetCwd(request) => session::set_cwd(shared, request).await,
        Request::EndSession(_) => session::end_session(own),
        Request::ClaimSession(_) => Err(ControlError::new(spare::NOT_A_SPARE)),
        Request::CancelAsyncMessage(request) => session::cancel_async_message(own, request).await,

        Request::GetContextUsage(request) => usage::get_context_usage(shared, request).await,
        Request::GetUsage(_) => usage::get_usage(shared),
        Request::ListModels(_) => usage::list_models(shared),
        Request::GetSessionCost(_) => texts::get_session_cost(shared),
        Request::GetBinaryVersion(_) => texts::get_binary_version(shared),
        Request::GetStatus(_) => texts::get_status(shared),
        Request::GetPlan(_) => texts::get_plan(shared),
        Request::ExportConversation(_) => texts::export_conversation(shared),
        Request::SideQuestion(request) => side::side_question(shared, asked, request).await,
        Request::GenerateSessionTitle(request) => {
            side::generate_session_title(shared, asked, request).await
        }

        Request::McpStatus(_) => mcp::mcp_status(shared),
        Request::McpSetServers(request) => mcp::mcp_set_servers(shared, request).await,
        Request::McpReconnect(request) => mcp::mcp_reconnect(shared, request).await,
        Request::McpToggle(request) => mcp::mcp_toggle(shared, request).await,
        Request::McpAuthenticate(request) => mcp_login::mcp_authenticate(shared, request).await,
        Request::McpOauthCallbackUrl(request) => {
            mcp_login::mcp_oauth_callback_url(shared, request).await
        }
        Request::McpClearAuth(request) => mcp_login::mcp_clear_auth(shared, request).await,
        Request::McpCall(request) => mcp::mcp_call(shared, request).await,
        Request::McpReadResource(request) => mcp::mcp_read_resource(shared, request).await,
        Request::McpServerMessage(request) => mcp::mcp_message(shared, request),
        Request::SetMcpPermissionModeOverride(request) => {
            mcp::set_mcp_permission_mode_override(shared, request)
        }

        Request::RewindFiles(request) => files::rewind_files(shared, request).await,
        Request::SeedReadState(request) => files::seed_read_state(shared, request),
        Request::FileSuggestions(request) => files::file_suggestions(shared, request).await,
        Request::ReadFile(request) => files::read_file(shared, request).await,
        Request::RegisterRepoRoot(request) => files::register_repo_root(shared, request).await,

        Request::StopTask(request) => tasks::stop_task(shared, request).await,
        Request::BackgroundTasks(request) => tasks::background_tasks(shared, request).await,
        Request::GetTaskOutput(request) => tasks::get_task_output(shared, request),

        Request::ApplyFlagSettings(request) => settings::apply_flag_settings(shared, request).await,
        Request::GetSettings(_) => settings::get_settings(shared),
        Request::UpdateSettings(request) => settings::update_settings(shared, request),
        Request::GetHooksListing(_) => settings::get_hooks_listing(shared),
        Request::ListPermissionRules(_) => settings::list_permission_rules(shared),

        Request::ReloadPlugins(request) => plugins::reload_plugins(shared, request).await,
        Request::ReloadSkills(_) => plugins::reload_skills(shared),
        Request::ReloadOutputStyles(_) => plugins::reload_output_styles(shared),

        other => Err(ControlError::unsupported(&subtype(&other))),
    };
    let answered = answered.and_then(|reply| own.claim.keep(kept).map(|()| reply));
    answered.unwrap_or_else(ControlReply::from)
}

/// The subtype of a request that nobody here answers.
fn subtype(request: &HostRequest) -> String {
    let value = serde_json::to_value(request).unwrap_or_default();
    value.get("subtype").and_then(|subtype| subtype.as_str()).unwrap_or_default().to_owned()
}
