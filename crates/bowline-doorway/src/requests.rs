//! Control requests of the host, dispatched to the session in order.

use bowline_engine::{ControlError, ControlReply, Session};
use bowline_peer::{Dispatcher, Peer, Response};
use bowline_protocol::{
    Call, CanUseTool, ControlRequest, Elicitation, Extra, Failure, HostRequest, ReadError,
    RequestId, Success,
};
use tokio_util::sync::CancellationToken;

/// Concurrent requests. Beyond them the host is not read; hosts normally have fewer than ten.
const CONCURRENCY: usize = 1024;

/// The host's requests, and the session that handles them.
pub(crate) struct ControlRequests {
    session: Session,
    peer: Peer,
    dispatcher: Dispatcher,
}

impl ControlRequests {
    pub(crate) fn new(session: Session, peer: Peer) -> Self {
        let dispatcher = peer.dispatcher(CONCURRENCY);
        Self { session, peer, dispatcher }
    }

    /// Whether one more may be dispatched.
    pub(crate) fn has_capacity(&self) -> bool {
        self.dispatcher.has_capacity()
    }

    /// Starts a request. What it does at once is done when this returns; the rest runs
    /// concurrently with what comes next.
    pub(crate) async fn dispatch(&mut self, id: Option<RequestId>, request: HostRequest) {
        let session = self.session.clone();
        let named = id.clone();
        if matches!(request, HostRequest::Initialize(_)) {
            // Requests after it may rely on what it brings.
            let peer = self.peer.clone();
            let handler = |_| async move { initialize(&session, &peer, named, request).await };
            self.dispatcher.run(id, handler).await;
        } else {
            let handler = |cancel| handle(session, named, request, cancel);
            self.dispatcher.dispatch(id, handler).await;
        }
    }

    /// Refuses a request with this message.
    pub(crate) async fn refuse(&mut self, id: Option<RequestId>, error: String) {
        self.dispatcher.run(id, |_| async { Response::refusal(error) }).await;
    }

    /// Refuses a request whose fields are invalid.
    pub(crate) async fn reject(&mut self, id: Option<RequestId>, error: &ReadError) {
        let failure = rejection(error);
        self.dispatcher.run(id, |_| async { Response::new(Err(failure)) }).await;
    }

    /// Sends a reply that is there already.
    pub(crate) async fn reply(&mut self, id: Option<RequestId>, reply: ControlReply) {
        self.dispatcher.run(id, |_| async { response(reply) }).await;
    }

    /// Dispatches to another session from now on.
    pub(crate) fn rebind(&mut self, session: Session) {
        self.session = session;
    }

    /// Cancels a request. Its response is still sent, and soon.
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.dispatcher.cancel(id);
    }

    /// Waits until a request is done; forever while there is none.
    ///
    /// Cancel safety: dropping the future changes nothing.
    pub(crate) async fn join_next(&mut self) {
        self.dispatcher.join_next().await;
    }

    /// Waits until all requests are done.
    pub(crate) async fn join_all(&mut self) {
        self.dispatcher.join_all().await;
    }
}

/// Handles a request. A cancellation is the response of those that can be cancelled.
async fn handle(
    session: Session,
    id: Option<RequestId>,
    request: HostRequest,
    cancel: CancellationToken,
) -> Response {
    let Some(refusal) = refusal_when_cancelled(&request) else {
        return response(control(&session, id, request).await);
    };
    tokio::select! {
        biased;
        reply = control(&session, id, request) => response(reply),
        () = cancel.cancelled() => Response::refusal(refusal),
    }
}

/// Handles `initialize`, whose response also lists what a host that connects again has to decide.
async fn initialize(
    session: &Session,
    peer: &Peer,
    id: Option<RequestId>,
    request: HostRequest,
) -> Response {
    let reply = control(session, id, request).await;
    let elicitations = peer.listed_requests(Elicitation::SUBTYPE);
    let pending = Success {
        pending_permission_requests: Some(peer.listed_requests(CanUseTool::SUBTYPE)),
        // The engine makes no requests of this kind.
        pending_user_dialog_requests: Some(Vec::new()),
        pending_elicitation_requests: Some(elicitations).filter(|open| !open.is_empty()),
        ..Success::default()
    };
    response_with(pending, reply)
}

async fn control(session: &Session, id: Option<RequestId>, request: HostRequest) -> ControlReply {
    match id {
        Some(request_id) => {
            let request = ControlRequest { request_id, request, extra: Extra::new() };
            session.control_request(request, CancellationToken::new()).await
        }
        None => session.control(request).await,
    }
}

fn response(reply: ControlReply) -> Response {
    response_with(Success::default(), reply)
}

/// The response with a reply; `success` is the envelope of one that succeeded.
fn response_with(success: Success, reply: ControlReply) -> Response {
    let outcome = match &reply.result {
        Ok(response) => Ok(Success { response: response.clone(), ..success }),
        Err(ControlError { message, code, details }) => Err(Failure {
            error: message.clone(),
            error_code: code.clone(),
            extra: details.clone(),
            ..Failure::default()
        }),
    };
    Response::new(outcome).delivered(reply.delivered())
}

/// The response to a request whose fields are invalid.
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

/// The response to a request that takes a while and is cancelled. Others are completed as if
/// they had not been.
fn refusal_when_cancelled(request: &HostRequest) -> Option<&'static str> {
    match request {
        HostRequest::SideQuestion(_) => Some("Side question cancelled"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_request_is_refused_with_its_field() {
        let rejected = |json: &str| {
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
            assert_eq!(rejected(json), (error.to_owned(), code.to_owned()), "{json}");
        }
    }
}
