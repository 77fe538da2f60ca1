//! The session loop: reads the link, routes lines, writes the outbox, and shuts down in order.

use std::{
    borrow::Cow,
    io,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use bowline_protocol::{Head, Line, MAX_LINE_BYTES, RequestId};
use tokio::time;
use tokio_util::sync::CancellationToken;

use crate::{
    batch::Batch,
    dispatch::Dispatcher,
    frame::{Cancellation, IncomingResponse, Kind, Request},
    inbox::{Delivery, Inbox, Overflow, Room, inbox},
    incoming::IncomingRequests,
    link::{Arrival, Input, Link, Source},
    outbox::Outbox,
    outgoing::OutgoingRequests,
    peer::{Peer, PeerState},
    service::{Fault, Service},
};

/// Default time limit of a request, where the protocol names no other.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(60);

/// How long a session that ends waits for its own responses, and for the other end to read them.
pub const DEFAULT_DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of unread messages that are held in memory: some thousand ordinary ones.
pub const DEFAULT_INBOX_LIMIT: usize = 8 * 1024 * 1024;

/// Concurrent requests of the other end. Far above what a correct end has in flight, and low enough
/// that a runaway one does not exhaust the machine.
pub const DEFAULT_REQUEST_LIMIT: usize = 16 * 1024;

/// Limits of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Longest line that is read; a longer one is a [`Fault`]. Links that bring whole
    /// lines have their own limit.
    pub line_limit: usize,
    /// How long to wait for a response; `None` for as long as the session lives.
    pub time_limit: Option<Duration>,
    /// How long the shutdown may take, after the end of input and the return of
    /// [`Service::end_of_input`].
    pub drain_limit: Duration,
    /// Bytes of unread messages that are held in memory.
    pub inbox_limit: usize,
    /// What happens to unread messages beyond that.
    pub overflow: Overflow,
    /// Concurrent requests of the other end; more are refused.
    pub request_limit: usize,
    /// Where the other end's requests go.
    pub request_routing: RequestRouting,
}

/// Where the requests of the other end go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestRouting {
    /// To [`Service::request`], each in a task of its own and ahead of unread messages.
    #[default]
    Service,
    /// Into the [`Inbox`], with their cancellations and in order with the messages.
    ///
    /// For an end to which it matters whether a request came before or after a message. The
    /// reader of the inbox hands each request, malformed ones too, to a
    /// [`Dispatcher`](crate::Dispatcher), which sends the responses: [`Peer::dispatcher`].
    Inbox,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            line_limit: MAX_LINE_BYTES,
            time_limit: Some(DEFAULT_TIME_LIMIT),
            drain_limit: DEFAULT_DRAIN_LIMIT,
            inbox_limit: DEFAULT_INBOX_LIMIT,
            overflow: Overflow::default(),
            request_limit: DEFAULT_REQUEST_LIMIT,
            request_routing: RequestRouting::default(),
        }
    }
}

