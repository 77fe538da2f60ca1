//! A session: one prompt, worked on from start to end, that can be followed and steered.

mod drive;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use bowline_protocol::{
    Call, HostRequest, Interrupt, InterruptResponse, ResultMessage, SessionId, ToolUseId,
};
use futures_util::stream;
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::Instrument;

pub(crate) use self::drive::{FreshStart, SessionWork};
use crate::{
    connection::Connection,
    conversation::ConversationWatch,
    error::Error,
    message_queue::MessageQueue,
    messages::Messages,
    prompt::Prompt,
    state::SessionState,
    status::{Events, SessionStatus, Step, Tracker},
};

/// A prompt that an agent works on, from [`Agent::start`](crate::Agent::start) to its result.
///
/// It works by itself, whether or not its messages are read. A session is a handle: clones are of the
/// same session. When the last clone and the last stream are dropped, its agent is killed; what
/// its [journal](crate::AgentBuilder::journal) entry stays there, as if this program had
/// died. A session that is [cancelled](Self::cancel) is over.
///
/// ```
/// use bowline_host::{Agent, Embedded, Options, SessionEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bowline_host::Error> {
/// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
/// let session = Agent::new(options)?.start("SAY hello");
/// let mut events = session.events();
/// while let Some(event) = events.next().await {
///     if let SessionEvent::StateChange { from, to, .. } = event {
///         println!("{from} -> {to}");
///     }
/// }
/// assert_eq!(session.wait().await?.result.as_deref(), Some("hello"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    handle: Arc<Handle>,
}

/// What all clones and streams of a session share. Dropping it stops the session.
struct Handle {
    shared: Arc<Shared>,
    _work: AbortOnDropHandle<()>,
}

/// State that a session shares with its handles.
struct Shared {
    tracker: Arc<Tracker>,
    unread: MessageQueue,
    /// The prompt that the agent works on.
    prompt: Prompt,
    /// The conversation, since it was first requested.
    conversation: OnceLock<ConversationWatch>,
    /// Set when the agent is there.
    connection: OnceLock<Arc<Connection>>,
    cancel: CancellationToken,
    outcome: OnceLock<Result<Box<ResultMessage>, Error>>,
    /// Fires when the outcome is set and the agent has exited.
    over: CancellationToken,
}

impl Session {
    /// Begins a session.
    pub(crate) fn begin(work: SessionWork) -> Self {
        let shared = Arc::new(Shared {
            tracker: work.tracker(),
            unread: MessageQueue::default(),
            prompt: work.prompt.clone(),
            conversation: OnceLock::new(),
            connection: OnceLock::new(),
            cancel: CancellationToken::new(),
            outcome: OnceLock::new(),
            over: CancellationToken::new(),
        });
        let session_id = shared.tracker.status().session_id().map(SessionId::to_string);
        let span = tracing::info_span!("session", session_id);
        let work = tokio::spawn(work.run(shared.clone()).instrument(span));
        let work = AbortOnDropHandle::new(work);
        Self { handle: Arc::new(Handle { shared, _work: work }) }
    }

    /// The session's id, as soon as it is known: at once, unless the options continue another or the
    /// agent was started by others and [dials in](crate::AgentTransport). Then the agent chooses it.
    pub fn id(&self) -> Option<SessionId> {
        self.shared().tracker.status().session_id().cloned()
    }

    /// Where the session is.
    pub fn state(&self) -> SessionState {
        self.shared().tracker.status().state()
    }

    /// Where the session is, what it waits for and what it has done.
    pub fn status(&self) -> SessionStatus {
        self.shared().tracker.status().clone()
    }

    /// The same, watched: every change wakes its watchers.
    pub fn watch(&self) -> watch::Receiver<SessionStatus> {
        self.shared().tracker.watch()
    }

    /// Messages of the agent, from the start. Streams of the same session share its messages: each
    /// goes to one of them. Unread messages wait, and delay nothing.
    pub fn messages(&self) -> Messages {
        Messages::new(stream::unfold(self.clone(), async |session| {
            let message = session.shared().unread.next().await?;
            Some((message, session))
        }))
    }

