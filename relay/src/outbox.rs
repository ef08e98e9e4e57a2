//! What waits to be written to one connection: bounded in frames and in bytes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::entrance::CloseCode;

/// Frames that may wait for one connection.
const FRAMES: usize = 4096;
/// Bytes that may wait for one connection; a connection beyond it is dropped and catches up
/// from its cursor when it comes back.
pub(crate) const BYTES: usize = 8 * 1024 * 1024;
/// Frames that are written at once.
const BATCH: usize = 64;

/// The table's end.
#[derive(Clone)]
pub(crate) struct Outbox {
    queue: mpsc::Sender<Out>,
    waiting: Arc<AtomicUsize>,
}

/// The writing task's end.
pub(crate) struct Outgoing {
    queue: mpsc::Receiver<Out>,
    waiting: Arc<AtomicUsize>,
}

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
    let waiting = Arc::new(AtomicUsize::new(0));
    (
        Outbox {
            queue: sender,
            waiting: waiting.clone(),
        },
        Outgoing {
            queue: receiver,
            waiting,
        },
    )
}

impl Outbox {
    /// Queues a frame with its length prefix. Never waits.
    pub(crate) fn send(&self, frame: Bytes) -> Result<(), Full> {
        let length = frame.len();
        if self.queue.capacity() <= 1 || self.waiting.load(Ordering::Relaxed) + length > BYTES {
            return Err(Full);
        }
        self.waiting.fetch_add(length, Ordering::Relaxed);
        self.queue.try_send(Out::Frame(frame)).map_err(|_| Full)
    }

    /// Ends the connection after what is queued. Never waits.
    pub(crate) fn close(&self, code: CloseCode, reason: impl Into<String>) {
        // When it fails, the writing task has ended already.
        let _ = self.queue.try_send(Out::Close(code, reason.into()));
    }
}

impl Outgoing {
    /// The next frames to write; `None` when no more can come.
    pub(crate) async fn next(&mut self) -> Option<Next> {
        let mut frames = Vec::new();
        let mut next = self.queue.recv().await?;
        loop {
            match next {
                Out::Frame(frame) => frames.push(frame),
                Out::Close(code, reason) => return Some(Next::Close(frames, code, reason)),
            }
            if frames.len() == BATCH {
                break;
            }
            match self.queue.try_recv() {
                Ok(following) => next = following,
                Err(_) => break,
            }
        }
        Some(Next::Write(frames))
    }

    /// Says that so many bytes have been written.
    pub(crate) fn written(&self, bytes: usize) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }
}
