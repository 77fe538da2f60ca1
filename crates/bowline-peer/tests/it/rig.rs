//! One end under test, and the bare lines that the other end of it sees.

use std::{collections::HashMap, sync::Arc};

use bowline_peer::{
    Arrival, Fault, Inbox, Link, Options, Peer, Request, Service, SessionError, Stray, connect,
};
use bowline_protocol::{Failure, Line, RequestId, Success};
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// What a [`Desk`] was told on the side.
#[derive(Debug, PartialEq)]
pub(crate) enum Note {
    Fault(String),
    Stray(String, Stray),
    Cancelled(String),
    EndOfInput,
}

/// Answers by subtype: `echo`, `refuse`, `panic`, and `hang`, which waits to be cancelled.
pub(crate) struct Desk {
    notes: mpsc::UnboundedSender<Note>,
    /// `end_of_input` returns when it gets one of these.
    may_stop: Arc<Semaphore>,
}

impl Service for Desk {
    async fn request(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> Result<Success, Failure> {
        match request.body.to_value()["subtype"].as_str() {
            Some("panic") => panic!("as asked"),
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

    fn stray_answer(&self, id: &RequestId, stray: Stray) {
        self.notes.send(Note::Stray(id.0.clone(), stray)).ok();
    }
}

pub(crate) type Running = JoinHandle<Result<(), SessionError>>;

/// One end under test.
pub(crate) struct Near {
    pub(crate) peer: Peer,
    pub(crate) inbox: Inbox,
    pub(crate) session: Running,
    pub(crate) notes: mpsc::UnboundedReceiver<Note>,
    pub(crate) may_stop: Arc<Semaphore>,
}

/// Runs one end over `link`.
pub(crate) fn near(link: Link, options: Options) -> Near {
    let (told, notes) = mpsc::unbounded_channel();
    let may_stop = Arc::new(Semaphore::new(0));
    let desk = Desk { notes: told, may_stop: may_stop.clone() };
    let (peer, inbox, session) = connect(link, desk, options);
    Near { peer, inbox, session: tokio::spawn(session), notes, may_stop }
}

/// The other end, by hand.
pub(crate) struct Far {
    say: mpsc::Sender<Arrival>,
    pub(crate) hear: mpsc::Receiver<String>,
    said: u64,
}

impl Far {
    pub(crate) async fn say(&mut self, line: impl ToString) {
        self.arrive(Ok(line.to_string())).await;
    }

    pub(crate) async fn arrive(&mut self, arrival: Result<String, bowline_protocol::LineFault>) {
        self.said += 1;
        let number = self.said;
        let arrival = arrival.map(|text| Line { number, offset: 0, text });
        self.say.send(arrival).await.unwrap();
    }

    pub(crate) async fn ask(&mut self, id: &str, subtype: &str) {
        self.say(json!({
            "type": "control_request", "request_id": id, "request": {"subtype": subtype},
        }))
        .await;
    }

    pub(crate) async fn answer(&mut self, id: &str, response: Value) {
        self.say(json!({
            "type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": response},
        }))
        .await;
    }

    /// The next line, or `null` at the end.
    pub(crate) async fn hear(&mut self) -> Value {
        match self.hear.recv().await {
            Some(line) => serde_json::from_str(&line).unwrap(),
            None => Value::Null,
        }
    }

    /// The next line, which must be a question.
    pub(crate) async fn question(&mut self) -> String {
        let line = self.hear().await;
        assert_eq!(line["type"], "control_request", "{line}");
        line["request_id"].as_str().unwrap().to_owned()
    }

    /// The next lines, which must be answers, by the question they belong to.
    pub(crate) async fn answers(&mut self, count: usize) -> HashMap<String, Value> {
        let mut answers = HashMap::new();
        for _ in 0..count {
            let mut line = self.hear().await;
            assert_eq!(line["type"], "control_response", "{line}");
            let answer = line["response"].take();
            let id = answer["request_id"].as_str().unwrap().to_owned();
            assert_eq!(answers.insert(id, answer), None, "answered twice");
        }
        answers
    }

    /// Says no more, but still listens.
    pub(crate) fn end_of_input(self) -> mpsc::Receiver<String> {
        self.hear
    }
}

/// One end under test and the bare other end, with room for one line each way.
pub(crate) fn rig(options: Options) -> (Near, Far) {
    let (say, incoming) = mpsc::channel(1);
    let (outgoing, hear) = mpsc::channel(1);
    (near(Link::channels(incoming, outgoing), options), Far { say, hear, said: 0 })
}

pub(crate) fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

/// The error that answers question `id`.
pub(crate) fn error(id: &str, error: &str) -> Value {
    json!({"subtype": "error", "request_id": id, "error": error})
}
