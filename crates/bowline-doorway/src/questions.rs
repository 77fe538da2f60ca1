//! The host's questions: taken up in order, worked on side by side, each answered once.

use std::{
    collections::HashMap,
    future::poll_fn,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bowline_engine::{BoxFuture, ControlError, ControlReply, Session};
use bowline_peer::Peer;
use bowline_protocol::{
    AgentLine, ControlRequest, ControlResponse, Extra, Failure, HostRequest, Outcome, ReadError,
    RequestId, Success,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::host::PeerHost;

/// Questions that are worked on at a time. A host that asks more has to wait; an honest
/// one has a handful.
const AT_ONCE: usize = 1024;

/// The questions that are being worked on.
pub(crate) struct OpenQuestions {
    session: Session,
    host: Arc<PeerHost>,
    working: JoinSet<Option<RequestId>>,
    /// How to stop those that can be stopped.
    stops: HashMap<RequestId, CancellationToken>,
}

impl OpenQuestions {
    pub(crate) fn new(session: Session, host: Arc<PeerHost>) -> Self {
        Self { session, host, working: JoinSet::new(), stops: HashMap::new() }
    }

    /// Whether one more may be taken up.
    pub(crate) fn have_room(&self) -> bool {
        self.working.len() < AT_ONCE
    }

    /// Takes a question up. What it does at once is done when this returns; what takes
    /// longer goes on beside whatever comes next.
    pub(crate) async fn take_up(&mut self, id: Option<RequestId>, request: HostRequest) {
        let stop = CancellationToken::new();
        if let (Some(id), Some(_)) = (&id, refusal_when_stopped(&request)) {
            self.stops.insert(id.clone(), stop.clone());
        }
        // The session need not know its host before it has answered this.
        let opening = matches!(request, HostRequest::Initialize(_));
        let work = answer(self.session.clone(), Arc::clone(&self.host), id, request, stop);
        let mut work: BoxFuture<'static, Option<RequestId>> = Box::pin(work);
        if opening {
            work.await;
        } else {
            match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
                Poll::Ready(id) => self.forget(id),
                Poll::Pending => {
                    self.working.spawn(work);
                }
            }
        }
    }

    /// Tells the host why its question is not answered.
    pub(crate) async fn refuse(&self, id: Option<RequestId>, error: String) {
        send(&self.host.peer, id, Outcome::Error(Failure { error, ..Failure::default() })).await;
    }

    /// Tells the host that its question makes no sense.
    pub(crate) async fn reject(&self, id: Option<RequestId>, error: &ReadError) {
        send(&self.host.peer, id, Outcome::Error(rejection(error))).await;
    }

    /// Sends an answer, and lets its consequences happen once it is on its way.
    pub(crate) async fn deliver(&self, id: Option<RequestId>, reply: ControlReply) {
        send(&self.host.peer, id, outcome(&reply)).await;
        reply.delivered().await;
    }

    /// Asks another session from now on.
    pub(crate) fn belong_to(&mut self, session: Session) {
        self.session = session;
    }

    /// The host no longer wants an answer. It gets one, and soon.
    pub(crate) fn withdraw(&mut self, id: &RequestId) {
        if let Some(stop) = self.stops.remove(id) {
            stop.cancel();
        }
    }

    /// Waits until one is done. Never returns while there is none.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn next_done(&mut self) {
        match self.working.join_next().await {
            Some(done) => self.forget(done.ok().flatten()),
            None => std::future::pending().await,
        }
    }

    /// Waits until all are done.
    pub(crate) async fn finish(&mut self) {
        while self.working.join_next().await.is_some() {}
    }

    fn forget(&mut self, id: Option<RequestId>) {
        if let Some(id) = id {
            self.stops.remove(&id);
        }
    }
}

/// Answers one question, and lets its consequences happen once the answer is on its way.
async fn answer(
    session: Session,
    host: Arc<PeerHost>,
    id: Option<RequestId>,
    request: HostRequest,
    stop: CancellationToken,
) -> Option<RequestId> {
    let peer = &host.peer;
    let when_stopped = refusal_when_stopped(&request);
    let opens = matches!(request, HostRequest::Initialize(_));
    let work = CaughtPanic(Box::pin(async {
        match id.clone() {
            Some(request_id) => {
                let request = ControlRequest { request_id, request, extra: Extra::new() };
                session.control_request(request, CancellationToken::new()).await
            }
            None => session.control(request).await,
        }
    }));
    let reply = tokio::select! {
        biased;
        reply = work => reply,
        () = stop.cancelled() => {
            let error = when_stopped.unwrap_or("cancelled").to_owned();
            let failure = Failure { error, ..Failure::default() };
            send(peer, id.clone(), Outcome::Error(failure)).await;
            return id;
        }
    };
    let Some(reply) = reply else {
        let error = "the agent failed while it worked on this".to_owned();
        send(peer, id.clone(), Outcome::Error(Failure { error, ..Failure::default() })).await;
        return id;
    };
    let mut outcome = outcome(&reply);
    if let (true, Outcome::Success(success)) = (opens, &mut outcome) {
        host.unanswered.list(success);
    }
    send(peer, id.clone(), outcome).await;
    reply.delivered().await;
    id
}

