//! Lines over one connection, both ways, until it ends.

use std::{ops::ControlFlow, time::Duration};

use bowline_peer::Arrival;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    sync::mpsc,
    time::{self, MissedTickBehavior},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Bytes, Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::{LinkState, ResumableLink, receive_state::Disposition};
use crate::{
    framing::Framing,
    socket::{ConnectionLost, KeepAlive, MonitoredStream, Socket},
};

/// How long the closing handshake may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Messages that the other end may still have in flight then. Bounded, because the pongs to pings
/// among them may never be read.
const LAST_MESSAGES: usize = 4096;

/// Why a connection ended.
#[derive(Debug)]
pub enum Disconnect {
    /// The session sends no more, the other end has acknowledged all, and we closed the connection.
    Done,
    /// The other end closed the connection in order, and the session with it.
    Closed,
    /// The connection was lost; a reconnect may follow.
    Lost(ConnectionLost),
}

impl ResumableLink {
    /// Carries lines over a connection, both ways, until it ends.
    ///
    /// Cancel safety: dropping the future drops the connection and loses no line.
    pub async fn carry(&mut self, socket: Socket, keep_alive: KeepAlive) -> Disconnect {
        let Socket { stream, activity, last_received } = socket;
        self.state.lock().connected(last_received.as_deref());
        self.state.pongs.reset();
        let (sink, mut stream) = stream.split();
        let mut writing = Writing {
            state: &self.state,
            outgoing: &mut self.outgoing,
            output_ended: &mut self.output_ended,
            sink,
            pinged: 0,
        };
        let mut reading =
            Reading { state: &self.state, incoming: self.incoming.as_ref(), stream: &mut stream };
        let over = tokio::select! {
            biased;
            over = reading.read() => over,
            written = writing.write(keep_alive.ping) => match written {
                Ok(()) => {
                    // What is still in flight has no receiver any more.
                    drain(&mut stream).await;
                    return Disconnect::Done;
                }
                Err(lost) => Err(lost),
            },
            () = activity.silent_for(keep_alive.silence) => {
                Err(ConnectionLost::Silent(keep_alive.silence))
            }
        };
        match over {
            Ok(code) => {
                // Our close frame is sent while we wait for the end.
                drain(&mut stream).await;
                match code {
                    Some(CloseCode::Normal) => Disconnect::Closed,
                    code => Disconnect::Lost(ConnectionLost::Closed(code.map(Into::into))),
                }
            }
            Err(lost) => Disconnect::Lost(lost),
        }
    }
}

/// Reads and discards until the connection has ended, within limits.
async fn drain(stream: &mut SplitStream<WebSocketStream<MonitoredStream>>) {
    let end = async {
        for _ in 0..LAST_MESSAGES {
            if !matches!(stream.next().await, Some(Ok(_))) {
                return;
            }
        }
    };
    time::timeout(CLOSE_TIMEOUT, end).await.ok();
}

/// The writing direction.
struct Writing<'a> {
    state: &'a LinkState,
    outgoing: &'a mut mpsc::Receiver<String>,
    output_ended: &'a mut bool,
    sink: SplitSink<WebSocketStream<MonitoredStream>, Message>,
    /// The line number that the last ping carried.
    pinged: u64,
}

