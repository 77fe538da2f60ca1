//! The session itself: reads the link, gives everything to whom it belongs, and ends in order.

use std::{
    borrow::Cow,
    io,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use bowline_protocol::{DEFAULT_LINE_LIMIT, Head, Line, RequestId, whole_characters};
use tokio::{
    task::{JoinError, JoinSet},
    time,
};
use tokio_util::sync::CancellationToken;

use crate::{
    batch::Batch,
    frame::{Kind, Request, Response, Withdrawal},
    inbox::{Delivery, Inbox, Overflow, Room, inbox},
    link::{Arrival, Input, Link, Source},
    outbox::Outbox,
    peer::{Peer, Shared},
    pending::Pending,
    requests::Requests,
    service::{Fault, Service},
};

/// How long the other end may take to answer, where the protocol names no other time.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// How long a session that ends waits for its own answers, and for the other end to take them.
pub const DEFAULT_DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of unread messages that are held in memory: some thousand ordinary ones.
pub const DEFAULT_INBOX_LIMIT: usize = 8 * 1024 * 1024;

/// Questions of the other end that are worked on at a time. Above what any honest end
/// has in flight, and low enough that a runaway one does not eat the machine.
pub const DEFAULT_REQUEST_LIMIT: usize = 16 * 1024;

/// Limits of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Longest line that is read; a longer one is a [`Fault`]. Links that bring whole
    /// lines have their own limit.
    pub line_limit: usize,
    /// How long to wait for an answer; `None` for as long as the session lives.
    pub time_limit: Option<Duration>,
    /// How long the end may take, once there is nothing more to read and
    /// [`Service::end_of_input`] has returned.
    pub drain_limit: Duration,
    /// Bytes of unread messages that are held in memory.
    pub inbox_limit: usize,
    /// What happens to unread messages beyond that.
    pub overflow: Overflow,
    /// Questions of the other end that are worked on at a time; more are refused.
    pub request_limit: usize,
    /// Where the other end's questions go.
    pub questions: Questions,
}

/// Where the questions of the other end go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Questions {
    /// To [`Service::request`], each in a task of its own and ahead of unread messages.
    #[default]
    Service,
    /// Into the [`Inbox`], with their withdrawals and in order with the messages.
    ///
    /// For an end to which it matters whether a question came before or after a message.
    /// Whoever reads the inbox gives the answers, with [`Peer::tell`], and owes one to
    /// each; malformed ones are in the inbox too.
    Inbox,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            line_limit: DEFAULT_LINE_LIMIT,
            time_limit: Some(DEFAULT_TIME_LIMIT),
            drain_limit: DEFAULT_DRAIN_LIMIT,
            inbox_limit: DEFAULT_INBOX_LIMIT,
            overflow: Overflow::default(),
            request_limit: DEFAULT_REQUEST_LIMIT,
            questions: Questions::default(),
        }
    }
}

