//! The ways in: QUIC and WebTransport over UDP, WebSocket and the web app over TCP.

mod files;
mod headers;
pub(crate) mod quic;
mod session;
pub(crate) mod web;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use lore_sync::{ConnId, Frame};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

pub(crate) use files::Files;
pub use quic::QuicError;
pub use session::CloseCode;
use session::{ReadError, Reader, Session, Writer};

use crate::{
    Limits,
    hub::{Hub, Seat},
    outbox::{Next, Outbox, Outgoing, outbox},
    store::CampaignKey,
    table::Input,
};

/// From the connection to its first frame.
const FIRST_FRAME: Duration = Duration::from_secs(10);
/// A peer sends at least a ping in this time.
const SILENCE: Duration = Duration::from_secs(90);
/// A single batch that takes longer to write belongs to a connection that does not keep up.
const WRITE: Duration = Duration::from_secs(30);

/// Where connections of every kind come together.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    hub: Hub,
    places: Arc<Semaphore>,
    limits: Limits,
    stopping: watch::Receiver<bool>,
}

/// One of the connections that the relay takes at a time.
pub(crate) struct Place(#[allow(dead_code)] OwnedSemaphorePermit);

impl Entrance {
    pub(crate) fn new(hub: Hub, limits: Limits, stopping: watch::Receiver<bool>) -> Self {
        Self {
            hub,
            places: Arc::new(Semaphore::new(limits.connections)),
            limits,
            stopping,
        }
    }

    /// A place for one more connection, if there is one.
    pub(crate) fn place(&self) -> Option<Place> {
        if self.is_stopping() {
            return None;
        }
        self.places.clone().try_acquire_owned().ok().map(Place)
    }

    /// Returns when no connection is left.
    pub(crate) async fn emptied(&self) {
        let all = u32::try_from(self.limits.connections).unwrap_or(u32::MAX);
        // It fails only when the semaphore is closed, which nobody does.
        let _ = self.places.acquire_many(all).await;
    }

    pub(crate) fn is_crowded(&self) -> bool {
        self.places.available_permits() < self.limits.connections / 2
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Serves one connection to its end.
    pub(crate) async fn serve(&self, session: Session, place: Place) {
        let Session {
            carrier,
            mut reader,
            writer,
        } = session;
        tracing::debug!(?carrier, "connected");
        let (code, reason) = match self.greet(&mut reader).await {
            Ok((campaign, first)) => {
                let (out, outgoing) = outbox();
                if let Some(seat) = self.hub.seat(campaign, &out).await {
                    self.converse(seat, first, &mut reader, out, writer, outgoing)
                        .await
                } else {
                    let end = (CloseCode::Unavailable, "the table is overrun");
                    writer.close(end.0, end.1).await;
                    end
                }
            }
            Err((code, reason)) => {
                writer.close(code, reason).await;
                (code, reason)
            }
        };
        // The reader is kept until the writer is done: a stream that is dropped with unread bytes
        // would be answered with an error instead of the closing code.
        drop((reader, place));
        tracing::debug!(?carrier, ?code, reason, "disconnected");
    }

    /// Waits for the first frame, which names the campaign.
    async fn greet(&self, reader: &mut Reader) -> Result<(CampaignKey, Bytes), End> {
        let mut stopping = self.stopping.clone();
        let first = tokio::select! {
            first = tokio::time::timeout(FIRST_FRAME, reader.next()) => first,
            _ = stopping.wait_for(|stopping| *stopping) => {
                return Err((CloseCode::Stopping, "the relay is stopping"));
            }
        };
        let first = match first {
            Ok(Ok(Some(frame))) => frame,
            Ok(Ok(None)) => return Err((CloseCode::Done, "")),
            Ok(Err(error)) => return Err(error.farewell()),
            Err(_) => return Err((CloseCode::Idle, "no greeting")),
        };
        match Frame::decode(&first) {
            Ok(Frame::Hello { campaign, .. }) => Ok((campaign.to_bytes(), first)),
            _ => Err((CloseCode::Malformed, "not a greeting")),
        }
    }

    /// Hands every frame to the table. The table's inbox is bounded, so a table that has much to
    /// do reads no faster than it works.
    async fn converse(
        &self,
        seat: Seat,
        first: Bytes,
        reader: &mut Reader,
        out: Outbox,
        writer: Writer,
        outgoing: Outgoing,
    ) -> End {
        let connection = seat.connection;
        let mut writing = tokio::spawn(write(writer, outgoing, connection, seat.table.clone()));
        let mut written = false;
        let mut frame = first;
        let end = loop {
            let input = Input::Frame { connection, frame };
            if seat.table.send(input).await.is_err() {
                break (CloseCode::Unavailable, "the table has closed");
            }
            frame = tokio::select! {
                next = tokio::time::timeout(SILENCE, reader.next()) => match next {
                    Ok(Ok(Some(frame))) => frame,
                    Ok(Ok(None)) => break (CloseCode::Done, ""),
                    Ok(Err(error)) => break error.farewell(),
                    Err(_) => break (CloseCode::Idle, "nothing arrived for too long"),
                },
                _ = &mut writing => {
                    written = true;
                    break (CloseCode::Done, "closed by the table");
                }
            };
        };
        let _ = seat.table.send(Input::Disconnected { connection }).await;
        out.close(end.0, end.1);
        drop((out, seat));
        if !written {
            let _ = writing.await;
        }
        end
    }
}

/// Why a connection ended.
type End = (CloseCode, &'static str);

impl ReadError {
    fn farewell(&self) -> End {
        match self {
            Self::Gone => (CloseCode::Done, ""),
            Self::Malformed => (CloseCode::Malformed, "not a frame"),
        }
    }
}

/// Writes what the table sends, and tells it what has left.
async fn write(
    mut writer: Writer,
    mut outgoing: Outgoing,
    connection: ConnId,
    table: mpsc::Sender<Input>,
) {
    while let Some(next) = outgoing.next().await {
        let (frames, close) = match next {
            Next::Write(frames) => (frames, None),
            Next::Close(frames, code, reason) => (frames, Some((code, reason))),
        };
        let bytes = frames.iter().map(Bytes::len).sum();
        let written = tokio::time::timeout(WRITE, writer.write(frames)).await;
        match (written, close) {
            (Ok(Ok(())), None) => {
                // When the table has ended, there is no one to tell.
                let _ = table.send(Input::Flushed { connection, bytes }).await;
            }
            (Ok(Ok(())), Some((code, reason))) => return writer.close(code, &reason).await,
            (Ok(Err(_)), _) => return,
            (Err(_), _) => return writer.close(CloseCode::Slow, "too slow").await,
        }
    }
}
