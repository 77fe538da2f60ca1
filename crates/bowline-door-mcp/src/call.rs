//! A call under way: its task, and what it asks and says meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline_engine::{Answer, BoxFuture, Host, HostError};
use bowline_protocol::{CanUseTool, Message, PermissionResult, ToolUseId};
use rmcp::model::CallToolResult;
use tokio::{
    sync::{mpsc, oneshot},
    time,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::AbortOnDropHandle,
};

/// Requests that wait for the client. It responds to one at a time; a call that sends more has to
/// wait.
const QUESTIONS: usize = 16;

/// News that wait to be told. A client that is behind misses some: they are hints.
const NEWS: usize = 64;

/// How long the client may take to answer a question. Longer than people think, but not for ever:
/// one that went away without a word would leave its call behind.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// How long a call that is stopped may take: tools end their processes in this time. Then its task is
/// dropped.
pub(crate) const CALL_ENDS: Duration = Duration::from_secs(6);

/// A question for the client.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) about: Box<CanUseTool>,
    pub(crate) answer: oneshot::Sender<Result<PermissionResult, HostError>>,
}

/// A call's way to its client.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    questions: mpsc::Sender<Question>,
    news: mpsc::Sender<String>,
    /// Stops the call.
    stop: CancellationToken,
}

impl Line {
    /// Asks the client; dropping the future withdraws the question. A client that does not answer
    /// is gone, and its call ends.
    pub(crate) async fn ask(&self, about: CanUseTool) -> Result<PermissionResult, HostError> {
        let (answer, answered) = oneshot::channel();
        let question = Question { about: Box::new(about), answer };
        self.questions.send(question).await.map_err(|_| HostError::Closed)?;
        match time::timeout(PATIENCE, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(HostError::Closed),
            Err(_) => {
                self.stop.cancel();
                Err(HostError::TimedOut)
            }
        }
    }

    /// Tells the client how far the call is.
    pub(crate) fn tell(&self, news: String) {
        self.news.try_send(news).ok();
    }
}

/// A call under way. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Call {
    task: AbortOnDropHandle<CallToolResult>,
    questions: mpsc::Receiver<Question>,
    news: mpsc::Receiver<String>,
    stop: CancellationToken,
    _stop_when_dropped: DropGuard,
}

/// What happens to a call.
#[derive(Debug)]
pub(crate) enum Event {
    Done(CallToolResult),
    Asks(Question),
    Says(String),
}

impl Call {
    /// Starts a call; `work` gets the line to the client and the token that stops it.
    pub(crate) fn start<F>(work: impl FnOnce(Line, CancellationToken) -> F) -> Self
    where
        F: Future<Output = CallToolResult> + Send + 'static,
    {
        let (ask, questions) = mpsc::channel(QUESTIONS);
        let (tell, news) = mpsc::channel(NEWS);
        let stop = CancellationToken::new();
        let line = Line { questions: ask, news: tell, stop: stop.clone() };
        let task = AbortOnDropHandle::new(tokio::spawn(work(line, stop.clone())));
        let _stop_when_dropped = stop.clone().drop_guard();
        Self { task, questions, news, stop, _stop_when_dropped }
    }

    /// Waits for what happens next.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Event {
        tokio::select! {
            biased;
            Some(news) = self.news.recv() => Event::Says(news),
            Some(question) = self.questions.recv() => Event::Asks(question),
            done = &mut self.task => Event::Done(done.unwrap_or_else(|error| {
                tracing::error!(%error, "a call crashed");
                crate::content::failure("the call crashed")
            })),
        }
    }

    /// Stops the call and waits for it to end, within reason.
    pub(crate) async fn stop(mut self) {
        self.stop.cancel();
        time::timeout(CALL_ENDS, &mut self.task).await.ok();
    }
}

/// The host of the session in which calls without a conversation happen: each question goes to
/// the client whose call it is about.
#[derive(Debug, Default)]
pub(crate) struct ToolHost {
    lines: Mutex<HashMap<ToolUseId, Line>>,
}

impl ToolHost {
    /// Questions about this call go this way while the guard lives.
    pub(crate) fn connect(self: &Arc<Self>, call: ToolUseId, line: Line) -> Connected {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), line);
        Connected { host: Arc::clone(self), call }
    }
}

/// A call whose client can be asked.
#[derive(Debug)]
pub(crate) struct Connected {
    host: Arc<ToolHost>,
    call: ToolUseId,
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.host.lines.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.call);
    }
}

impl Host for ToolHost {
    fn emit(&self, _: Message) -> BoxFuture<'_, ()> {
        // Without a conversation there is nothing to say that the result does not say.
        Box::pin(std::future::ready(()))
    }

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.get(&question.tool_use_id).cloned();
        drop(lines);
        Box::pin(async move {
            match line {
                Some(line) => line.ask(question).await,
                None => Err(HostError::Closed),
            }
        })
    }
}
