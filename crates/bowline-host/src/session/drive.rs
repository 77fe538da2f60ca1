//! Task that runs a session: waits for a slot, starts the agent, forwards its messages, ends it.

use std::sync::Arc;

use bowline_protocol::{Interrupt, Message, ResultMessage};
use futures_util::{StreamExt, future::BoxFuture, stream};
use tokio::{sync::OwnedSemaphorePermit, time};

use super::Shared;
use crate::{
    connection::Connection,
    error::Error,
    journal::JournalEntry,
    prompt::Prompt,
    query::{InputEnd, Query},
    resume_failure::ResumeFailure,
    status::{SessionEvent, Step, Tracker},
};

/// Everything that a session needs to run.
pub(crate) struct SessionWork {
    pub(crate) tracker: Arc<Tracker>,
    pub(crate) prompt: Prompt,
    /// Waits for a free concurrency slot.
    pub(crate) slot: BoxFuture<'static, Result<OwnedSemaphorePermit, Error>>,
    /// Starts the agent, or takes one that was prewarmed.
    pub(crate) open: BoxFuture<'static, Result<Arc<Connection>, Error>>,
    /// The session's journal entry, removed when the session is over.
    pub(crate) entry: Option<JournalEntry>,
    /// Fallback if the agent does not know the session that it is to resume.
    pub(crate) fresh_start: Option<FreshStart>,
}

/// The same prompt in a new session.
pub(crate) struct FreshStart {
    pub(crate) prompt: Prompt,
    pub(crate) open: BoxFuture<'static, Result<Arc<Connection>, Error>>,
}

/// Ends the session for all who wait for it, even if its task panics or is dropped.
struct EndGuard(Arc<Shared>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        let Self(shared) = self;
        shared.outcome.get_or_init(|| Err(Error::Closed));
        shared.tracker.step(Step::Fail).ok();
        shared.tracker.end_events();
        shared.unread.end();
        shared.over.cancel();
    }
}

impl SessionWork {
    pub(super) fn tracker(&self) -> Arc<Tracker> {
        self.tracker.clone()
    }

    pub(super) async fn run(self, shared: Arc<Shared>) {
        let Self { tracker, prompt, slot, open, mut entry, fresh_start } = self;
        let end_guard = EndGuard(shared.clone());
        // Kept until the agent has exited, not only until it is cancelled.
        let mut held = None;
        let outcome = {
            let work = async {
                held = Some(slot.await?);
                tracker.step(Step::Start).map_err(|_| Error::Cancelled)?;
                let (connection, prompt) = connect(open, prompt, fresh_start).await?;
                shared.connection.set(connection.clone()).ok();
                tracker.step(Step::Connect).map_err(|_| Error::Cancelled)?;
                follow(&shared, connection, prompt, entry.as_mut()).await
            };
            tokio::select! {
                biased;
                () = shared.cancel.cancelled() => Err(Error::Cancelled),
                outcome = work => outcome,
            }
        };
        if let Err(Error::Cancelled) = outcome {
            stop(&shared).await;
        }
        match &outcome {
            Ok(result) => {
                let step = if result.is_error { Step::Fail } else { Step::Complete };
                tracker.emit(SessionEvent::Complete(Arc::new((**result).clone())));
                tracker.step(step).ok();
            }
            Err(error) => {
                shared.unread.push(Err(error.clone()));
                tracker.emit(SessionEvent::Error(error.clone()));
                tracker.step(Step::Fail).ok();
            }
        }
        // A session that another agent still runs can be recovered later.
        let later = outcome
            .as_ref()
            .is_err_and(|error| ResumeFailure::of(error) == Some(ResumeFailure::Locked));
        shared.outcome.set(outcome).ok();
        if let Some(entry) = entry.filter(|_| !later) {
            entry.remove();
        }
        drop((held, end_guard));
    }
}

/// The agent's connection and the prompt to send.
async fn connect(
    open: BoxFuture<'static, Result<Arc<Connection>, Error>>,
    prompt: Prompt,
    fresh_start: Option<FreshStart>,
) -> Result<(Arc<Connection>, Prompt), Error> {
    match (open.await, fresh_start) {
        (Err(error), Some(fresh_start))
            if ResumeFailure::of(&error) == Some(ResumeFailure::Unknown) =>
        {
            Ok((fresh_start.open.await?, fresh_start.prompt))
        }
        (connection, _) => Ok((connection?, prompt)),
    }
}

/// Forwards the agent's messages until it has ended.
async fn follow(
    shared: &Shared,
    connection: Arc<Connection>,
    prompt: Prompt,
    mut entry: Option<&mut JournalEntry>,
) -> Result<Box<ResultMessage>, Error> {
    // It can be interrupted as long as it runs.
    let prompts = stream::iter([prompt]).boxed();
    let mut query = Query::new(connection.clone(), prompts, InputEnd::RunOver);
    let mut result = None;
    while let Some(message) = query.next().await {
        // An agent that dies while it is paused is not waited for.
        tokio::select! {
            () = shared.tracker.unpaused() => {}
            () = connection.gone() => {}
        }
        match message {
            Ok(message) => {
                // Only what comes after the prompt shows that the prompt was saved.
                if matches!(message, Message::Assistant(_) | Message::Result(_))
                    && let Some(entry) = entry.take()
                {
                    entry.begun();
                }
                shared.tracker.receive(&message);
                if let Some(conversation) = shared.conversation.get() {
                    conversation.receive(&message);
                }
                if let Message::Result(end) = &message {
                    result = Some(end.clone());
                }
                shared.unread.push(Ok(message));
            }
            Err(error) if error.is_about_one_message() => {
                shared.tracker.emit(SessionEvent::Error(error.clone()));
                shared.unread.push(Err(error));
            }
            Err(error) => return Err(error),
        }
    }
    result.ok_or(Error::Closed)
}

/// Ends the agent of a session that was cancelled: in order, if it will.
async fn stop(shared: &Shared) {
    let Some(connection) = shared.connection.get() else { return };
    // An interrupt ends its turn sooner; closing has its own time limit.
    time::timeout(connection.limits.close, connection.request(Interrupt::default())).await.ok();
    connection.close().await;
}
