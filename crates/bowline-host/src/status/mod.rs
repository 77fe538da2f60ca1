//! Status of a session: nine states, checked transitions, pending calls and permission requests.
//!
//! Pure: events go in, the new status comes out. No clock, no I/O. A state is never set; it follows
//! from the phase and from what is pending, so that the two cannot contradict each other.

mod event;
mod tracker;

use std::{collections::BTreeMap, time::SystemTime};

use bowline_protocol::{RawJson, RequestId, SessionId, ToolUseId};

pub use self::event::{Events, SessionEvent, ToolAnswer, ToolCall};
pub(crate) use self::tracker::Tracker;
use crate::state::SessionState;

/// A call of a tool of this program that has no result yet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingToolCall {
    /// The model's call, if the agent named it.
    pub tool_use_id: Option<ToolUseId>,
    /// The server that has the tool.
    pub server_name: String,
    /// The tool, by its name on the server.
    pub tool_name: String,
    /// What it is called with.
    pub arguments: RawJson,
    /// Since when.
    pub started_at: SystemTime,
}

/// A permission request of the agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PendingPermission {
    /// Id of the request on the wire, as [`ToolRequest::request_id`](crate::ToolRequest) does.
    pub request_id: Option<RequestId>,
    /// The model's call.
    pub tool_use_id: ToolUseId,
    /// The tool.
    pub tool_name: String,
    /// What it would be called with.
    pub tool_input: RawJson,
    /// Since when.
    pub asked_at: SystemTime,
}

/// What a session has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// When its agent was started.
    pub started_at: Option<SystemTime>,
    /// When it was over.
    pub completed_at: Option<SystemTime>,
    /// Calls of tools of this program that have ended or were cancelled.
    pub tool_calls: u64,
    /// Permission requests that were decided or cancelled.
    pub permissions: u64,
    /// Messages of the agent.
    pub messages: u64,
}

/// Where a session is, what it waits for and what it has done.
///
/// ```
/// use bowline_host::{Agent, Embedded, Options, SessionState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bowline_host::Error> {
/// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
/// let session = Agent::new(options)?.start("SAY hello");
/// let mut watch = session.watch();
/// let over = watch.wait_for(|status| status.state().is_over()).await.expect("it is alive");
/// assert_eq!(over.state(), SessionState::Completed);
/// assert_eq!((over.statistics().tool_calls, over.pending_tool_calls().len()), (0, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionStatus {
    phase: Phase,
    session_id: Option<SessionId>,
    /// By the number under which they were begun, so that the oldest is the first.
    calls: BTreeMap<Ticket, PendingToolCall>,
    permissions: BTreeMap<Ticket, PendingPermission>,
    stats: Statistics,
}

/// How far a session is, apart from what it waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Phase {
    #[default]
    Idle,
    Starting,
    Active,
    Paused,
    Over(Ending),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    Completed,
    Failed,
    Cancelled,
}

/// Numbers what the agent waits for.
pub(crate) type Ticket = u64;

/// What may happen to a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// It has a slot; its agent is started.
    Start,
    /// The agent is there.
    Connect,
    /// The agent sent a message.
    Receive,
    /// A tool of ours is called.
    BeginCall(Ticket, PendingToolCall),
    EndCall(Ticket),
    /// The agent requests permission for a tool call.
    Ask(Ticket, PendingPermission),
    Decide(Ticket),
    Pause,
    Resume,
    Complete,
    Fail,
    Cancel,
}

/// A step that cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Illegal(pub(crate) SessionState);

impl SessionStatus {
    /// A session that has not begun, with its id if that is known already.
    pub(crate) fn new(session_id: Option<SessionId>) -> Self {
        Self { session_id, ..Self::default() }
    }

    /// Where the session is.
    pub fn state(&self) -> SessionState {
        match self.phase {
            Phase::Idle => SessionState::Idle,
            Phase::Starting => SessionState::Starting,
            Phase::Active if !self.permissions.is_empty() => SessionState::WaitingPermission,
            Phase::Active if !self.calls.is_empty() => SessionState::WaitingToolCall,
            Phase::Active => SessionState::Running,
            Phase::Paused => SessionState::Paused,
            Phase::Over(Ending::Completed) => SessionState::Completed,
            Phase::Over(Ending::Failed) => SessionState::Failed,
            Phase::Over(Ending::Cancelled) => SessionState::Cancelled,
        }
    }

    /// The session's id, as soon as it is known.
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session_id.as_ref()
    }

    /// The call of a tool of this program that has waited longest.
    pub fn pending_tool_call(&self) -> Option<&PendingToolCall> {
        self.calls.values().next()
    }

    /// All calls of tools of this program that have no result yet, the oldest first.
    pub fn pending_tool_calls(&self) -> impl ExactSizeIterator<Item = &PendingToolCall> {
        self.calls.values()
    }

    /// The permission request that has waited longest.
    pub fn pending_permission(&self) -> Option<&PendingPermission> {
        self.permissions.values().next()
    }

    /// All pending permission requests, the oldest first.
    pub fn pending_permissions(&self) -> impl ExactSizeIterator<Item = &PendingPermission> {
        self.permissions.values()
    }

    /// What the session has done so far.
    pub fn statistics(&self) -> Statistics {
        self.stats
    }

    pub(crate) fn set_session_id(&mut self, id: SessionId) {
        self.session_id = Some(id);
    }

    /// Takes a step, or returns why it is illegal. Nothing is changed then.
    pub(crate) fn step(&mut self, step: Step, now: SystemTime) -> Result<(), Illegal> {
        let state = self.state();
        match (self.phase, step) {
            (Phase::Idle, Step::Start) => {
                self.phase = Phase::Starting;
                self.stats.started_at = Some(now);
            }
            (Phase::Starting, Step::Connect) => self.phase = Phase::Active,
            (Phase::Active, Step::Pause) => self.phase = Phase::Paused,
            (Phase::Paused, Step::Resume) => self.phase = Phase::Active,
            (Phase::Active | Phase::Paused, Step::Complete) => self.end(Ending::Completed, now),
            (Phase::Over(_), Step::Complete | Step::Fail | Step::Cancel) => {
                return Err(Illegal(state));
            }
            (_, Step::Fail) => self.end(Ending::Failed, now),
            (_, Step::Cancel) => self.end(Ending::Cancelled, now),
            // An agent that is being cancelled may still send messages and requests.
            (Phase::Idle | Phase::Over(_), Step::Receive | Step::BeginCall(..) | Step::Ask(..)) => {
                return Err(Illegal(state));
            }
            (_, Step::Receive) => self.stats.messages += 1,
            (_, Step::BeginCall(ticket, call)) => {
                self.calls.insert(ticket, call);
            }
            (_, Step::Ask(ticket, request)) => {
                self.permissions.insert(ticket, request);
            }
            // What is over has forgotten what it waited for.
            (_, Step::EndCall(ticket)) => {
                self.stats.tool_calls += u64::from(self.calls.remove(&ticket).is_some());
            }
            (_, Step::Decide(ticket)) => {
                self.stats.permissions += u64::from(self.permissions.remove(&ticket).is_some());
            }
            (_, Step::Start | Step::Connect | Step::Pause | Step::Resume | Step::Complete) => {
                return Err(Illegal(state));
            }
        }
        Ok(())
    }

    fn end(&mut self, ending: Ending, now: SystemTime) {
        self.phase = Phase::Over(ending);
        self.stats.completed_at = Some(now);
        self.calls.clear();
        self.permissions.clear();
    }
}

#[cfg(test)]
mod tests;
