//! The work of a session: waits for a place, starts the agent, passes on what it says, ends.

use std::sync::Arc;

use bowline_protocol::{Interrupt, Message, ResultMessage};
use futures_util::{StreamExt, future::BoxFuture, stream};
use tokio::{sync::OwnedSemaphorePermit, time};

use super::{SessionEvent, Shared, Step, Tracker};
use crate::{
    Error, Prompt,
    agent::{Entry, Obstacle},
    connection::Connection,
    query::{Query, Reach},
};

/// What a session has to do.
pub(crate) struct Work {
    pub(crate) tracker: Arc<Tracker>,
    pub(crate) prompt: Prompt,
    /// Waits for a place.
    pub(crate) place: BoxFuture<'static, Result<OwnedSemaphorePermit, Error>>,
    /// Starts the agent, or takes one that was started before.
    pub(crate) open: BoxFuture<'static, Result<Arc<Connection>, Error>>,
    /// The session's line in the journal, which goes when the session is over.
    pub(crate) entry: Option<Entry>,
    /// What to do instead if it should go on with a session that its agent does not know.
    pub(crate) anew: Option<Anew>,
}

/// The same work, from its beginning.
pub(crate) struct Anew {
    pub(crate) prompt: Prompt,
    pub(crate) open: BoxFuture<'static, Result<Arc<Connection>, Error>>,
}

/// Makes sure that whoever waits is told, even if the work panics or is dropped.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        let Self(shared) = self;
        shared.outcome.get_or_init(|| Err(Error::Closed));
        shared.tracker.step(Step::Fail).ok();
        shared.tracker.end_events();
        shared.backlog.end();
        shared.over.cancel();
    }
}

impl Work {
    pub(super) fn tracker(&self) -> Arc<Tracker> {
        self.tracker.clone()
    }

    pub(super) async fn run(self, shared: Arc<Shared>) {
        let Self { tracker, prompt, place, open, mut entry, anew } = self;
        let ending = Ending(shared.clone());
        // Kept until the agent is gone, not only until it is given up.
        let mut held = None;
        let outcome = {
            let work = async {
                held = Some(place.await?);
                tracker.step(Step::Start).map_err(|_| Error::Cancelled)?;
                let (connection, prompt) = connect(open, prompt, anew).await?;
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
                tracker.tell(SessionEvent::Complete(Arc::new((**result).clone())));
                tracker.step(step).ok();
            }
            Err(error) => {
                shared.backlog.push(Err(error.clone()));
                tracker.tell(SessionEvent::Error(error.clone()));
                tracker.step(Step::Fail).ok();
            }
        }
        // What somebody else still works on may be tried again later.
        let later =
            outcome.as_ref().is_err_and(|error| Obstacle::of(error) == Some(Obstacle::Locked));
        shared.outcome.set(outcome).ok();
        if let Some(entry) = entry.filter(|_| !later) {
            entry.remove();
        }
        drop((held, ending));
    }
}

/// The agent, and what it is to work on.
async fn connect(
    open: BoxFuture<'static, Result<Arc<Connection>, Error>>,
    prompt: Prompt,
    anew: Option<Anew>,
) -> Result<(Arc<Connection>, Prompt), Error> {
    match (open.await, anew) {
        (Err(error), Some(anew)) if Obstacle::of(&error) == Some(Obstacle::Unknown) => {
            Ok((anew.open.await?, anew.prompt))
        }
        (connection, _) => Ok((connection?, prompt)),
    }
}

/// Passes on what the agent says, until it has ended.
async fn follow(
    shared: &Shared,
    connection: Arc<Connection>,
    prompt: Prompt,
    mut entry: Option<&mut Entry>,
) -> Result<Box<ResultMessage>, Error> {
    // It can be interrupted as long as it runs.
    let prompts = stream::iter([prompt]).boxed();
    let mut query = Query::new(connection.clone(), prompts, Reach::UntilOver);
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
                shared.tracker.hear(&message);
                if let Some(conversation) = shared.conversation.get() {
                    conversation.hear(&message);
                }
                if let Message::Result(end) = &message {
                    result = Some(end.clone());
                }
                shared.backlog.push(Ok(message));
            }
            Err(error) if error.is_about_one_message() => {
                shared.tracker.tell(SessionEvent::Error(error.clone()));
                shared.backlog.push(Err(error));
            }
            Err(error) => return Err(error),
        }
    }
    result.ok_or(Error::Closed)
}

/// Ends the agent of a session that was cancelled: in order, if it will.
async fn stop(shared: &Shared) {
    let Some(connection) = shared.connection.get() else { return };
    // It ends its turn sooner if it knows that nobody wants it; if not, closing has limits too.
    time::timeout(connection.limits.close, connection.ask(Interrupt::default())).await.ok();
    connection.close().await;
}
