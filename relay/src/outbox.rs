//! What waits to be written to one connection.
//!
//! The table counts the bytes that are not flushed yet and stops sending (or closes) long before
//! this queue is full; the bound in frames is the last line.

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::entrance::CloseCode;

/// Frames that may wait for one connection; beyond, it is closed as too slow.
const FRAMES: usize = 16 * 1024;
/// Frames that are written at once.
const BATCH: usize = 64;

/// The table's end.
#[derive(Clone)]
pub(crate) struct Outbox(mpsc::Sender<Out>);

/// The writing task's end.
pub(crate) struct Outgoing(mpsc::Receiver<Out>);

enum Out {
    Frame(Bytes),
    Close(CloseCode, String),
}

/// The connection does not keep up, or is gone.
pub(crate) struct Full;

/// What to do next with the connection.
pub(crate) enum Next {
    /// Write these.
    Write(Vec<Bytes>),
    /// Write these, then end it.
    Close(Vec<Bytes>, CloseCode, String),
}

pub(crate) fn outbox() -> (Outbox, Outgoing) {
    // One place is kept for the closing word.
    let (sender, receiver) = mpsc::channel(FRAMES + 1);
    (Outbox(sender), Outgoing(receiver))
}

impl Outbox {
    /// Queues a frame. Never waits.
    pub(crate) fn send(&self, frame: Bytes) -> Result<(), Full> {
        if self.0.capacity() <= 1 {
            return Err(Full);
        }
        self.0.try_send(Out::Frame(frame)).map_err(|_| Full)
    }

    /// Ends the connection after what is queued. Never waits.
    pub(crate) fn close(&self, code: CloseCode, reason: impl Into<String>) {
        // When it fails, the writing task has ended already.
        let _ = self.0.try_send(Out::Close(code, reason.into()));
    }
}

impl Outgoing {
    /// The next frames to write; `None` when no more can come.
    pub(crate) async fn next(&mut self) -> Option<Next> {
        let mut frames = Vec::new();
        let mut next = self.0.recv().await?;
        loop {
            match next {
                Out::Frame(frame) => frames.push(frame),
                Out::Close(code, reason) => return Some(Next::Close(frames, code, reason)),
            }
            if frames.len() == BATCH {
                break;
            }
            match self.0.try_recv() {
                Ok(following) => next = following,
                Err(_) => break,
            }
        }
        Some(Next::Write(frames))
    }
}
