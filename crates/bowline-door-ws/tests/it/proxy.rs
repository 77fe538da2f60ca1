//! A network that misbehaves: between an agent and its host, with a seed to repeat it by.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// After so many faults the network is good, so that every run comes to an end.
const FAULTS: u32 = 12;

/// A proxy in front of a host.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    luck: Arc<Luck>,
    _running: AbortOnDropHandle<()>,
}

impl Proxy {
    pub(crate) async fn before(host: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let luck = Arc::new(Luck(Mutex::new(Dice { state: seed, faults: 0 })));
        let running = AbortOnDropHandle::new(tokio::spawn(run(listener, host, luck.clone())));
        Self { address, luck, _running: running }
    }

    /// How often something went wrong.
    pub(crate) fn faults(&self) -> u32 {
        self.luck.0.lock().unwrap().faults
    }
}

async fn run(listener: TcpListener, host: SocketAddr, luck: Arc<Luck>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            Ok((agent, _)) = listener.accept() => {
                connections.spawn(connect(agent, host, luck.clone()));
            }
        }
    }
}

async fn connect(agent: TcpStream, host: SocketAddr, luck: Arc<Luck>) {
    let Ok(host) = TcpStream::connect(host).await else { return };
    agent.set_nodelay(true).unwrap();
    host.set_nodelay(true).unwrap();
    let (from_agent, to_agent) = agent.into_split();
    let (from_host, to_host) = host.into_split();
    let frozen = CancellationToken::new();
    let there =
        Direction { from: from_agent, to: to_host, luck: luck.clone(), frozen: frozen.clone() };
    let back = Direction { from: from_host, to: to_agent, luck, frozen };
    // When one direction ends, so does the connection.
    tokio::select! {
        () = there.carry() => {}
        () = back.carry() => {}
    }
}

/// What happens to a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Pass,
    /// It comes twice.
    Twice,
    /// It comes late.
    Late,
    /// The connection breaks before it.
    Break,
    /// The connection breaks in the middle of it.
    Cut,
    /// Neither side hears of the other any more, and neither is told.
    Freeze,
}

/// What will happen, in an order that the seed decides.
struct Luck(Mutex<Dice>);

struct Dice {
    state: u64,
    faults: u32,
}

impl Dice {
    fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Luck {
    fn fate(&self) -> Fate {
        let mut dice = self.0.lock().unwrap();
        let fate = match dice.roll() % 100 {
            0..=3 => Fate::Break,
            4..=7 => Fate::Cut,
            8 => Fate::Freeze,
            9..=16 => Fate::Twice,
            17..=24 => Fate::Late,
            _ => Fate::Pass,
        };
        if fate == Fate::Pass || dice.faults == FAULTS {
            return Fate::Pass;
        }
        dice.faults += 1;
        fate
    }
}

/// One direction of a connection.
struct Direction<R, W> {
    from: R,
    to: W,
    luck: Arc<Luck>,
    frozen: CancellationToken,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Direction<R, W> {
    async fn carry(mut self) {
        let mut buffer = Vec::new();
        let mut shaken_hands = false;
        loop {
            let length = match shaken_hands {
                true => frame_length(&buffer),
                false => head_length(&buffer),
            };
            let Some(length) = length.filter(|length| *length <= buffer.len()) else {
                match self.from.read_buf(&mut buffer).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => continue,
                }
            };
            if self.frozen.is_cancelled() {
                // The side that gives up first closes its end, which is noticed above.
                buffer.drain(..length);
                continue;
            }
            let piece: Vec<u8> = buffer.drain(..length).collect();
            let is_text = shaken_hands && piece[0] & 0x0f == 1;
            shaken_hands = true;
            let sent = match self.luck.fate() {
                Fate::Pass => self.to.write_all(&piece).await,
                Fate::Twice if is_text => self.to.write_all(&piece.repeat(2)).await,
                Fate::Twice => self.to.write_all(&piece).await,
                Fate::Late => {
                    time::sleep(Duration::from_millis(3)).await;
                    self.to.write_all(&piece).await
                }
                Fate::Break => return,
                Fate::Cut => {
                    self.to.write_all(&piece[..piece.len() / 2]).await.ok();
                    return;
                }
                Fate::Freeze => {
                    self.frozen.cancel();
                    Ok(())
                }
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// How long the HTTP head is that the buffer begins with.
fn head_length(buffer: &[u8]) -> Option<usize> {
    buffer.windows(4).position(|four| four == b"\r\n\r\n").map(|place| place + 4)
}

/// How long the frame is that the buffer begins with.
fn frame_length(buffer: &[u8]) -> Option<usize> {
    let second = *buffer.get(1)?;
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let (head, body) = match second & 0x7f {
        126 => (4, u64::from(u16::from_be_bytes(*buffer.get(2..)?.first_chunk()?))),
        127 => (10, u64::from_be_bytes(*buffer.get(2..)?.first_chunk()?)),
        length => (2, u64::from(length)),
    };
    Some(head + mask + usize::try_from(body).unwrap())
}
