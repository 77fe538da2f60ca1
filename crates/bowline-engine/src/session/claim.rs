//! Claim of a session: the one that waits, and the one that replaces it.
//!
//! A host may start a process before it knows its task; until then the process has a session that
//! only waits. The host's claim sets the working directory and options of a new session, to which
//! the requests of the host so far also apply.

use std::sync::Arc;

use bowline_protocol::{
    ClaimSession, ClaimSessionResponse, CommandsChangedMessage, Extra, HostRequest, Maybe,
    McpServerStatus, RenameSession, StatusMessage,
};
use parking_lot::Mutex;

use super::{
    Session,
    control::{ControlError, ControlReply},
};
use crate::{catalog, clock::millis, session_context::SessionContext};

/// The error for a claim in a process that already has a session. Hosts match its prefix.
pub(super) const NOT_A_SPARE: &str = "not_a_spare: claim_session is only accepted by a process \
                                      started with --await-claim that has not been claimed yet";

/// The error for prompts before the claim. Hosts match its prefix.
pub(super) const NOT_CLAIMED: &str = "not_claimed: this process was started with --await-claim and \
                                      has not been claimed; send claim_session before the first \
                                      message";

/// How many requests are kept for the session that is claimed. Hosts send a handful.
const KEPT: usize = 1024;

/// Requests of the host that also apply to the session that it will claim.
#[derive(Debug, Default)]
pub(super) struct ClaimRequests(Mutex<Vec<HostRequest>>);

impl ClaimRequests {
    /// Whether a request applies to the session that will be claimed.
    pub(super) fn applies(request: &HostRequest) -> bool {
        use HostRequest as Request;
        matches!(
            request,
            Request::Initialize(_)
                | Request::ApplyFlagSettings(_)
                | Request::McpSetServers(_)
                | Request::McpToggle(_)
                | Request::SetHasSubscribers(_)
                | Request::SetPermissionMode(_)
                | Request::SetMcpPermissionModeOverride(_)
        )
    }

    /// Keeps a request until the session is claimed. Beyond the limit it is refused, because it would
    /// not apply to the claimed session.
    pub(super) fn keep(&self, request: Option<HostRequest>) -> Result<(), ControlError> {
        let mut kept = self.0.lock();
        if request.is_some() && kept.len() >= KEPT {
            return Err(ControlError::new(format!("more than {KEPT} requests before the claim")));
        }
        kept.extend(request);
        Ok(())
    }
}

impl Session {
    /// Replaces a session that waited (see
    /// [`SessionConfig::unclaimed`](crate::SessionConfig::unclaimed)), as a host claims it.
    ///
    /// This session was set up from the claim; the requests that the host sent before are applied
    /// here. Both sessions must be running. Returns the response to the claim.
    pub async fn take_over(&self, waiting: &Self, claim: ClaimSession) -> ControlReply {
        let (context, before) = (&self.context, &waiting.context);
        let kept = waiting.claim.0.lock().clone();
        for request in kept {
            if matches!(request, HostRequest::SetPermissionMode(_))
                && claim.permission_mode.is_some()
            {
                continue;
            }
            let reply = self.control(request).await;
            if let Err(error) = &reply.result {
                return ControlError::new(format!("claim_failed: {error}")).into();
            }
            reply.delivered().await;
        }
        self.keep_model_of(before);
        context.turn.continue_count(&before.turn);
        let ClaimSession { append_system_prompt, agents, .. } = claim;
        context.host.update(|host| {
            host.agents.extend(agents.unwrap_or_default());
            if append_system_prompt.is_some() {
                host.append_system_prompt = append_system_prompt;
            }
        });
        let commands = context.commands.all();
        if commands != before.commands.all() {
            let changed = CommandsChangedMessage { commands, ..CommandsChangedMessage::default() };
            context.sink.send(changed).await;
        }
        if let Some(mode) = claim.permission_mode {
            let permission_mode = Some(mode);
            context.sink.send(StatusMessage { permission_mode, ..StatusMessage::default() }).await;
        }
        if let Some(title) = claim.title {
            let renamed = RenameSession { title, ..RenameSession::default() };
            self.control(HostRequest::RenameSession(renamed)).await.delivered().await;
        }
        let initialize = match claim.include_initialize {
            true => Maybe::Value(catalog::initialize_response(context)),
            false => Maybe::Absent,
        };
        ControlReply::payload(&ClaimSessionResponse {
            status: "ok".to_owned(),
            cwd: context.config.cwd.display().to_string(),
            session_id: self.id(),
            parked_ms: Some(millis(waiting.began.elapsed())),
            sdk_mcp_settled: Some(are_settled(context, &claim.sdk_mcp_servers)),
            initialize,
            extra: Extra::new(),
        })
    }

    /// Keeps the model and thinking that the host has switched to.
    fn keep_model_of(&self, before: &Arc<SessionContext>) {
        let (model, thinking) = (before.models.requested(), before.models.thinking());
        if model != before.config.model {
            self.context.models.select(model);
        }
        if thinking != before.config.thinking {
            self.context.models.set_thinking(thinking);
        }
    }
}

/// Whether these servers inside the host have connected or failed.
fn are_settled(context: &SessionContext, servers: &[String]) -> bool {
    let states = context.mcp.status();
    let waits = |name: &String| {
        states.iter().any(|it| it.name == *name && it.status == McpServerStatus::Pending)
    };
    !servers.iter().any(waits)
}
