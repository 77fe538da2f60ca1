//! The serving loop of a door: reads the host's lines until session and host are done.

use std::{pin::pin, time::Duration};

use bowline_engine::{Session, SessionEnd};
use bowline_peer::{Fault, Inbox, Peer, Service};
use bowline_protocol::{ClaimSession, HostRequest, RequestId};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::{sync::mpsc, time};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    Door, InputError, Opening, Spare,
    input::{Input, check_syntax},
    requests::ControlRequests,
    spare::Work,
};

/// How long open requests may take after the session is over.
const LAST_RESPONSES: Duration = Duration::from_secs(2);

/// Claimed sessions whose work has yet to begin. The reader waits for each before it reads on.
const CLAIMED: usize = 1;

impl Door {
    /// Serves the host until the session is over.
    ///
    /// `work` is the session itself. Serving ends when the host has closed its input and the work is
    /// done, when the session is shut down, or when the host stops reading. Invalid input
    /// ends it at once, with an error for the user.
    pub async fn serve(
        self,
        session: Session,
        work: impl Future<Output = SessionEnd> + Send + 'static,
    ) -> Result<SessionEnd, InputError> {
        self.serve_either(session, None, Box::pin(work)).await
    }

    /// Serves a spare session until the host claims one, which replaces it.
    ///
    /// `work` is the spare session's.
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
        let Self { host: _, peer, inbox, wire, mut faults, over, opening } = self;
        let wire = AbortOnDropHandle::new(tokio::spawn(wire));
        let requests = ControlRequests::new(session.clone(), peer.clone());
        let (begin, mut begun) = mpsc::channel(CLAIMED);
        let current = || spare.as_ref().map_or_else(|| session.clone(), Spare::session);
        let mut reader = Reader {
            session: session.clone(),
            inbox,
            requests,
            opening,
            claims: spare.clone().map(|spare| (spare, begin)),
        };
        let served = {
            let mut works = FuturesUnordered::from_iter([work]);
            let mut end = SessionEnd::default();
            let mut reading = pin!(reader.read());
            let (mut reading_input, mut output_open) = (true, true);
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
                    read = &mut reading, if reading_input => match read {
                        Ok(()) => reading_input = false,
                        Err(error) => break Err(error),
                    },
                    () = peer.output_ended(), if output_open => {
                        output_open = false;
                        current().shutdown();
                    }
                }
            }
        };
        if served.is_ok() {
            time::timeout(LAST_RESPONSES, reader.requests.join_all()).await.ok();
        }
        close(&peer, &over, wire).await;
        served
    }
}

/// Flushes the output and closes the connection.
async fn close(
    peer: &Peer,
    over: &CancellationToken,
    wire: AbortOnDropHandle<Result<(), bowline_peer::SessionError>>,
) {
    over.cancel();
    peer.close();
    match wire.await {
        Ok(Err(error)) => tracing::debug!(%error, "the connection to the host failed"),
        Err(error) => tracing::error!(%error, "the connection to the host failed"),
        Ok(Ok(())) => {}
    }
}

/// Reads the host's lines in order.
struct Reader {
    session: Session,
    inbox: Inbox,
    requests: ControlRequests,
    opening: Opening,
    /// The spare session until one is claimed, and the receiver of the claimed session's work.
    claims: Option<(Spare, mpsc::Sender<Work>)>,
}

impl Reader {
    /// Reads until the end of input, then until the host's requests have their responses.
    async fn read(&mut self) -> Result<(), InputError> {
        loop {
            tokio::select! {
                biased;
                () = self.requests.join_next() => {}
                line = self.inbox.next(), if self.requests.has_capacity() => match line {
                    Some(line) => {
                        let input = Input::read(line.text)?;
                        self.handle(input).await?;
                    }
                    None => break,
                },
            }
        }
        self.session.end_of_input().await;
        self.requests.join_all().await;
        Ok(())
    }

    async fn handle(&mut self, input: Input) -> Result<(), InputError> {
        if std::mem::take(&mut self.opening) == Opening::InitializeFirst && !is_initialize(&input) {
            return Err(InputError::InitializeNotFirst);
        }
        match input {
            Input::Prompt(prompt) => self.session.prompt(*prompt).await,
            Input::Request(id, request) => match (*request, self.claims.take()) {
                (HostRequest::ClaimSession(claim), Some(claims)) => {
                    self.claim(id, claim, claims).await;
                }
                (request, claims) => {
                    self.claims = claims;
                    self.requests.dispatch(id, request).await;
                }
            },
            Input::InvalidRequest(id, error) => self.requests.reject(id, &error).await,
            Input::Cancellation(id) => self.requests.cancel(&id),
            Input::Environment(update) => self.session.update_environment(update.variables),
            Input::Ignored => {}
        }
        Ok(())
    }
}

impl Reader {
    /// Replaces the spare session by the one that the host claims. After a failure the host may
    /// claim again.
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
                return self.requests.refuse(id, why).await;
            }
        };
        begin.send(work).await.ok();
        let reply = claimed.take_over(&self.session, claim).await;
        if reply.result.is_ok() {
            spare.replace(claimed.clone());
            self.requests.rebind(claimed.clone());
            std::mem::replace(&mut self.session, claimed).shutdown();
        } else {
            claimed.shutdown();
            self.claims = Some((spare, begin));
        }
        self.requests.reply(id, reply).await;
    }
}

fn is_initialize(input: &Input) -> bool {
    matches!(input, Input::Request(_, request) if matches!(**request, HostRequest::Initialize(_)))
}

/// The door's callbacks of the wire: end of input and faults. Requests are in the inbox.
pub(crate) struct DoorService {
    pub(crate) report: mpsc::Sender<InputError>,
    pub(crate) over: CancellationToken,
}

impl Service for DoorService {
    async fn end_of_input(&self) {
        self.over.cancelled().await;
    }

    fn fault(&self, fault: Fault) {
        let fatal = match fault {
            Fault::Line(fault) => Some(InputError::Unreadable(fault)),
            // An invalid response settles no request, but a line must be JSON.
            Fault::Control { line, .. } => check_syntax(&line.text).err(),
            _ => None,
        };
        if let Some(error) = fatal {
            // The first one ends the session.
            self.report.try_send(error).ok();
        }
    }
}
