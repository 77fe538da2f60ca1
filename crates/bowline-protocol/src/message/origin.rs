//! Origin of a turn that no person typed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    id::{SessionId, TaskId},
    wire::open_enum,
};

/// Origin of a turn. Only `kind` is always there; each kind uses some of the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// Kind of origin.
    pub kind: OriginKind,
    /// Of a channel: its server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Of a peer or an observer: its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Of a peer: whether it requests permission before it acts.
    #[serde(rename = "fromMode", default, skip_serializing_if = "Option::is_none")]
    pub from_mode: Option<PeerMode>,
    /// Of a peer: what it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Of a peer: its session.
    #[serde(rename = "fromSession", default, skip_serializing_if = "Option::is_none")]
    pub from_session: Option<SessionId>,
    /// Of a peer or an observer: the task it is.
    #[serde(rename = "senderTaskId", default, skip_serializing_if = "Option::is_none")]
    pub sender_task_id: Option<TaskId>,
    /// Of a peer: its words without the wrapping the model sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Of a peer: its process, as the operating system knows it.
    #[serde(rename = "verifiedPeerPid", default, skip_serializing_if = "Option::is_none")]
    pub verified_peer_pid: Option<u64>,
    /// Of a task notification: what sort, as in `scheduled-trigger`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subkind: Option<String>,
    /// Of a task notification: who made it, as in `session-task`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    /// Of a task notification: why it came now.
    #[serde(rename = "fireReason", default, skip_serializing_if = "Option::is_none")]
    pub fire_reason: Option<String>,
    /// Of a task notification: the run of the task.
    #[serde(rename = "runId", default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Origin {
    /// An origin of which nothing more is known.
    pub fn new(kind: OriginKind) -> Self {
        Self {
            kind,
            server: None,
            from: None,
            from_mode: None,
            name: None,
            from_session: None,
            sender_task_id: None,
            body: None,
            verified_peer_pid: None,
            subkind: None,
            producer: None,
            fire_reason: None,
            run_id: None,
            extra: Extra::new(),
        }
    }
}

open_enum! {
    /// Kind of origin of a turn.
    OriginKind {
        /// A person.
        Human = "human",
        /// A channel of an MCP server.
        Channel = "channel",
        /// Another session.
        Peer = "peer",
        /// A notification of a background task.
        TaskNotification = "task-notification",
        /// The coordinator of several agents.
        Coordinator = "coordinator",
        /// Unknown even to the agent.
        Unclassified = "unclassified",
        /// The agent itself, going on.
        AutoContinuation = "auto-continuation",
        /// An observer that saw something happen.
        ObserverActivity = "observer-activity",
        /// An observer that speaks.
        Observer = "observer",
    }
}

open_enum! {
    /// Whether another session requests permission before it acts.
    PeerMode {
        /// It does not.
        Bypass = "bypass",
        /// It does.
        Prompting = "prompting",
    }
}
