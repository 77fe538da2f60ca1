//! Keeper of a session's status: publishes it to watchers and events to subscribers.

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
    Illegal, PendingPermission, PendingToolCall, SessionEvent, SessionStatus, Step, Ticket,
    event::OpenCalls,
};
use crate::state::SessionState;

/// Events that wait for a reader. A slower one receives how many it missed. Room for
/// them is taken at once, so there is not more than a turn with partial messages needs.
const EVENTS: usize = 512;

/// Events that are kept until the first subscription, so that one right after
/// the start misses none.
const EVENTS_BEFORE_READERS: usize = 256;

/// The status of a session, watched.
#[derive(Debug)]
pub(crate) struct Tracker {
    status: watch::Sender<SessionStatus>,
    /// `None` once the session is over.
    events: Mutex<Option<EventChannel>>,
    calls: Mutex<OpenCalls>,
    tickets: AtomicU64,
}

/// Where events go.
#[derive(Debug)]
struct EventChannel {
    sender: broadcast::Sender<Arc<SessionEvent>>,
    /// All events from the start, until there is a reader or too many of them.
    first: Option<broadcast::Receiver<Arc<SessionEvent>>>,
}

impl Tracker {
    pub(crate) fn new(session_id: Option<SessionId>) -> Arc<Self> {
        let (sender, first) = broadcast::channel(EVENTS);
        Arc::new(Self {
            status: watch::Sender::new(SessionStatus::new(session_id)),
            events: Mutex::new(Some(EventChannel { sender, first: Some(first) })),
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

    /// All events from the start for the first caller, those from now on for others.
    pub(crate) fn events(&self) -> broadcast::Receiver<Arc<SessionEvent>> {
        match &mut *self.channel() {
            Some(channel) => channel.first.take().unwrap_or_else(|| channel.sender.subscribe()),
            // A channel that has ended.
            None => broadcast::channel(1).1,
        }
    }

    pub(crate) fn emit(&self, event: SessionEvent) {
        if let Some(channel) = &mut *self.channel() {
            if channel.first.as_ref().is_some_and(|first| first.len() >= EVENTS_BEFORE_READERS) {
                channel.first = None;
            }
            // The only error is that there is no subscriber.
            channel.sender.send(Arc::new(event)).ok();
        }
    }

    /// Ends the stream of events.
    pub(crate) fn end_events(&self) {
        *self.channel() = None;
    }

    fn channel(&self) -> MutexGuard<'_, Option<EventChannel>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a step and publishes it.
    pub(crate) fn step(&self, step: Step) -> Result<(), Illegal> {
        let mut outcome = Ok(());
        self.status.send_if_modified(|status| {
            let from = status.state();
            outcome = status.step(step, SystemTime::now());
            let to = status.state();
            if from != to {
                // Emitted under the lock, so that changes are in order.
                let status = Arc::new(status.clone());
                self.emit(SessionEvent::StateChange { from, to, status });
            }
            outcome.is_ok()
        });
        outcome
    }

    /// Notes a message of the agent.
    pub(crate) fn receive(&self, message: &Message) {
        self.step(Step::Receive).ok();
        if let Some(id) = session_of(message) {
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
            self.emit(SessionEvent::Message(Arc::new(message.clone())));
            for event in calls.events(message) {
                self.emit(event);
            }
        } else {
            calls.note(message);
        }
    }

    fn has_listeners(&self) -> bool {
        self.channel().as_ref().is_some_and(|channel| channel.sender.receiver_count() > 0)
    }

    /// Waits while the session is paused.
    pub(crate) async fn unpaused(&self) {
        let mut status = self.watch();
        status.wait_for(|status| status.state() != SessionState::Paused).await.ok();
    }

    /// Notes that the agent waits for a permission, until the guard is dropped.
    pub(crate) fn permission(
        &self,
        request: &CanUseTool,
        request_id: Option<&RequestId>,
    ) -> PendingGuard<'_> {
        let ticket = self.ticket();
        let pending = PendingPermission {
            request_id: request_id.cloned(),
            tool_use_id: request.tool_use_id.clone(),
            tool_name: request.tool_name.clone(),
            tool_input: request.input.clone(),
            asked_at: SystemTime::now(),
        };
        self.step(Step::Ask(ticket, pending)).ok();
        PendingGuard { tracker: self, over: Some(Step::Decide(ticket)) }
    }

    /// Notes that the agent waits for a tool of ours, until the guard is dropped.
    pub(crate) fn tool_call(&self, call: PendingToolCall) -> PendingGuard<'_> {
        let ticket = self.ticket();
        self.step(Step::BeginCall(ticket, call)).ok();
        PendingGuard { tracker: self, over: Some(Step::EndCall(ticket)) }
    }

    fn ticket(&self) -> Ticket {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }
}

/// The agent waits for something, until this is dropped.
pub(crate) struct PendingGuard<'a> {
    tracker: &'a Tracker,
    over: Option<Step>,
}

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        if let Some(step) = self.over.take() {
            self.tracker.step(step).ok();
        }
    }
}

/// Which session a message belongs to, where it can change.
fn session_of(message: &Message) -> Option<&SessionId> {
    match message {
        Message::System(bowline_protocol::SystemMessage::Init(init)) => Some(&init.session_id),
        Message::Result(result) => Some(&result.session_id),
        _ => None,
    }
}
