//! The ways in: QUIC and WebTransport over UDP, WebSocket and the web app over TCP.

mod files;
mod headers;
pub(crate) mod quic;
mod session;
pub(crate) mod web;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

pub(crate) use files::Files;
pub use quic::QuicError;
pub use session::CloseCode;
use session::{Carrier, Reader, Session, Writer};

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
#[derive(Clone)]
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
        let (out, outgoing) = outbox();
        let writing = tokio::spawn(write(writer, outgoing));
        tracing::debug!(?carrier, "connected");
        let (code, reason) = self.read(carrier, &mut reader, &out).await;
        out.close(code, reason);
        drop(out);
        // The reader is kept until the writer is done: a stream that is dropped with unread bytes
        // would be answered with an error instead of the closing code.
        let _ = writing.await;
        drop((reader, place));
        tracing::debug!(?carrier, ?code, reason, "disconnected");
    }

    async fn read(
        &self,
        carrier: Carrier,
        reader: &mut Reader,
        out: &Outbox,
    ) -> (CloseCode, &'static str) {
        let mut stopping = self.stopping.clone();
        let mut frames = Frames::default();
        let first = tokio::select! {
            first = tokio::time::timeout(FIRST_FRAME, frames.next(reader)) => first,
            _ = stopping.wait_for(|stopping| *stopping) => return (CloseCode::Stopping, "the relay is stopping"),
        };
        let first = match first {
            Ok(Ok(Some(frame))) => frame,
            Ok(Ok(None)) => return (CloseCode::Done, ""),
            Ok(Err(error)) => return error.farewell(),
            Err(_) => return (CloseCode::Idle, "no greeting"),
        };
        let Some(campaign) = campaign_of(&first) else {
            return (CloseCode::Malformed, "not a greeting");
        };
        let Some(seat) = self.hub.seat(campaign, out).await else {
            return (CloseCode::Unavailable, "the table is overrun");
        };
        tracing::debug!(?carrier, connection = seat.connection.0, "seated");
        let end = converse(&seat, first, &mut frames, reader).await;
        let _ = seat
            .table
            .send(Input::Disconnected {
                connection: seat.connection,
            })
            .await;
        end
    }
}

/// Hands every frame to the table. The table's inbox is bounded, so a table that has much to do
/// reads no faster than it works.
async fn converse(
    seat: &Seat,
    first: Bytes,
    frames: &mut Frames,
    reader: &mut Reader,
) -> (CloseCode, &'static str) {
    let mut frame = first;
    loop {
        let input = Input::Frame {
            connection: seat.connection,
            frame,
        };
        if seat.table.send(input).await.is_err() {
            return (CloseCode::Unavailable, "the table has closed");
        }
        frame = match tokio::time::timeout(SILENCE, frames.next(reader)).await {
            Ok(Ok(Some(frame))) => frame,
            Ok(Ok(None)) => return (CloseCode::Done, ""),
            Ok(Err(error)) => return error.farewell(),
            Err(_) => return (CloseCode::Idle, "nothing arrived for too long"),
        };
    }
}

async fn write(mut writer: Writer, mut outgoing: Outgoing) {
    while let Some(next) = outgoing.next().await {
        let (mut frames, close) = match next {
            Next::Write(frames) => (frames, None),
            Next::Close(frames, code, reason) => (frames, Some((code, reason))),
        };
        let bytes = frames.iter().map(Bytes::len).sum();
        let written = tokio::time::timeout(WRITE, writer.write(&mut frames)).await;
        outgoing.written(bytes);
        match (written, close) {
            (Ok(Ok(())), None) => {}
            (Ok(Ok(())), Some((code, reason))) => return writer.close(code, &reason).await,
            (Ok(Err(_)), _) => return,
            (Err(_), _) => return writer.close(CloseCode::Slow, "too slow").await,
        }
    }
}

#[derive(Default)]
struct Frames;
struct Bad;
impl Bad {
    fn farewell(&self) -> (CloseCode, &'static str) {
        (CloseCode::Malformed, "x")
    }
}
impl Frames {
    async fn next(&mut self, _r: &mut Reader) -> Result<Option<Bytes>, Bad> {
        Err(Bad)
    }
}
fn campaign_of(_: &Bytes) -> Option<CampaignKey> {
    None
}
