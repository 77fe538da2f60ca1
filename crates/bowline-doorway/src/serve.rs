//! The life of the door: reads what the host says until both sides are done.

use std::{pin::pin, time::Duration};

use bowline_engine::{Session, SessionEnd};
use bowline_peer::{Fault, Inbox, Peer, Request, Service};
use bowline_protocol::{ClaimSession, Failure, HostRequest, RequestId, Success, whole_characters};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::{sync::mpsc, time};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    Door, InputError, Opening, Spare,
    input::{Input, check_syntax},
    questions::OpenQuestions,
    spare::Work,
};

/// How long questions may take to be answered once the session is over.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Claimed sessions whose work has yet to begin. The reader waits for one before it reads on.
const CLAIMED: usize = 1;

impl Door {
    /// Serves the host until the session is over.
    ///
    /// `work` is the session itself. It ends when the host has closed its input and the work is
    /// done, when the session is shut down, or when nobody reads what we write. Input that makes
    /// no sense ends it at once: the error says what to tell the user.
    pub async fn serve(
        self,
        session: Session,
        work: impl Future<Output = SessionEnd> + Send + 'static,
    ) -> Result<SessionEnd, InputError> {
        self.serve_either(session, None, Box::pin(work)).await
    }

    /// The same with a session that only waits until the host claims one, which then takes its place.
    ///
    /// `work` is the waiting session's.
    pub async fn serve_spare(
        self,
        spare: Spare,
        work: impl Future<Output = SessionEnd> + Send + 'static,
    ) -> Result<SessionEnd, InputError> {
        self.serve_either(spare.session(), Some(spare), Box::pin(work)).await
    }

    async fn serve_either(
        self,
        session: Session,
        spare: Option<Spare>,
        work: Work,
    ) -> Result<SessionEnd, InputError> {
        let Self { host, peer, inbox, wire, mut faults, over, opening } = self;
        let wire = AbortOnDropHandle::new(tokio::spawn(wire));
        let questions = OpenQuestions::new(session.clone(), host);
        let (begin, mut begun) = mpsc::channel(CLAIMED);
        let now = || spare.as_ref().map_or_else(|| session.clone(), Spare::session);
        let mut reader = Reader {
            session: session.clone(),
            inbox,
            questions,
            opening,
            claims: spare.clone().map(|spare| (spare, begin)),
        };
        let served = {
            let mut works = FuturesUnordered::from_iter([work]);
            let mut end = SessionEnd::default();
            let mut reading = pin!(reader.read());
            let (mut listening, mut heard) = (true, true);
            loop {
                tokio::select! {
                    biased;
                    Some(fault) = faults.recv() => break Err(fault),
                    Some(work) = begun.recv() => works.push(work),
                    Some(ended) = works.next() => {
                        end.last_turn_failed = ended.last_turn_failed.or(end.last_turn_failed);
                        end.fault = ended.fault.or(end.fault.take());
                        if works.is_empty() {
                            break Ok(end);
                        }
                    }
                    read = &mut reading, if listening => match read {
                        Ok(()) => listening = false,
                        Err(error) => break Err(error),
                    },
                    () = peer.output_ended(), if heard => {
                        heard = false;
                        now().shutdown();
                    }
                }
            }
        };
        if served.is_ok() {
            time::timeout(LAST_ANSWERS, reader.questions.finish()).await.ok();
        }
        close(&peer, &over, wire).await;
        served
    }
}

/// Lets what was said be written, and hangs up.
async fn close(
    peer: &Peer,
    over: &CancellationToken,
    wire: AbortOnDropHandle<Result<(), bowline_peer::SessionError>>,
) {
    over.cancel();
    peer.close();
    match wire.await {
        Ok(Err(error)) => tracing::debug!(%error, "the wire"),
        Err(error) => tracing::error!(%error, "the wire"),
        Ok(Ok(())) => {}
    }
}

