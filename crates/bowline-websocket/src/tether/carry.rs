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

use super::{State, Tether, hearing::Verdict};
use crate::{
    framing::Framing,
    socket::{KeepAlive, Lost, Socket, Watched},
};

/// How long the other end may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// Messages that the other end may still have on the way then. Pings among them are answered, and
/// nobody may read that.
const LAST_MESSAGES: usize = 4096;

/// Why a connection is no more.
#[derive(Debug)]
pub enum Parting {
    /// We have said all, the other end has heard it, and we hung up.
    Done,
    /// The other end hung up and wants no more.
    HungUp,
    /// It was lost; there may be another.
    Lost(Lost),
}

impl Tether {
    /// Speaks and listens over a connection until it ends.
    ///
    /// Cancel safety: dropping the future drops the connection and loses no line.
    pub async fn hold(&mut self, socket: Socket, keep_alive: KeepAlive) -> Parting {
        let Socket { stream, activity, last_heard } = socket;
        self.state.lock().connected(last_heard.as_deref());
        self.state.pongs.forget();
        let (sink, mut stream) = stream.split();
        let mut writing = Writing {
            state: &self.state,
            outgoing: &mut self.outgoing,
            said_all: &mut self.said_all,
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
                    // Whatever is still said to us, nobody is left to hear it.
                    part(&mut stream).await;
                    return Parting::Done;
                }
                Err(lost) => Err(lost),
            },
            () = activity.silent_for(keep_alive.silence) => {
                Err(Lost::Silent(keep_alive.silence))
            }
        };
        match over {
            Ok(code) => {
                // The answer to a goodbye is sent while we wait for the end.
                part(&mut stream).await;
                match code {
                    Some(CloseCode::Normal) => Parting::HungUp,
                    code => Parting::Lost(Lost::Closed(code.map(Into::into))),
                }
            }
            Err(lost) => Parting::Lost(lost),
        }
    }
}

/// Reads on until the connection has ended, within limits.
async fn part(stream: &mut SplitStream<WebSocketStream<Watched>>) {
    let end = async {
        for _ in 0..LAST_MESSAGES {
            if !matches!(stream.next().await, Some(Ok(_))) {
                return;
            }
        }
    };
    time::timeout(GOODBYE, end).await.ok();
}

/// What we say.
struct Writing<'a> {
    state: &'a State,
    outgoing: &'a mut mpsc::Receiver<String>,
    said_all: &'a mut bool,
    sink: SplitSink<WebSocketStream<Watched>, Message>,
    /// The number that the last ping bore.
    pinged: u64,
}

impl Writing<'_> {
    /// Writes until all is said and heard, and hangs up.
    async fn write(&mut self, ping: Duration) -> Result<(), Lost> {
        let mut pings = time::interval(ping);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.reset();
        loop {
            self.write_all().await?;
            if *self.said_all && self.state.lock().said.is_delivered() {
                let reason = CloseFrame { code: CloseCode::Normal, reason: "".into() };
                return Ok(self.sink.send(Message::Close(Some(reason))).await?);
            }
            let has_room = self.state.lock().said.has_room();
            tokio::select! {
                line = self.outgoing.recv(), if has_room && !*self.said_all => self.take(line).await?,
                () = self.state.wake.notified() => {}
                _ = pings.tick() => self.ping().await?,
            }
        }
    }

    /// Takes what the session says, and what more it has said already.
    async fn take(&mut self, line: Option<String>) -> Result<(), Lost> {
        let Some(mut line) = line else {
            *self.said_all = true;
            return Ok(());
        };
        loop {
            self.state.lock().said.push(line);
            // Before the next line comes: what makes room for it must have been written.
            self.feed_all().await?;
            if !self.state.lock().said.has_room() {
                return Ok(());
            }
            let Ok(next) = self.outgoing.try_recv() else { return Ok(()) };
            line = next;
        }
    }

    /// Writes what there is, and asks whether it arrived.
    async fn write_all(&mut self) -> Result<(), Lost> {
        self.feed_all().await?;
        let (written, acknowledged) = {
            let said = &self.state.lock().said;
            (said.written(), said.acknowledged())
        };
        // One such question at a time: the answer to it asks the next.
        if written > acknowledged && acknowledged >= self.pinged {
            self.ping().await?;
        }
        self.flush().await
    }

    /// Writes what the connection has been handed, pongs among it.
    async fn flush(&mut self) -> Result<(), Lost> {
        let owed = self.state.pongs.owed();
        self.sink.flush().await?;
        self.state.pongs.written(owed);
        Ok(())
    }

    /// Hands the connection what is not written yet.
    async fn feed_all(&mut self) -> Result<(), Lost> {
        loop {
            let next = self.state.lock().said.take_next();
            let Some(text) = next else { return Ok(()) };
            self.sink.feed(Message::Text(text)).await?;
        }
    }

    async fn ping(&mut self) -> Result<(), Lost> {
        self.pinged = self.state.lock().said.written();
        let number = Bytes::copy_from_slice(&self.pinged.to_be_bytes());
        self.sink.feed(Message::Ping(number)).await?;
        self.flush().await
    }
}

/// What we hear.
struct Reading<'a> {
    state: &'a State,
    incoming: Option<&'a mpsc::Sender<Arrival>>,
    stream: &'a mut SplitStream<WebSocketStream<Watched>>,
}

impl Reading<'_> {
    /// Reads until the other end hangs up; gives the code with which it did.
    async fn read(&mut self) -> Result<Option<CloseCode>, Lost> {
        let mut framing = Framing::default();
        while let Some(message) = self.stream.next().await {
            if let ControlFlow::Break(code) = self.take(&mut framing, message?).await {
                return Ok(code);
            }
        }
        Err(Lost::Closed(None))
    }

    async fn take(
        &self,
        framing: &mut Framing,
        message: Message,
    ) -> ControlFlow<Option<CloseCode>> {
        match message {
            Message::Text(text) => self.hear_all(framing.lines(text.as_bytes())).await,
            Message::Binary(bytes) => self.hear_all(framing.lines(&bytes)).await,
            Message::Pong(number) => {
                // A pong that answers none of our pings has another form.
                if let Ok(number) = <[u8; 8]>::try_from(&number[..]) {
                    self.state.lock().said.acknowledge(u64::from_be_bytes(number));
                    self.state.wake.notify_one();
                }
            }
            Message::Close(reason) => return ControlFlow::Break(reason.map(|it| it.code)),
            Message::Ping(_) => {
                if self.state.pongs.owe() {
                    self.state.wake.notify_one();
                    self.state.pongs.wait_for_room().await;
                }
            }
            Message::Frame(_) => {}
        }
        ControlFlow::Continue(())
    }

    async fn hear_all(&self, lines: Vec<Arrival>) {
        for line in lines {
            // There is room before the line counts as heard: if we are dropped here, it comes again.
            let Some(incoming) = self.incoming else { return };
            let Ok(room) = incoming.reserve().await else { return };
            let verdict = match &line {
                Ok(line) => self.state.lock().hear(&line.text),
                Err(_) => Verdict::Take,
            };
            match verdict {
                Verdict::Take => room.send(line),
                // There may be something to say again.
                Verdict::Pass => self.state.wake.notify_one(),
            }
        }
    }
}
