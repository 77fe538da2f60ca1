//! The client as the engine sees it while a run goes on.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bowline_engine::{Answer, BoxFuture, Host, HostError};
use bowline_protocol::{
    CanUseTool, Message, PermissionResult, RawJson, ResultMessage, jsonrpc::Id,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;

use crate::output::{self, Output};

/// How a client gets the messages of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MessageDelivery {
    /// As responses to `run`, the result last.
    #[default]
    Responses,
    /// As `run/message` notifications; the only response is the result.
    Notifications,
}

/// The client of one run.
#[derive(Debug)]
pub(crate) struct RunHost {
    /// The request that began the run; `None` if nobody wants to hear of it.
    pub(crate) id: Option<Id>,
    pub(crate) delivery: MessageDelivery,
    pub(crate) output: Output,
    pub(crate) questions: Arc<Questions>,
    result: Mutex<Option<Box<ResultMessage>>>,
}

impl RunHost {
    pub(crate) fn new(
        id: Option<Id>,
        delivery: MessageDelivery,
        output: Output,
        questions: Arc<Questions>,
    ) -> Self {
        Self { id, delivery, output, questions, result: Mutex::default() }
    }

    /// What the run came to, if it came to its end.
    pub(crate) fn take_result(&self) -> Option<Box<ResultMessage>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn say(&self, message: &Message) {
        let Some(id) = self.id.clone() else { return };
        match self.delivery {
            MessageDelivery::Responses => self.output.respond(&output::result(id, message)).await,
            MessageDelivery::Notifications => {
                let params = MessageParams { run_id: &id, message };
                self.output.notify("run/message", &params).await;
            }
        }
    }
}

#[derive(Serialize)]
struct MessageParams<'a> {
    run_id: &'a Id,
    message: &'a Message,
}

#[derive(Serialize)]
struct PermissionParams<'a> {
    run_id: &'a Option<Id>,
    #[serde(flatten)]
    question: &'a CanUseTool,
}

impl Host for RunHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match message {
                // The last result is the run's response. One before it answers a prompt that
                // background work went on behind; its words were said already.
                Message::Result(result) => {
                    *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
                Message::Assistant(_)
                | Message::User(_)
                | Message::System(_)
                | Message::StreamEvent(_) => self.say(&message).await,
                // The envelope has no place for the bookkeeping between hosts and agents.
                _ => {}
            }
        })
    }

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        Box::pin(async move {
            let params = PermissionParams { run_id: &self.id, question: &question };
            let asked = self.questions.ask(&self.output, "permission/request", &params).await?;
            PermissionResult::parse(asked.get())
                .map_err(|error| HostError::Malformed(error.to_string()))
        })
    }
}

/// What the client was asked and has not answered.
#[derive(Debug)]
pub(crate) struct Questions {
    asked: AtomicU64,
    /// `None` once the client will say no more.
    open: Mutex<Option<Waiting>>,
}

/// Where the answer to each question is waited for.
type Waiting = HashMap<String, oneshot::Sender<Result<RawJson, HostError>>>;

impl Questions {
    /// Questions can be asked until [`close`](Self::close).
    pub(crate) fn new() -> Self {
        Self { asked: AtomicU64::new(0), open: Mutex::new(Some(Waiting::new())) }
    }

    /// How many wait for an answer.
    pub(crate) fn waiting(&self) -> usize {
        self.open().as_ref().map_or(0, HashMap::len)
    }

    /// The client answers. An answer to nothing is ignored.
    pub(crate) fn answered(&self, id: &Id, outcome: Result<RawJson, RawJson>) {
        let waits = id.text().and_then(|id| self.open().as_mut()?.remove(&id));
        let Some(waits) = waits else {
            tracing::warn!(%id, "an answer to nothing that was asked");
            return;
        };
        let refused = |error: RawJson| {
            let error = error.to_value();
            let text = error["message"].as_str().map(str::to_owned);
            HostError::Refused(text.unwrap_or_else(|| error.to_string()))
        };
        waits.send(outcome.map_err(refused)).ok();
    }

    /// What the client says is no answer, but names a question that waits for one.
    pub(crate) fn malformed(&self, id: &Id, why: &str) {
        let waits = id.text().and_then(|id| self.open().as_mut()?.remove(&id));
        if let Some(waits) = waits {
            waits.send(Err(HostError::Malformed(why.to_owned()))).ok();
        }
    }

    /// The client will say no more.
    pub(crate) fn close(&self) {
        self.open().take();
    }

    /// Asks; dropping the future tells the client that the answer is no longer wanted.
    async fn ask(
        &self,
        output: &Output,
        method: &str,
        params: &impl Serialize,
    ) -> Result<RawJson, HostError> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("bowline-{number}");
        let (send, answer) = oneshot::channel();
        match self.open().as_mut() {
            Some(open) => open.insert(id.clone(), send),
            None => return Err(HostError::Closed),
        };
        let mut withdrawal = Withdrawal { questions: self, output, id: Some(id.clone()) };
        output.request(&id, method, params).await;
        let answer = answer.await;
        withdrawal.id = None;
        answer.unwrap_or(Err(HostError::Closed))
    }

    fn open(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Withdraws a question unless it was answered.
struct Withdrawal<'a> {
    questions: &'a Questions,
    output: &'a Output,
    id: Option<String>,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let open = self.questions.open().as_mut().is_some_and(|open| open.remove(&id).is_some());
        if open {
            self.output.notify_in_passing("permission/cancelled", &json!({ "id": id }));
        }
    }
}
