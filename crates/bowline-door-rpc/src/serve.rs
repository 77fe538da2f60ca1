//! The life of the door: reads what the client says until both sides are done.

use std::{io, sync::Arc, time::Duration};

use bowline_engine::Sessions;
use bowline_protocol::{
    LineFault, RawJson, ResultMessage, SessionId,
    jsonrpc::{ErrorObject, Id},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time;
use tokio_util::sync::CancellationToken;

use crate::{
    Door,
    host::Questions,
    lines::Lines,
    output::{Output, Response, failure, result},
    run::{Run, RunParams},
    wire::{
        Incoming, Message, Params, already_running, cancelled, internal_error, not_running,
        parse_error, unknown_method,
    },
};

/// How long a run that is stopped for good may take to say how far it came: longer than commands take to
/// end, and short of the four or five seconds after which the program itself is ended.
const RUN_ENDS: Duration = Duration::from_secs(3);

/// How long the last lines may take on their way to a client that reads slowly.
const GRACE: Duration = Duration::from_secs(4);

impl Door {
    /// Serves the client until it has closed its input and what it began is done, until nobody
    /// reads what we write, or until `stop` fires.
    pub async fn serve(self, stop: CancellationToken) -> io::Result<()> {
        let Self { mut lines, writer, sessions } = self;
        let (output, writer) = Output::start(writer);
        let questions = Arc::new(Questions::new());
        let reader = output.clone();
        let mut client = Client { sessions, output, questions, run: None, last_session: None };
        let served = tokio::select! {
            biased;
            () = stop.cancelled() => Ok(()),
            () = reader.gone() => Ok(()),
            served = client.serve(&mut lines) => served,
        };
        drop(reader);
        client.stop().await;
        drop(client);
        time::timeout(GRACE, writer).await.ok();
        served
    }
}

async fn run_ended(run: &mut Option<Run>) -> Result<Box<ResultMessage>, ErrorObject> {
    match run {
        Some(run) => run.ended().await,
        None => std::future::pending().await,
    }
}

/// The client, and what it began.
struct Client {
    sessions: Arc<dyn Sessions>,
    output: Output,
    questions: Arc<Questions>,
    run: Option<Run>,
    last_session: Option<SessionId>,
}

/// The answer to `status`.
#[derive(Serialize)]
struct Status<'a> {
    state: &'static str,
    run_id: Option<&'a Id>,
    session_id: Option<&'a SessionId>,
}

impl Client {
    /// Does what the client says, until it says no more and what it began is done.
    async fn serve(&mut self, lines: &mut Lines) -> io::Result<()> {
        let mut listening = true;
        while listening || self.run.is_some() {
            tokio::select! {
                biased;
                ended = run_ended(&mut self.run) => self.finish(ended).await,
                line = lines.next(), if listening => match line? {
                    Some(line) => self.take(line).await,
                    None => {
                        listening = false;
                        self.questions.close();
                    }
                },
            }
        }
        Ok(())
    }

    async fn take(&mut self, line: Result<String, LineFault>) {
        let incoming = match &line {
            Ok(line) => Incoming::read(line),
            Err(fault) => Incoming::Invalid(parse_error(fault)),
        };
        match incoming {
            Incoming::Invalid(why) => self.output.respond(&failure(Id::null(), why)).await,
            Incoming::One(message) => {
                if let Some(response) = self.answer(message).await {
                    self.output.respond(&response).await;
                }
            }
            Incoming::Batch(messages) => {
                let was_running = self.run.is_some();
                let mut responses = Vec::new();
                for message in messages {
                    responses.extend(self.answer(message).await);
                }
                match &mut self.run {
                    // A run that began in this batch answers with it, when it ends.
                    Some(run) if !was_running && run.id.is_some() => {
                        run.batch = Some(responses);
                    }
                    _ => self.output.respond_all(&responses).await,
                }
            }
        }
    }

    /// Does what a message says; the response, if there is one by now.
    async fn answer(&mut self, message: Message) -> Option<Response> {
        let (id, method, params) = match message {
            Message::Call { id, method, params } => (id, method, params),
            Message::Response { id, outcome } => {
                self.questions.answered(&id, outcome);
                return None;
            }
            Message::Invalid { id, failure: why } => {
                // It may have been meant as an answer, and there will be no other.
                self.questions.malformed(&id, &why.message);
                return Some(failure(id, why));
            }
        };
        let answered = match &*method {
            "run" => match self.begin(id.clone(), params).await {
                Ok(()) => return None,
                Err(why) => Err(why),
            },
            "cancel" => self.cancel().map(RawJson::from),
            "status" => RawJson::from_value(&self.status()).map_err(internal_error),
            other => Err(unknown_method(other)),
        };
        let id = id?;
        Some(match answered {
            Ok(answer) => result(id, &answer),
            Err(why) => failure(id, why),
        })
    }

    async fn begin(&mut self, id: Option<Id>, params: Params) -> Result<(), ErrorObject> {
        if let Some(run) = &self.run {
            return Err(already_running(run.id.as_ref()));
        }
        let params = RunParams::read(params)?;
        let run = Run::begin(id, params, &*self.sessions, &self.output, &self.questions).await?;
        self.last_session = Some(run.session.clone());
        self.run = Some(run);
        Ok(())
    }

    fn cancel(&self) -> Result<Value, ErrorObject> {
        match &self.run {
            Some(run) => {
                run.cancel.cancel();
                Ok(json!({ "cancelled": true }))
            }
            None => Err(not_running()),
        }
    }

    fn status(&self) -> Status<'_> {
        let state = match &self.run {
            None => "idle",
            Some(_) if self.questions.waiting() > 0 => "waiting",
            Some(_) => "running",
        };
        Status {
            state,
            run_id: self.run.as_ref().and_then(|run| run.id.as_ref()),
            session_id: self.last_session.as_ref(),
        }
    }

    /// A run has ended: its last response.
    async fn finish(&mut self, ended: Result<Box<ResultMessage>, ErrorObject>) {
        let Some(run) = self.run.take() else { return };
        let Some(id) = run.id else { return };
        let response = match ended {
            Ok(last) => result(id, &bowline_protocol::Message::Result(last)),
            Err(why) => failure(id, why),
        };
        match run.batch {
            Some(mut responses) => {
                responses.push(response);
                self.output.respond_all(&responses).await;
            }
            None => self.output.respond(&response).await,
        }
    }

    /// Nothing more is wanted of what runs, but how far it came. It is answered also if it does not
    /// say that in time.
    async fn stop(&mut self) {
        self.questions.close();
        let Some(run) = &self.run else { return };
        run.cancel.cancel();
        let ended = time::timeout(RUN_ENDS, run_ended(&mut self.run)).await;
        let ended = ended.unwrap_or_else(|_| Err(cancelled(None)));
        // The run's own handle aborts it if it did not notice.
        time::timeout(GRACE, self.finish(ended)).await.ok();
    }
}