impl Writing<'_> {
    /// Writes until all is sent and acknowledged, and closes the connection.
    async fn write(&mut self, ping: Duration) -> Result<(), ConnectionLost> {
        let mut pings = time::interval(ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.reset();
        loop {
            self.write_all().await?;
            if *self.output_ended && self.state.lock().sent.is_delivered() {
                let reason = CloseFrame { code: CloseCode::Normal, reason: "".into() };
                return Ok(self.sink.send(Message::Close(Some(reason))).await?);
            }
            let has_capacity = self.state.lock().sent.has_capacity();
            tokio::select! {
                line = self.outgoing.recv(), if has_capacity && !*self.output_ended => self.take(line).await?,
                () = self.state.wake.notified() => {}
                _ = pings.tick() => self.ping().await?,
            }
        }
    }

    /// Takes a line of the session, and those that are queued after it.
    async fn take(&mut self, line: Option<String>) -> Result<(), ConnectionLost> {
        let Some(mut line) = line else {
            *self.output_ended = true;
            return Ok(());
        };
        loop {
            self.state.lock().sent.push(line);
            // Written before the next line is taken, so that the buffer drops no unwritten line.
            self.feed_all().await?;
            if !self.state.lock().sent.has_capacity() {
                return Ok(());
            }
            let Ok(next) = self.outgoing.try_recv() else { return Ok(()) };
            line = next;
        }
    }

    /// Writes what is buffered, and asks for an acknowledgement.
    async fn write_all(&mut self) -> Result<(), ConnectionLost> {
        self.feed_all().await?;
        let (written, acknowledged) = {
            let sent = &self.state.lock().sent;
            (sent.written(), sent.acknowledged())
        };
        // One such ping at a time: its pong triggers the next.
        if written > acknowledged && acknowledged >= self.pinged {
            self.ping().await?;
        }
        self.flush().await
    }

    /// Flushes the connection, including its pongs.
    async fn flush(&mut self) -> Result<(), ConnectionLost> {
        let unwritten = self.state.pongs.unwritten();
        self.sink.flush().await?;
        self.state.pongs.written(unwritten);
        Ok(())
    }

    /// Feeds unwritten lines to the connection.
    async fn feed_all(&mut self) -> Result<(), ConnectionLost> {
        loop {
            let next = self.state.lock().sent.take_next();
            let Some(text) = next else { return Ok(()) };
            self.sink.feed(Message::Text(text)).await?;
        }
    }

    async fn ping(&mut self) -> Result<(), ConnectionLost> {
        self.pinged = self.state.lock().sent.written();
        let number = Bytes::copy_from_slice(&self.pinged.to_be_bytes());
        self.sink.feed(Message::Ping(number)).await?;
        self.flush().await
    }
}

/// The reading direction.
struct Reading<'a> {
    state: &'a LinkState,
    incoming: Option<&'a mpsc::Sender<Arrival>>,
    stream: &'a mut SplitStream<WebSocketStream<MonitoredStream>>,
}

impl Reading<'_> {
    /// Reads until the other end closes; returns its close code.
    async fn read(&mut self) -> Result<Option<CloseCode>, ConnectionLost> {
        let mut framing = Framing::default();
        while let Some(message) = self.stream.next().await {
            if let ControlFlow::Break(code) = self.take(&mut framing, message?).await {
                return Ok(code);
            }
        }
        Err(ConnectionLost::Closed(None))
    }

    async fn take(
        &self,
        framing: &mut Framing,
        message: Message,
    ) -> ControlFlow<Option<CloseCode>> {
        match message {
            Message::Text(text) => self.receive_all(framing.lines(text.as_bytes())).await,
            Message::Binary(bytes) => self.receive_all(framing.lines(&bytes)).await,
            Message::Pong(number) => {
                // An unsolicited pong has another form.
                if let Ok(number) = <[u8; 8]>::try_from(&number[..]) {
                    self.state.lock().sent.acknowledge(u64::from_be_bytes(number));
                    self.state.wake.notify_one();
                }
            }
            Message::Close(reason) => return ControlFlow::Break(reason.map(|it| it.code)),
            Message::Ping(_) => {
                if self.state.pongs.ping_received() {
                    self.state.wake.notify_one();
                    self.state.pongs.wait_for_capacity().await;
                }
            }
            Message::Frame(_) => {}
        }
        ControlFlow::Continue(())
    }

    async fn receive_all(&self, lines: Vec<Arrival>) {
        for line in lines {
            // Reserved before the line is recorded as received: if this is dropped here, it comes again.
            let Some(incoming) = self.incoming else { return };
            let Ok(slot) = incoming.reserve().await else { return };
            let disposition = match &line {
                Ok(line) => self.state.lock().receive(&line.text),
                Err(_) => Disposition::Deliver,
            };
            match disposition {
                Disposition::Deliver => slot.send(line),
                // There may be a response to repeat.
                Disposition::Drop => self.state.wake.notify_one(),
            }
        }
    }
}