/// What a host is told of an answer.
fn outcome(reply: &ControlReply) -> Outcome {
    match &reply.result {
        Ok(response) => {
            Outcome::Success(Success { response: response.clone(), ..Success::default() })
        }
        Err(ControlError { message, code, details }) => Outcome::Error(Failure {
            error: message.clone(),
            error_code: code.clone(),
            extra: details.clone(),
            ..Failure::default()
        }),
    }
}

/// What a host is told of a question that does not fit its type.
fn rejection(error: &ReadError) -> Failure {
    let (error, code) = match error {
        ReadError::BadBody { tag, field, source } => {
            let problem = source.to_string();
            // A host knows its requests by their fields, not by line and column.
            let problem = problem.split(" at line ").next().unwrap_or_default();
            let error = match field.as_str() {
                "." => format!("{tag}: {problem}"),
                field => format!("{tag}: {field}: {problem}"),
            };
            let code = match tag.as_str() {
                "set_permission_mode" => Some("invalid_mode"),
                "set_model" => Some("invalid_request"),
                _ => None,
            };
            (error, code)
        }
        _ => {
            let error = "Unsupported control request subtype: undefined".to_owned();
            (error, Some("unsupported_request"))
        }
    };
    Failure { error, error_code: code.map(str::to_owned), ..Failure::default() }
}

/// What a question that takes a while is answered when the host withdraws it. The others are
/// answered as if it had not.
fn refusal_when_stopped(request: &HostRequest) -> Option<&'static str> {
    match request {
        HostRequest::SideQuestion(_) => Some("Side question cancelled"),
        _ => None,
    }
}

/// Sends an answer.
async fn send(peer: &Peer, id: Option<RequestId>, mut outcome: Outcome) {
    let named = id.is_some();
    if let (Some(id), Outcome::Success(Success { request_id, .. }))
    | (Some(id), Outcome::Error(Failure { request_id, .. })) = (id, &mut outcome)
    {
        *request_id = id;
    }
    let line =
        AgentLine::ControlResponse(ControlResponse { response: outcome, extra: Extra::new() });
    let sent = if named {
        peer.tell(&line).await
    } else {
        // A question without a name cannot be answered by name.
        let mut line = serde_json::to_value(&line).unwrap_or_default();
        if let Some(answer) = line["response"].as_object_mut() {
            answer.remove("request_id");
        }
        peer.tell(&line).await
    };
    if let Err(error) = sent {
        tracing::debug!(%error, "an answer was not sent");
    }
}

/// A future whose panic is an answer too: `None`.
struct CaughtPanic<F>(Pin<Box<F>>);

impl<F: Future> Future for CaughtPanic<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let inner = self.0.as_mut();
        // What the panic left behind is never polled again.
        match std::panic::catch_unwind(AssertUnwindSafe(|| inner.poll(context))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_makes_no_sense_is_told_why() {
        let told = |json: &str| {
            let failure = rejection(&HostRequest::parse(json).unwrap_err());
            (failure.error, failure.error_code.unwrap_or_default())
        };
        let cases = [
            (r#"{"subtype":"stop_task"}"#, "stop_task: missing field `task_id`", ""),
            (
                r#"{"subtype":"stop_task","task_id":7}"#,
                "stop_task: task_id: invalid type: integer `7`, expected a string",
                "",
            ),
            (
                r#"{"subtype":"set_permission_mode","mode":null}"#,
                "set_permission_mode: mode: invalid type: null, expected a string",
                "invalid_mode",
            ),
            (
                r#""interrupt""#,
                "Unsupported control request subtype: undefined",
                "unsupported_request",
            ),
        ];
        for (json, error, code) in cases {
            assert_eq!(told(json), (error.to_owned(), code.to_owned()), "{json}");
        }
    }
}
