//! One connection, whatever carries it: frames in each direction.
//!
//! On a QUIC stream each frame follows its length; on a WebSocket each is one binary message.

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, SplitStream},
};
use lore_sync::{FrameBuffer, MAX_FRAME, length_prefix};
use web_transport_quinn as wt;

/// The most that one read takes from a QUIC stream.
const READ_CHUNK: usize = 64 * 1024;

/// How a connection came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// Raw QUIC, ALPN `lore/1`.
    Quic,
    /// WebTransport over HTTP/3.
    WebTransport,
    /// WebSocket over TCP.
    WebSocket,
}

/// A connection before its first frame.
pub(crate) struct Session {
    pub(crate) carrier: Carrier,
    pub(crate) reader: Reader,
    pub(crate) writer: Writer,
}

/// The incoming half.
pub(crate) enum Reader {
    Stream(wt::RecvStream, FrameBuffer),
    Socket(SplitStream<WebSocket>),
}

/// The outgoing half.
pub(crate) enum Writer {
    Stream(wt::SendStream, Box<wt::Session>),
    Socket(SplitSink<WebSocket, Message>),
}

/// Why no frame came.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The other side is gone.
    Gone,
    /// What arrives are not frames.
    Malformed,
}

/// The other side is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Session {
    /// Over an established QUIC connection or WebTransport session: its one bidirectional stream.
    pub(crate) async fn over_quic(carrier: Carrier, session: wt::Session) -> Result<Self, Gone> {
        let (send, receive) = session.accept_bi().await.map_err(|_| Gone)?;
        Ok(Self {
            carrier,
            reader: Reader::Stream(receive, FrameBuffer::new()),
            writer: Writer::Stream(send, Box::new(session)),
        })
    }

    pub(crate) fn over_socket(socket: WebSocket) -> Self {
        let (writer, reader) = socket.split();
        Self {
            carrier: Carrier::WebSocket,
            reader: Reader::Socket(reader),
            writer: Writer::Socket(writer),
        }
    }
}

impl Reader {
    /// The next frame; `None` at the end. Cancelling it loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ReadError> {
        match self {
            Self::Stream(stream, buffer) => loop {
                if let Some(frame) = buffer.next().map_err(|_| ReadError::Malformed)? {
                    return Ok(Some(frame));
                }
                match stream.read_chunk(READ_CHUNK, true).await {
                    Ok(Some(chunk)) => buffer.push(&chunk.bytes),
                    Ok(None) => return Ok(None),
                    Err(_) => return Err(ReadError::Gone),
                }
            },
            Self::Socket(socket) => loop {
                match socket.next().await {
                    None | Some(Ok(Message::Close(_))) => return Ok(None),
                    Some(Ok(Message::Binary(frame))) if frame.len() <= MAX_FRAME => {
                        return Ok(Some(frame));
                    }
                    // Answered by the library.
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Text(_) | Message::Binary(_))) => {
                        return Err(ReadError::Malformed);
                    }
                    Some(Err(_)) => return Err(ReadError::Gone),
                }
            },
        }
    }
}

impl Writer {
    /// Writes frames.
    pub(crate) async fn write(&mut self, frames: Vec<Bytes>) -> Result<(), Gone> {
        match self {
            Self::Stream(stream, _) => {
                let mut chunks: Vec<Bytes> = frames
                    .into_iter()
                    .flat_map(|frame| [Bytes::copy_from_slice(&length_prefix(&frame)), frame])
                    .collect();
                stream.write_all_chunks(&mut chunks).await.map_err(|_| Gone)
            }
            Self::Socket(socket) => {
                for frame in frames {
                    socket
                        .feed(Message::Binary(frame))
                        .await
                        .map_err(|_| Gone)?;
                }
                socket.flush().await.map_err(|_| Gone)
            }
        }
    }

    /// Ends the connection with a code that the other side's program can read.
    pub(crate) async fn close(mut self, code: CloseCode, reason: &str) {
        match &mut self {
            Self::Stream(stream, session) => {
                // What was written before arrives before the end of the stream. A client that
                // has read it closes; one that does not is closed by us.
                if stream.finish().is_ok() {
                    let _ = tokio::time::timeout(FAREWELL, session.closed()).await;
                }
                session.close(code as u32, reason.as_bytes());
                // WebTransport carries the code on a stream of its own, which takes a moment.
                let _ = tokio::time::timeout(FAREWELL, session.closed()).await;
            }
            Self::Socket(socket) => {
                let frame = CloseFrame {
                    // 4000–4999 are for applications (RFC 6455, 7.4.2).
                    code: 4000 + code as u16,
                    reason: reason.into(),
                };
                let _ =
                    tokio::time::timeout(FAREWELL, socket.send(Message::Close(Some(frame)))).await;
            }
        }
    }
}

/// How long a closing connection may take to deliver its last words.
const FAREWELL: std::time::Duration = std::time::Duration::from_millis(250);

/// Why the relay ended a connection: the QUIC application error code or WebTransport session
/// code; on WebSocket 4000 is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum CloseCode {
    /// The conversation was over.
    Done = 0,
    /// The relay is stopping; come back later.
    Stopping = 1,
    /// What arrived were not frames of this protocol.
    Malformed = 2,
    /// The table refused the connection; a `Refused` frame may have said why.
    Refused = 3,
    /// The connection did not keep up; reconnect and catch up from the cursor.
    Slow = 4,
    /// Nothing arrived for too long.
    Idle = 5,
    /// The relay is full, or failed.
    Unavailable = 6,
}
