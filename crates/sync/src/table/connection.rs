//! What a table knows of one connection, and of one device's allowance.

use std::collections::BTreeSet;

use lore_seal::DeviceId;

use crate::cursor::{Cursor, Stream};

/// How far the handshake has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Silent,
    /// Said hello: as whom, and with which nonce.
    Challenged(DeviceId, [u8; 32]),
    /// Proven.
    Open(DeviceId),
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) phase: Phase,
    /// Our nonce.
    pub(super) nonce: [u8; 32],
    pub(super) since: i64,
    pub(super) last_heard: i64,
    /// What the peer has or is being sent.
    pub(super) sent: Cursor,
    /// Whether it has said what it has: nothing is pushed before.
    pub(super) told: bool,
    pub(super) last_push: i64,
    pub(super) last_have: i64,
    pub(super) last_limited: i64,
    /// Bytes handed to the driver and not flushed.
    pub(super) queued: usize,
    /// Whether it may lack something that was not pushed.
    pub(super) lagging: bool,
    /// Whether a read for it is under way.
    pub(super) reading: bool,
    /// Streams of which the store gave nothing though it should have: not asked for again.
    pub(super) unreadable: BTreeSet<Stream>,
    /// What it has sent and not been told to be durable.
    pub(super) awaiting: Cursor,
    /// How often it may show its presence.
    pub(super) presence: Option<Bucket>,
    /// Whose latest presence it has not been sent.
    pub(super) unseen: BTreeSet<DeviceId>,
    /// Their digest and ours when all statements were last sent.
    pub(super) offered: Option<([u8; 32], [u8; 32], i64)>,
}

impl Connection {
    pub(super) fn new(nonce: [u8; 32], now: i64) -> Self {
        Self {
            phase: Phase::Silent,
            nonce,
            since: now,
            last_heard: now,
            sent: Cursor::new(),
            told: false,
            last_push: i64::MIN / 2,
            last_have: i64::MIN / 2,
            last_limited: i64::MIN / 2,
            queued: 0,
            lagging: false,
            reading: false,
            unreadable: BTreeSet::new(),
            awaiting: Cursor::new(),
            presence: None,
            unseen: BTreeSet::new(),
            offered: None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open(_))
    }

    /// Whose it is, once proven.
    pub(super) fn device(&self) -> Option<DeviceId> {
        match self.phase {
            Phase::Open(device) => Some(device),
            _ => None,
        }
    }
}

/// A token bucket, in thousandths of a token so that refilling loses nothing to rounding.
#[derive(Debug)]
pub(super) struct Bucket {
    thousandths: u64,
    last: i64,
}

impl Bucket {
    pub(super) fn new(burst: u64, now: i64) -> Self {
        Self {
            thousandths: burst * 1_000,
            last: now,
        }
    }

    fn refill(&mut self, now: i64, per_second: u32, burst: u64) {
        // A clock that steps back refills nothing.
        let elapsed = u64::try_from(now.saturating_sub(self.last)).unwrap_or(0);
        self.last = now;
        // Per millisecond, `per_second` thousandths.
        let gained = elapsed.saturating_mul(u64::from(per_second));
        self.thousandths = self.thousandths.saturating_add(gained).min(burst * 1_000);
    }

    /// Takes one token, if there is one.
    pub(super) fn take(&mut self, now: i64, per_second: u32, burst: u64) -> bool {
        self.refill(now, per_second, burst);
        let Some(rest) = self.thousandths.checked_sub(1_000) else {
            return false;
        };
        self.thousandths = rest;
        true
    }

    pub(super) fn is_full(&mut self, now: i64, per_second: u32, burst: u64) -> bool {
        self.refill(now, per_second, burst);
        self.thousandths >= burst * 1_000
    }
}
