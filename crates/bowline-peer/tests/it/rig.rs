//! One end under test, and the bare lines of the other end.

use std::{collections::HashMap, sync::Arc};

use bowline_peer::{
    Arrival, Fault, Inbox, Link, Options, Peer, Request, Service, SessionError, StrayResponse,
    connect,
};
use bowline_protocol::{Failure, Line, RequestId, Success};
use serde_json::{Value, json};
use tokio::{
    io::{DuplexStream, duplex},
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// What a [`TestService`] has observed.
#[derive(Debug, PartialEq)]
pub(crate) enum Note {
    Fault(String),
    Stray(String, StrayResponse),
    Cancelled(String),
    EndOfInput,
}

/// Responds by subtype: `echo`, `refuse`, `panic`, and `hang`, which waits to be cancelled.
pub(crate) struct TestService {
    notes: mpsc::UnboundedSender<Note>,
    /// `end_of_input` returns when it gets one of these.
    may_stop: Arc<Semaphore>,
}

impl Service for TestService {
    async fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Success, Failure> {
        match request.body.to_value()["subtype"].as_str() {
            Some("panic") => panic!("as requested"),
            Some("refuse") => Err(Failure {
                error: "no".to_owned(),
                error_code: Some("not_today".to_owned()),
                ..Failure::default()
            }),
            Some("hang") => {
                cancel.cancelled().await;
                self.notes.send(Note::Cancelled(request.id.0)).ok();
                Ok(Success::default())
            }
            _ => Ok(Success { response: Some(request.body), ..Success::default() }),
        }
    }

    async fn end_of_input(&self) {
        self.notes.send(Note::EndOfInput).ok();
        self.may_stop.acquire().await.unwrap().forget();
    }

    fn fault(&self, fault: Fault) {
        self.notes.send(Note::Fault(fault.to_string())).ok();
    }

    fn stray_response(&self, id: &RequestId, stray: StrayResponse) {
        self.notes.send(Note::Stray(id.0.clone(), stray)).ok();
    }
}

pub(crate) type SessionHandle = JoinHandle<Result<(), SessionError>>;

/// One end under test.
pub(crate) struct Near {
    pub(crate) peer: Peer,
    pub(crate) inbox: Inbox,
    pub(crate) session: SessionHandle,
    pub(crate) notes: mpsc::UnboundedReceiver<Note>,
    pub(crate) may_stop: Arc<Semaphore>,
}

/// Runs one end over `link`.
pub(crate) fn near(link: Link, options: Options) -> Near {
    let (sender, notes) = mpsc::unbounded_channel();
    let may_stop = Arc::new(Semaphore::new(0));
    let service = TestService { notes: sender, may_stop: may_stop.clone() };
    let (peer, inbox, session) = connect(link, service, options);
    Near { peer, inbox, session: tokio::spawn(session), notes, may_stop }
}

/// The other end, by hand.
pub(crate) struct Far {
    sender: mpsc::Sender<Arrival>,
    pub(crate) lines: mpsc::Receiver<String>,
    sent: u64,
}

impl Far {
    pub(crate) async fn send(&mut self, line: impl ToString) {
        self.arrive(Ok(line.to_string())).await;
    }

    pub(crate) async fn arrive(&mut self, arrival: Result<String, bowline_protocol::LineFault>) {
        self.sent += 1;
        let number = self.sent;
        let arrival = arrival.map(|text| Line { number, offset: 0, text });
        self.sender.send(arrival).await.unwrap();
    }

    pub(crate) async fn send_request(&mut self, id: &str, subtype: &str) {
        self.send(json!({
            "type": "control_request", "request_id": id, "request": {"subtype": subtype},
        }))
        .await;
    }

    pub(crate) async fn respond(&mut self, id: &str, response: Value) {
        self.send(json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": response},
        }))
        .await;
    }

    /// The next line, or `null` at the end.
    pub(crate) async fn receive(&mut self) -> Value {
        match self.lines.recv().await {
            Some(line) => serde_json::from_str(&line).unwrap(),
            None => Value::Null,
        }
    }

    /// The next line, which must be a request; its id.
    pub(crate) async fn request(&mut self) -> String {
        let line = self.receive().await;
        assert_eq!(line["type"], "control_request", "{line}");
        line["request_id"].as_str().unwrap().to_owned()
    }

    /// The next lines, which must be responses, by the id of their request.
    pub(crate) async fn responses(&mut self, count: usize) -> HashMap<String, Value> {
        let mut responses = HashMap::new();
        for _ in 0..count {
            let mut line = self.receive().await;
            assert_eq!(line["type"], "control_response", "{line}");
            let response = line["response"].take();
            let id = response["request_id"].as_str().unwrap().to_owned();
            assert_eq!(responses.insert(id, response), None, "two responses to one request");
        }
        responses
    }

    /// Sends no more, but still reads.
    pub(crate) fn end_of_input(self) -> mpsc::Receiver<String> {
        self.lines
    }
}

/// One end under test and the bare other end, with capacity for one line each way.
pub(crate) fn rig(options: Options) -> (Near, Far) {
    let (sender, incoming) = mpsc::channel(1);
    let (outgoing, lines) = mpsc::channel(1);
    (near(Link::channels(incoming, outgoing), options), Far { sender, lines, sent: 0 })
}

/// One end under test over bytes, and the other end of them.
pub(crate) fn bytes(options: Options) -> (Near, DuplexStream) {
    let (here, there) = duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(here);
    (near(Link::stream(reader, writer), options), there)
}

pub(crate) fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

/// The error response to request `id`.
pub(crate) fn error(id: &str, error: &str) -> Value {
    json!({"subtype": "error", "request_id": id, "error": error})
}
