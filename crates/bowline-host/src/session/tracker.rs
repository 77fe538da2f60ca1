//! Keeps the status of a session, and tells whoever wants to know.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use bowline_protocol::{CanUseTool, Message, RequestId, SessionId};
use tokio::sync::{broadcast, watch};

use super::{
    PendingPermission, PendingToolCall, SessionEvent, SessionState, SessionStatus,
    event::OpenCalls,
    status::{Illegal, Step, Ticket},
};
use crate::tool::CallParams;

/// Events that wait for a reader. One that is further behind is told how many it missed. Room for
/// them is taken at once, so there is not more than a turn with partial messages needs.
const EVENTS: usize = 512;

/// Events that wait for somebody to ask for events at all, so that whoever does so right after
/// the start misses none.
const EVENTS_BEFORE_READERS: usize = 256;

/// The status of a session, watched.
#[derive(Debug)]
pub(crate) struct Tracker {
    status: watch::Sender<SessionStatus>,
    /// `None` once the session is over.
    events: Mutex<Option<Told>>,
    calls: Mutex<OpenCalls>,
    tickets: AtomicU64,
}

/// Where events go.
#[derive(Debug)]
struct Told {
    sender: broadcast::Sender<Arc<SessionEvent>>,
    /// All events from the start, until there is a reader or too many of them.
    first: Option<broadcast::Receiver<Arc<SessionEvent>>>,
}

impl Tracker {
    pub(crate) fn new(session_id: Option<SessionId>) -> Arc<Self> {
        let (sender, first) = broadcast::channel(EVENTS);
        Arc::new(Self {
            status: watch::Sender::new(SessionStatus::new(session_id)),
            events: Mutex::new(Some(Told { sender, first: Some(first) })),
            calls: Mutex::default(),
            tickets: AtomicU64::new(0),
        })
    }

    pub(crate) fn status(&self) -> watch::Ref<'_, SessionStatus> {
        self.status.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<SessionStatus> {
        self.status.subscribe()
    }

    /// All events from the start for the first who asks, those from now on for others.
    pub(super) fn events(&self) -> broadcast::Receiver<Arc<SessionEvent>> {
        match &mut *self.told() {
            Some(told) => told.first.take().unwrap_or_else(|| told.sender.subscribe()),
            // A channel that has ended.
            None => broadcast::channel(1).1,
        }
    }

    pub(super) fn tell(&self, event: SessionEvent) {
        if let Some(told) = &mut *self.told() {
            if told.first.as_ref().is_some_and(|first| first.len() >= EVENTS_BEFORE_READERS) {
                told.first = None;
            }
            // The only error is that nobody listens.
            told.sender.send(Arc::new(event)).ok();
        }
    }

    /// Says that no more events follow.
    pub(super) fn end_events(&self) {
        *self.told() = None;
    }

    fn told(&self) -> MutexGuard<'_, Option<Told>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a step; whoever watches hears of it.
    pub(crate) fn step(&self, step: Step) -> Result<(), Illegal> {
        let mut outcome = Ok(());
        self.status.send_if_modified(|status| {
            let from = status.state();
            outcome = status.step(step, SystemTime::now());
            let to = status.state();
            if from != to {
                // Told under the lock, so that changes are told in their order.
                let status = Arc::new(status.clone());
                self.tell(SessionEvent::StateChange { from, to, status });
            }
            outcome.is_ok()
        });
        outcome
    }

    /// Notes a message of the agent.
    pub(super) fn hear(&self, message: &Message) {
        self.step(Step::Hear).ok();
        if let Some(id) = said_by(message) {
            self.status.send_if_modified(|status| {
                let new = status.session_id() != Some(id);
                if new {
                    status.set_session_id(id.clone());
                }
                new
            });
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_listeners() {
            self.tell(SessionEvent::Message(Arc::new(message.clone())));
            for event in calls.events(message) {
                self.tell(event);
            }
        } else {
            calls.note(message);
        }
    }

    fn has_listeners(&self) -> bool {
        self.told().as_ref().is_some_and(|told| told.sender.receiver_count() > 0)
    }

    /// Waits while the session is paused.
    pub(crate) async fn unpaused(&self) {
        let mut status = self.watch();
        status.wait_for(|status| status.state() != SessionState::Paused).await.ok();
    }

    /// Notes that the agent waits for a permission, until the guard is dropped.
    pub(crate) fn permission(
        &self,
        question: &CanUseTool,
        request_id: Option<&RequestId>,
    ) -> Waiting<'_> {
        let ticket = self.ticket();
        let pending = PendingPermission {
            request_id: request_id.cloned(),
            tool_use_id: question.tool_use_id.clone(),
            tool_name: question.tool_name.clone(),
            tool_input: question.input.clone(),
            asked_at: SystemTime::now(),
        };
        self.step(Step::Ask(ticket, pending)).ok();
        Waiting { tracker: self, over: Some(Step::Decide(ticket)) }
    }

    /// Notes that the agent waits for a tool of ours, until the guard is dropped.
    pub(crate) fn tool_call(&self, server: &str, call: &CallParams) -> Waiting<'_> {
        let ticket = self.ticket();
        let pending = PendingToolCall {
            tool_use_id: call.meta.tool_use_id.clone(),
            server_name: server.to_owned(),
            tool_name: call.name.clone(),
            arguments: call.arguments.clone(),
            started_at: SystemTime::now(),
        };
        self.step(Step::BeginCall(ticket, pending)).ok();
        Waiting { tracker: self, over: Some(Step::EndCall(ticket)) }
    }

    fn ticket(&self) -> Ticket {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }
}

/// The agent waits for something, until this is dropped.
pub(crate) struct Waiting<'a> {
    tracker: &'a Tracker,
    over: Option<Step>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(step) = self.over.take() {
            self.tracker.step(step).ok();
        }
    }
}

/// Which session a message belongs to, where it can change.
fn said_by(message: &Message) -> Option<&SessionId> {
    match message {
        Message::System(bowline_protocol::SystemMessage::Init(init)) => Some(&init.session_id),
        Message::Result(result) => Some(&result.session_id),
        _ => None,
    }
}
