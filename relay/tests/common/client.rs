//! A real sync session over each of the relay's entrances.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use lore_peer::net::{self, Incoming, Outgoing};
use lore_seal::{Audience, DeviceId, InviteSeed, Role};
use lore_sync::{
    Event, FrameBuffer, PeerSession, PeerStore as _, Stream, Timing, length_prefix,
    sim::MemoryStore,
};
use tokio_tungstenite::tungstenite::Message;
use web_transport_quinn as wt;

use super::{RelayProcess, wall_clock};

/// How a client reaches the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Quic,
    WebTransport,
    WebSocket,
}

pub const WAYS: [Way; 3] = [Way::Quic, Way::WebTransport, Way::WebSocket];

/// Long enough for a busy machine; reached only by a failure.
const PATIENCE: Duration = Duration::from_mins(1);

type Socket =
    tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

#[allow(clippy::enum_variant_names, clippy::large_enum_variant)] // the names are the protocols'
pub enum Transport {
    Quic(Incoming, Outgoing, FrameBuffer),
    WebTransport(wt::Session, wt::SendStream, wt::RecvStream, FrameBuffer),
    WebSocket(Box<Socket>),
}

impl Transport {
    pub async fn open(relay: &RelayProcess, way: Way) -> Self {
        let address = relay.address;
        match way {
            Way::Quic => {
                let base = format!("http://{address}");
                let endpoint = net::discover(&base, PATIENCE).await.unwrap();
                let (incoming, outgoing) = net::connect_to(&endpoint, PATIENCE).await.unwrap();
                Self::Quic(incoming, outgoing, FrameBuffer::new())
            }
            Way::WebTransport => {
                let json = relay.json();
                let transport = &json["webtransport"];
                let hash = transport["hashes"]["now"].as_str().unwrap();
                let hash = data_encoding::HEXLOWER.decode(hash.as_bytes()).unwrap();
                let client = wt::ClientBuilder::new()
                    .with_server_certificate_hashes(vec![hash])
                    .unwrap();
                let url: wt::proto::ConnectRequest = transport["url"]
                    .as_str()
                    .unwrap()
                    .parse::<url::Url>()
                    .unwrap()
                    .into();
                let session = client.connect(url).await.unwrap();
                let (send, receive) = session.open_bi().await.unwrap();
                Self::WebTransport(session, send, receive, FrameBuffer::new())
            }
            Way::WebSocket => {
                let (socket, _) = tokio_tungstenite::connect_async(format!("ws://{address}/ws"))
                    .await
                    .unwrap();
                Self::WebSocket(Box::new(socket))
            }
        }
    }

    /// Sends bytes as they are: on a stream without a prefix, on a socket as one message.
    pub async fn send_raw(&mut self, bytes: Bytes) -> bool {
        match self {
            Self::Quic(_, outgoing, _) => outgoing.write(bytes).await.is_ok(),
            Self::WebTransport(_, send, _, _) => send.write_chunk(bytes).await.is_ok(),
            Self::WebSocket(socket) => socket.send(Message::Binary(bytes)).await.is_ok(),
        }
    }

    pub async fn send(&mut self, frame: Bytes) -> bool {
        if !matches!(self, Self::WebSocket(_)) {
            let prefix = Bytes::copy_from_slice(&length_prefix(&frame));
            if !self.send_raw(prefix).await {
                return false;
            }
        }
        self.send_raw(frame).await
    }

    /// The next frame; `None` at the end, however it came.
    pub async fn receive(&mut self) -> Option<Bytes> {
        loop {
            let (piece, buffer) = match self {
                Self::Quic(incoming, _, buffer) => {
                    if let Some(frame) = buffer.next().unwrap() {
                        return Some(frame);
                    }
                    (incoming.read().await.ok()??, buffer)
                }
                Self::WebTransport(_, _, receive, buffer) => {
                    if let Some(frame) = buffer.next().unwrap() {
                        return Some(frame);
                    }
                    (receive.read_chunk(65_536, true).await.ok()??.bytes, buffer)
                }
                Self::WebSocket(socket) => match socket.next().await?.ok()? {
                    Message::Binary(frame) => return Some(frame),
                    Message::Close(_) => return None,
                    _ => continue,
                },
            };
            buffer.push(&piece);
        }
    }