/// Why a session failed. A closed pipe is not a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The link could not be read.
    #[error("reading: {0}")]
    Read(#[source] io::Error),
    /// The link could not be written to.
    #[error("writing: {0}")]
    Write(#[source] io::Error),
    /// The other end did not read our last lines in time.
    #[error("the other end did not read the last lines within {0:?}")]
    NotTaken(Duration),
    /// Unread messages were put on disk and could not be read back.
    #[error("unread messages are lost: {0}")]
    Lost(#[source] io::Error),
}

/// A session; it makes progress while it is polled.
pub type SessionFuture = Pin<Box<dyn Future<Output = Result<(), SessionError>> + Send>>;

/// Connects `service` to the other end of `link`.
///
/// The session lives while the returned future is polled. It ends when
///
/// - input has ended, [`Service::end_of_input`] has returned and the other end's requests have
///   their responses;
/// - or [`Peer::close`] is called and the other end's requests have their responses;
/// - or the future is dropped.
///
/// However it ends, every caller that waits for a response or for capacity fails at once.
pub fn connect<S: Service>(
    link: Link,
    service: S,
    options: Options,
) -> (Peer, Inbox, SessionFuture) {
    connect_with(link, |_| service, options)
}

/// [`connect`]s a service that uses the peer itself, and so is made from it.
pub fn connect_with<S: Service>(
    link: Link,
    service: impl FnOnce(Peer) -> S,
    options: Options,
) -> (Peer, Inbox, SessionFuture) {
    let Link { mut source, sink } = link;
    source.limit_lines(options.line_limit);
    let outbox = Arc::new(Outbox::new());
    let incoming = Arc::new(IncomingRequests::new(outbox.clone()));
    let shared = Arc::new(PeerState {
        outgoing: OutgoingRequests::new(),
        incoming: incoming.clone(),
        outbox: outbox.clone(),
        closing: CancellationToken::new(),
    });
    let peer = Peer::new(shared.clone(), options.time_limit);
    let (delivery, inbox) = inbox(options.inbox_limit, options.overflow);
    let session = Session {
        service: Arc::new(service(peer.clone())),
        dispatcher: Dispatcher::new(incoming, options.request_limit),
        shared,
        messages: Batch::default(),
        delivery,
        drain_limit: options.drain_limit,
        request_routing: options.request_routing,
    };
    let run = async move {
        let written = outbox.write_to(sink);
        session.run(source, written).await
    };
    (peer, inbox, Box::pin(run))
}

struct Session<S> {
    service: Arc<S>,
    shared: Arc<PeerState>,
    dispatcher: Dispatcher,
    /// Messages of the chunk being dispatched; they go into the inbox together.
    messages: Batch,
    delivery: Delivery,
    drain_limit: Duration,
    request_routing: RequestRouting,
}

/// However the session ends, it ends for every caller.
impl<S> Drop for Session<S> {
    fn drop(&mut self) {
        self.shared.outgoing.close();
        self.shared.outbox.close();
    }
}

impl<S: Service> Session<S> {
    /// Reads until the end of input or the close, then shuts down.
    async fn run(
        mut self,
        source: Source,
        write: impl Future<Output = io::Result<()>>,
    ) -> Result<(), SessionError> {
        let shared = self.shared.clone();
        let mut writer = Writer { write: pin!(write), written: None, shared: &shared };
        let read = writer.during(self.read(source)).await;
        shared.outgoing.close();
        let lost = self.delivery.close();
        writer.during(self.finish(&read)).await;
        shared.incoming.close();
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
                () = self.dispatcher.join_next() => {}
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

    /// Lets the service finish, then the handlers of requests, within limits.
    async fn finish(&mut self, read: &io::Result<End>) {
        let closing = self.shared.closing.clone();
        if !matches!(read, Ok(End::Closed)) {
            tokio::select! {
                () = self.service.end_of_input() => {}
                () = closing.cancelled() => {}
            }
        }
        // Requests whose handlers are late are refused afterwards.
        time::timeout(self.drain_limit, self.dispatcher.join_all()).await.ok();
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
        match kind {
            Kind::Message | Kind::KeepAlive => {}
            Kind::Request => match serde_json::from_str(&line.text) {
                Ok(request) => self.start(request),
                Err(error) => {
                    if let Some(id) = request_id(&line.text) {
                        self.shared
                            .incoming
                            .refuse(Some(id), format!("malformed request: {error}"));
                    }
                    self.bad_frame(line, error);
                }
            },
            Kind::Response => match serde_json::from_str::<IncomingResponse>(&line.text) {
                Ok(response) => self.settle(response),
                Err(error) => self.bad_frame(line, error),
            },
            Kind::Cancellation => match serde_json::from_str::<Cancellation>(&line.text) {
                Ok(Cancellation { request_id }) => self.shared.incoming.cancel(&request_id),
                Err(error) => self.bad_frame(line, error),
            },
        }
    }

    fn is_for_inbox(&self, kind: Kind) -> bool {
        match kind {
            Kind::Message => true,
            Kind::Request | Kind::Cancellation => self.request_routing == RequestRouting::Inbox,
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
        let service = self.service.clone();
        self.dispatcher.spawn(request.id.clone(), |cancel| async move {
            service.request(request, cancel).await.into()
        });
    }

    fn settle(&self, response: IncomingResponse<'_>) {
        let (id, outcome) = response.into_outcome();
        if let Err(stray) = self.shared.outgoing.settle(&id, outcome) {
            self.service.stray_response(&id, stray);
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

/// The writing of the outbox, concurrent with everything else: only senders wait for it.
struct Writer<'a, W> {
    write: Pin<&'a mut W>,
    written: Option<io::Result<()>>,
    shared: &'a PeerState,
}

impl<W: Future<Output = io::Result<()>>> Writer<'_, W> {
    async fn during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                written = &mut self.write, if self.written.is_none() => {
                    if written.is_err() {
                        // The other end reads no more, so it will not respond.
                        self.shared.outbox.close();
                        self.shared.outgoing.close();
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
            // The other end is gone, which is how sessions end.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(SessionError::Write),
        }
    }
}
