//! A session that waits to be claimed, and the one that takes its place.
//!
//! A host that starts a process before it knows what for speaks to a session that only waits. Its
//! claim says where to work and how; the session that is set up from that is a new one, to which
//! all holds that the host has asked for so far.

use std::sync::{Arc, atomic::Ordering};

use bowline_protocol::{
    ClaimSession, ClaimSessionResponse, CommandsChangedMessage, Extra, HostRequest, Maybe,
    McpServerStatus, RenameSession, StatusMessage,
};

use super::{
    Session, Shared, catalog,
    control::{ControlError, ControlReply},
    shared::lock,
};
use crate::clock::millis;

/// What a host hears that claims a session of a process which has one.
pub(super) const NOT_A_SPARE: &str = "not_a_spare: claim_session is only accepted by a process \
                                      started with --await-claim that has not been claimed yet";

/// What becomes of prompts before the claim.
pub(super) const NOT_CLAIMED: &str = "not_claimed: this process was started with --await-claim and \
                                      has not been claimed; send claim_session before the first \
                                      message";

/// How many requests are kept for the session that is claimed. A host has a handful.
const KEPT: usize = 1024;

impl Shared {
    /// Whether what a host asks for holds for the session that it will claim.
    pub(super) fn holds_for_claim(&self, request: &HostRequest) -> bool {
        use HostRequest as Request;
        let holds = matches!(
            request,
            Request::Initialize(_)
                | Request::ApplyFlagSettings(_)
                | Request::McpSetServers(_)
                | Request::McpToggle(_)
                | Request::SetHasSubscribers(_)
                | Request::SetPermissionMode(_)
                | Request::SetMcpPermissionModeOverride(_)
        );
        self.config.unclaimed && holds
    }

    /// Keeps what was asked for until the session is claimed. What cannot be kept is refused: the
    /// session that is claimed would know nothing of it.
    pub(super) fn keep_for_claim(&self, request: Option<HostRequest>) -> Result<(), ControlError> {
        let mut kept = lock(&self.kept_for_claim);
        if request.is_some() && kept.len() >= KEPT {
            return Err(ControlError::new(format!("more than {KEPT} requests before the claim")));
        }
        kept.extend(request);
        Ok(())
    }
}

impl Session {
    /// Takes the place of a session that waited (see
    /// [`SessionConfig::unclaimed`](crate::SessionConfig::unclaimed)), as a host claims it.
    ///
    /// This session was set up where and how the claim says; what is left is what its host said
    /// before. Both sessions must be running. The answer is the one to the claim.
    pub async fn take_over(&self, waiting: &Self, claim: ClaimSession) -> ControlReply {
        let (shared, before) = (&self.shared, &waiting.shared);
        let kept = lock(&before.kept_for_claim).clone();
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
        self.go_on_from(before);
        shared.results.store(before.results.load(Ordering::Relaxed), Ordering::Relaxed);
        let ClaimSession { append_system_prompt, agents, .. } = claim;
        {
            let mut live = shared.live();
            live.agents.extend(agents.unwrap_or_default());
            if append_system_prompt.is_some() {
                live.host.append_system_prompt = append_system_prompt;
            }
        }
        let commands = catalog::commands(shared);
        if commands != catalog::commands(before) {
            let changed = CommandsChangedMessage { commands, ..CommandsChangedMessage::default() };
            shared.sink.send(changed).await;
        }
        if let Some(mode) = claim.permission_mode {
            let permission_mode = Some(mode);
            shared.sink.send(StatusMessage { permission_mode, ..StatusMessage::default() }).await;
        }
        if let Some(title) = claim.title {
            let renamed = RenameSession { title, ..RenameSession::default() };
            self.control(HostRequest::RenameSession(renamed)).await.delivered().await;
        }
        let initialize = match claim.include_initialize {
            true => Maybe::Value(catalog::initialize_response(shared)),
            false => Maybe::Absent,
        };
        ControlReply::payload(&ClaimSessionResponse {
            status: "ok".to_owned(),
            cwd: shared.config.cwd.display().to_string(),
            session_id: self.id(),
            parked_ms: Some(millis(before.began.elapsed())),
            sdk_mcp_settled: Some(are_settled(shared, &claim.sdk_mcp_servers)),
            initialize,
            extra: Extra::new(),
        })
    }

    /// Goes on with the model that the host has switched to.
    fn go_on_from(&self, before: &Arc<Shared>) {
        let (model, thinking) = {
            let live = before.live();
            (live.model.clone(), live.thinking)
        };
        let mut live = self.shared.live();
        if model != before.config.model {
            live.model = model;
        }
        if thinking != before.config.thinking {
            live.thinking = thinking;
        }
    }
}

/// Whether these servers inside the host have answered, one way or the other.
fn are_settled(shared: &Shared, servers: &[String]) -> bool {
    let states = shared.mcp.status();
    let waits = |name: &String| {
        states.iter().any(|it| it.name == *name && it.status == McpServerStatus::Pending)
    };
    !servers.iter().any(waits)
}