    /// Reads to the end and returns the application's closing code.
    pub async fn closing_code(mut self) -> Option<u32> {
        if let Self::WebSocket(socket) = &mut self {
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Close(frame) = message {
                    return frame.map(|frame| u32::from(u16::from(frame.code)));
                }
            }
            return None;
        }
        while self.receive().await.is_some() {}
        match &self {
            Self::WebTransport(session, ..) => match session.closed().await {
                wt::SessionError::WebTransportError(wt::WebTransportError::Closed(code, _)) => {
                    Some(code)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A device at a table.
pub struct Device {
    pub store: MemoryStore,
    session: PeerSession,
    transport: Option<Transport>,
    pub refused: bool,
}

impl Device {
    pub fn keeper(tag: u8) -> Self {
        Self::over(MemoryStore::keeper([tag; 32], [tag + 1; 32], [tag + 2; 32]).unwrap())
    }

    pub fn joiner(keeper: &Self, tag: u8, seed: &InviteSeed) -> Self {
        let campaign = keeper.store.membership().campaign();
        let at = wall_clock();
        Self::over(MemoryStore::joiner(campaign, [tag; 32], seed.clone(), at).unwrap())
    }

    pub fn stranger(keeper: &Self, tag: u8) -> Self {
        let campaign = keeper.store.membership().campaign();
        Self::over(MemoryStore::stranger(campaign, [tag; 32]))
    }

    pub fn over(store: MemoryStore) -> Self {
        let session = session(&store);
        Self {
            store,
            session,
            transport: None,
            refused: false,
        }
    }

    pub fn invite(&mut self, tag: u8) -> InviteSeed {
        let seed = InviteSeed::from_bytes([tag; 32]);
        self.store
            .invite(&seed, Role::Player, 8, [tag; 32])
            .unwrap();
        seed
    }

    pub fn id(&self) -> DeviceId {
        self.store.secret().id()
    }

    pub fn stream(&self) -> Stream {
        Stream {
            audience: Audience::Table,
            device: self.id(),
        }
    }

    pub fn write(&mut self, text: &str) {
        let mut nonce = [0; 24];
        getrandom::fill(&mut nonce).unwrap();
        assert!(
            self.store
                .write(Audience::Table, text.as_bytes(), nonce)
                .unwrap()
        );
    }

    pub fn has(&self, text: &str) -> bool {
        self.store.texts().values().any(|t| t == text.as_bytes())
    }

    pub async fn connect(&mut self, relay: &RelayProcess, way: Way) {
        self.session = session(&self.store);
        self.session.start(wall_clock());
        self.transport = Some(Transport::open(relay, way).await);
        self.refused = false;
    }

    pub fn disconnect(&mut self) {
        self.transport = None;
    }

    pub fn into_transport(mut self) -> Transport {
        self.transport.take().unwrap()
    }

    pub fn is_open(&self) -> bool {
        self.session.is_open()
    }

    pub fn acked(&self) -> u64 {
        self.session.acked().get(self.stream())
    }

    /// Runs the session until `done`; false when the relay has ended the connection before.
    pub async fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) -> bool {
        let begun = Instant::now();
        self.session
            .on_local_change(&mut self.store, wall_clock())
            .unwrap();
        loop {
            while let Some(event) = self.session.poll_event() {
                if let Event::Refused { code, .. } = event {
                    self.refused |= code.is_final();
                }
            }
            let Some(transport) = &mut self.transport else {
                return false;
            };
            while let Some(frame) = self.session.poll_transmit() {
                if !transport.send(frame).await {
                    break;
                }
            }
            if done(self) {
                return true;
            }
            assert!(begun.elapsed() < PATIENCE, "waiting in vain for {what}");
            let transport = self.transport.as_mut().unwrap();
            match tokio::time::timeout(Duration::from_millis(200), transport.receive()).await {
                Ok(Some(frame)) => self
                    .session
                    .on_frame(&frame, &mut self.store, wall_clock())
                    .unwrap(),
                Ok(None) => self.transport = None,
                Err(_) => self.session.tick(&mut self.store, wall_clock()).unwrap(),
            }
        }
    }
}

fn session(store: &MemoryStore) -> PeerSession {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).unwrap();
    let campaign = store.membership().campaign();
    PeerSession::new(campaign, store.secret().id(), nonce, Timing::default())
}