/// Takes the host's lines in their order.
struct Reader {
    session: Session,
    inbox: Inbox,
    questions: OpenQuestions,
    opening: Opening,
    /// How a session is claimed while the one there is only waits, and who sees to its work.
    claims: Option<(Spare, mpsc::Sender<Work>)>,
}

impl Reader {
    /// Reads until the host says no more, then until its questions are answered.
    async fn read(&mut self) -> Result<(), InputError> {
        loop {
            tokio::select! {
                biased;
                () = self.questions.next_done() => {}
                line = self.inbox.next(), if self.questions.have_room() => match line {
                    Some(line) => {
                        let input = Input::read(&whole_characters(line.text.into()))?;
                        self.take(input).await?;
                    }
                    None => break,
                },
            }
        }
        self.session.end_of_input().await;
        self.questions.finish().await;
        Ok(())
    }

    async fn take(&mut self, input: Input) -> Result<(), InputError> {
        if std::mem::take(&mut self.opening) == Opening::InitializeFirst && !is_initialize(&input) {
            return Err(InputError::InitializeNotFirst);
        }
        match input {
            Input::Prompt(prompt) => self.session.prompt(*prompt).await,
            Input::Question(id, request) => match (*request, self.claims.take()) {
                (HostRequest::ClaimSession(claim), Some(claims)) => {
                    self.claim(id, claim, claims).await;
                }
                (request, claims) => {
                    self.claims = claims;
                    self.questions.take_up(id, request).await;
                }
            },
            Input::BadQuestion(id, error) => self.questions.reject(id, &error).await,
            Input::Withdrawal(id) => self.questions.withdraw(&id),
            Input::Environment(update) => self.session.update_environment(update.variables),
            Input::Nothing => {}
        }
        Ok(())
    }
}

impl Reader {
    /// Puts the session that the host claims in the place of the one that waits. If that cannot be
    /// done, the host may claim another one.
    async fn claim(
        &mut self,
        id: Option<RequestId>,
        claim: ClaimSession,
        (spare, begin): (Spare, mpsc::Sender<Work>),
    ) {
        let (claimed, work) = match spare.open(&claim) {
            Ok(opened) => opened,
            Err(why) => {
                self.claims = Some((spare, begin));
                return self.questions.refuse(id, why).await;
            }
        };
        begin.send(work).await.ok();
        let reply = claimed.take_over(&self.session, claim).await;
        if reply.result.is_ok() {
            spare.replace(claimed.clone());
            self.questions.belong_to(claimed.clone());
            std::mem::replace(&mut self.session, claimed).shutdown();
        } else {
            claimed.shutdown();
            self.claims = Some((spare, begin));
        }
        self.questions.deliver(id, reply).await;
    }
}

fn is_initialize(input: &Input) -> bool {
    matches!(input, Input::Question(_, request) if matches!(**request, HostRequest::Initialize(_)))
}

/// What the door has to do with the wire beside reading it.
pub(crate) struct DoorService {
    pub(crate) report: mpsc::Sender<InputError>,
    pub(crate) over: CancellationToken,
}

impl Service for DoorService {
    async fn request(&self, _: Request, _: CancellationToken) -> Result<Success, Failure> {
        // They are in the inbox; see `Questions::Inbox`.
        Err(Failure { error: "nobody answers here".to_owned(), ..Failure::default() })
    }

    async fn end_of_input(&self) {
        self.over.cancelled().await;
    }

    fn fault(&self, fault: Fault) {
        let fatal = match fault {
            Fault::Line(fault) => Some(InputError::Unreadable(fault)),
            // An answer that does not fit is nobody's answer, but a line must be JSON.
            Fault::Control { line, .. } => check_syntax(&line.text).err(),
            _ => None,
        };
        if let Some(error) = fatal {
            // If there is one already, that one ends the session.
            self.report.try_send(error).ok();
        }
    }
}