    /// Events: from the start for the first caller if it is soon enough, from now on for others.
    pub fn events(&self) -> Events {
        Events::new(self.shared().tracker.events(), self.clone())
    }

    /// The conversation, from the first call of this on and whether or not messages are read: the prompt and
    /// messages of the agent. Call it right after the start, and nothing is missed.
    ///
    /// ```
    /// use bowline_host::{Agent, Embedded, Options};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), bowline_host::Error> {
    /// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
    /// let session = Agent::new(options)?.start("SAY hello");
    /// let conversation = session.conversation();
    /// session.wait().await?;
    /// let texts: Vec<_> = conversation.current().messages().iter().map(|it| it.text()).collect();
    /// assert_eq!(texts, ["SAY hello", "hello"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn conversation(&self) -> ConversationWatch {
        let shared = self.shared();
        let begin = || {
            let conversation = ConversationWatch::default();
            conversation.say(shared.prompt.clone());
            conversation
        };
        shared.conversation.get_or_init(begin).clone()
    }

    /// Waits until the session is over and its agent has exited.
    ///
    /// The result may be that of a run that [failed](ResultMessage::is_error). It is an error if
    /// there is no result, because the agent could not be started, has died, or was cancelled.
    ///
    /// Cancel safety: it can be dropped, and called as often as you like.
    pub async fn wait(&self) -> Result<ResultMessage, Error> {
        self.shared().over.cancelled().await;
        match self.shared().outcome.get() {
            Some(Ok(result)) => Ok((**result).clone()),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::Closed),
        }
    }

    /// Withholds everything: the agent gets no responses of callbacks and tools any more, and
    /// its messages are not passed on. It stops as soon as it needs a response.
    pub fn pause(&self) -> Result<(), Error> {
        self.step(Step::Pause, "pause")
    }

    /// Continues after a pause.
    pub fn resume(&self) -> Result<(), Error> {
        self.step(Step::Resume, "resume")
    }

    /// Cancels the session and waits until its agent has exited. Does nothing if it is over.
    pub async fn cancel(&self) {
        let shared = self.shared();
        if shared.tracker.step(Step::Cancel).is_ok() {
            shared.cancel.cancel();
        }
        shared.over.cancelled().await;
    }

    /// Stops the agent's turn. The session then ends with the result of an interrupted run.
    pub async fn interrupt(&self) -> Result<InterruptResponse, Error> {
        self.request(Interrupt::default()).await
    }

    /// Stops one call of a tool of this program, and nothing else: its handler is dropped, and the model
    /// reads `why` instead of a result. Returns whether the call ran. For our own tools only, over any
    /// transport.
    ///
    /// Calls that run are in [`SessionStatus::pending_tool_calls`].
    pub fn cancel_tool_call(&self, call: impl Into<ToolUseId>, why: impl Into<String>) -> bool {
        let connection = self.shared().connection.get();
        connection.is_some_and(|it| it.responder.servers.stop(&call.into(), why.into()))
    }

    /// Sends the agent any request of the protocol, while it runs.
    ///
    /// ```no_run
    /// # async fn run(session: bowline_host::Session) -> Result<(), bowline_host::Error> {
    /// use bowline_host::protocol::GetContextUsage;
    ///
    /// let usage = session.request(GetContextUsage::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn request<C: Call<Request = HostRequest>>(
        &self,
        call: C,
    ) -> Result<C::Response, Error> {
        match self.shared().connection.get() {
            Some(connection) if !self.state().is_over() => connection.request(call).await,
            _ => Err(Error::State { action: C::SUBTYPE, state: self.state() }),
        }
    }

    fn step(&self, step: Step, action: &'static str) -> Result<(), Error> {
        let taken = self.shared().tracker.step(step);
        taken.map_err(|illegal| Error::State { action, state: illegal.0 })
    }

    fn shared(&self) -> &Shared {
        &self.handle.shared
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, state) = (self.id(), self.state());
        f.debug_struct("Session").field("id", &id).field("state", &state).finish_non_exhaustive()
    }
}