/// Why a session did not end as it should. A closed pipe is not among the reasons.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The link could not be read.
    #[error("reading: {0}")]
    Read(#[source] io::Error),
    /// The link could not be written to.
    #[error("writing: {0}")]
    Write(#[source] io::Error),
    /// The other end did not take our last lines in time.
    #[error("the last lines were not taken within {0:?}")]
    NotTaken(Duration),
    /// Unread messages were put on disk and could not be read back.
    #[error("unread messages are lost: {0}")]
    Lost(#[source] io::Error),
}

/// A session, for somebody to poll.
pub type SessionFuture = Pin<Box<dyn Future<Output = Result<(), SessionError>> + Send>>;

/// Connects `service` to the other end of `link`.
///
/// The session lives while the returned future is polled. It ends when
///
/// - input has ended, [`Service::end_of_input`] has returned and the questions we were
///   asked are answered;
/// - or [`Peer::close`] is called and the questions we were asked are answered;
/// - or the future is dropped.
///
/// However it ends, whoever waits for an answer or for room is told at once.
pub fn connect<S: Service>(
    link: Link,
    service: S,
    options: Options,
) -> (Peer, Inbox, SessionFuture) {
    connect_with(link, |_| service, options)
}

/// [`connect`]s a service that speaks to the other end itself, and so is made from the peer.
pub fn connect_with<S: Service>(
    link: Link,
    service: impl FnOnce(Peer) -> S,
    options: Options,
) -> (Peer, Inbox, SessionFuture) {
    let Link { mut source, sink } = link;
    source.limit_lines(options.line_limit);
    let outbox = Arc::new(Outbox::new());
    let shared = Arc::new(Shared {
        pending: Pending::new(),
        outbox: outbox.clone(),
        closing: CancellationToken::new(),
    });
    let peer = Peer::new(shared.clone(), options.time_limit);
    let (delivery, inbox) = inbox(options.inbox_limit, options.overflow);
    let session = Session {
        service: Arc::new(service(peer.clone())),
        requests: Arc::new(Requests::new(outbox.clone(), options.request_limit)),
        shared,
        handlers: JoinSet::new(),
        messages: Batch::default(),
        delivery,
        drain_limit: options.drain_limit,
        questions: options.questions,
    };
    let run = async move {
        let written = outbox.write_to(sink);
        session.run(source, written).await
    };
    (peer, inbox, Box::pin(run))
}

struct Session<S> {
    service: Arc<S>,
    shared: Arc<Shared>,
    requests: Arc<Requests>,
    handlers: JoinSet<()>,
    /// Messages of the chunk being dispatched; they go into the inbox together.
    messages: Batch,
    delivery: Delivery,
    drain_limit: Duration,
    questions: Questions,
}

/// However the session ends, it ends for everyone.
impl<S> Drop for Session<S> {
    fn drop(&mut self) {
        self.shared.pending.close();
        self.shared.outbox.close();
    }
}

impl<S: Service> Session<S> {
    /// Reads until there is nothing more to read, then finishes what was begun.
    async fn run(
        mut self,
        source: Source,
        write: impl Future<Output = io::Result<()>>,
    ) -> Result<(), SessionError> {
        let shared = self.shared.clone();
        let mut writer = Writer { write: pin!(write), written: None, shared: &shared };
        let read = writer.during(self.read(source)).await;
        shared.pending.close();
        let lost = self.delivery.close();
        writer.during(self.finish(&read)).await;
        self.requests.close();
        shared.outbox.close();
        let written = writer.finish(self.drain_limit).await;
        read.map_err(SessionError::Read)?;
        written?;
        lost.map_err(SessionError::Lost)
    }

    async fn read(&mut self, mut source: Source) -> io::Result<End> {
        let closing = self.shared.closing.clone();
        let mut closing = pin!(closing.cancelled());
        let mut room = Room::Some;
        loop {
            tokio::select! {
                biased;
                () = &mut closing => return Ok(End::Closed),
                Some(done) = self.handlers.join_next() => reap(done),
                () = self.delivery.wait_for_room(), if room != Room::Some => room = Room::Some,
                input = source.fill(), if room == Room::Some => {
                    let input = input?;
                    source.drain(input, |arrival| self.dispatch(arrival));
                    room = self.deliver();
                    if input == Input::Ended {
                        return Ok(End::OfInput);
                    }
                }
            }
        }
    }

    /// Lets the service finish, then what still runs for the other end, within limits.
    async fn finish(&mut self, read: &io::Result<End>) {
        let closing = self.shared.closing.clone();
        if !matches!(read, Ok(End::Closed)) {
            tokio::select! {
                () = self.service.end_of_input() => {}
                () = closing.cancelled() => {}
            }
        }
        let handlers = &mut self.handlers;
        let drain = async {
            while let Some(done) = handlers.join_next().await {
                reap(done);
            }
        };
        // Who is late is answered for.
        time::timeout(self.drain_limit, drain).await.ok();
    }

    fn dispatch(&mut self, arrival: Arrival<Cow<'_, str>>) {
        let line = match arrival {
            Ok(line) => line,
            Err(fault) => return self.service.fault(fault.into()),
        };
        let kind = Kind::of(&line.text);
        if self.is_for_inbox(kind) {
            return self.messages.push(line);
        }
        let line = line.map(whole_characters);
        match kind {
            Kind::Message | Kind::KeepAlive => {}
            Kind::Request => match serde_json::from_str(&line.text) {
                Ok(request) => self.start(request),
                Err(error) => {
                    if let Some(id) = request_id(&line.text) {
                        self.requests.refuse(id, format!("malformed request: {error}"));
                    }
                    self.bad_frame(line, error);
                }
            },
            Kind::Response => match serde_json::from_str::<Response>(&line.text) {
                Ok(response) => self.answer(response),
                Err(error) => self.bad_frame(line, error),
            },
            Kind::Withdrawal => match serde_json::from_str::<Withdrawal>(&line.text) {
                Ok(Withdrawal { request_id }) => self.requests.withdraw(&request_id),
                Err(error) => self.bad_frame(line, error),
            },
        }
    }

    fn is_for_inbox(&self, kind: Kind) -> bool {
        match kind {
            Kind::Message => true,
            Kind::Request | Kind::Withdrawal => self.questions == Questions::Inbox,
            Kind::Response | Kind::KeepAlive => false,
        }
    }

    /// Puts the messages of a chunk into the inbox, with one lock and one wake-up.
    fn deliver(&mut self) -> Room {
        match self.messages.is_over() {
            true => Room::Some,
            false => self.delivery.push(&mut self.messages),
        }
    }

    fn start(&mut self, request: Request) {
        let Some(answering) = self.requests.begin(&request.id) else { return };
        let service = self.service.clone();
        self.handlers.spawn(async move {
            let outcome = service.request(request, answering.cancel()).await;
            answering.answer(outcome).await;
        });
    }

    fn answer(&self, response: Response<'_>) {
        let (id, outcome) = response.into_outcome();
        if let Err(stray) = self.shared.pending.answer(&id, outcome) {
            self.service.stray_answer(&id, stray);
        }
    }

    fn bad_frame(&self, line: Line<Cow<'_, str>>, error: serde_json::Error) {
        self.service.fault(Fault::Control { line: line.map(Cow::into_owned), error });
    }
}

/// Why reading is over.
#[derive(Debug, Clone, Copy)]
enum End {
    OfInput,
    Closed,
}

fn request_id(line: &str) -> Option<RequestId> {
    let id = Head::read(line).ok()?.request_id?;
    Some(RequestId(id.into_owned()))
}

/// A panic is answered where it happens; here it is only written down.
fn reap(done: Result<(), JoinError>) {
    if let Err(error) = done {
        tracing::error!(%error, "a request handler failed");
    }
}

/// The writing of the outbox, which goes on while other things are done and is never
/// waited for: only speakers wait for it.
struct Writer<'a, W> {
    write: Pin<&'a mut W>,
    written: Option<io::Result<()>>,
    shared: &'a Shared,
}

impl<W: Future<Output = io::Result<()>>> Writer<'_, W> {
    async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                written = &mut self.write, if self.written.is_none() => {
                    if written.is_err() {
                        // Nobody hears us any more, so nobody will answer.
                        self.shared.outbox.close();
                        self.shared.pending.close();
                    }
                    self.written = Some(written);
                }
                done = &mut work => return done,
            }
        }
    }

    async fn finish(self, limit: Duration) -> Result<(), SessionError> {
        let written = match self.written {
            Some(written) => written,
            None => {
                time::timeout(limit, self.write).await.map_err(|_| SessionError::NotTaken(limit))?
            }
        };
        match written {
            // The other end has gone, which is how sessions end.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(SessionError::Write),
        }
    }
}
