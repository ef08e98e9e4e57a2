//! Every limit and every interval, in one place.

/// What a relay allows on one table. Checked on arrival; beyond each comes a stated refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections of one table at once. Default 512. Beyond: refused as full.
    pub connections: usize,
    /// Connections of one device at once. Default 4. Beyond: its oldest is closed.
    pub connections_per_device: usize,
    /// Envelopes and statements that one device may send in a burst. Default 20,000: a backlog
    /// written while away goes up at once. Beyond: rate limited.
    pub burst: u32,
    /// Envelopes and statements that come back to the burst each second. Default 1,000.
    pub per_second: u32,
    /// Presence messages of one device that are passed on at once, each second. Default 20; the
    /// latest beyond them waits for the next tick.
    pub presence_per_second: u32,
    /// Bytes handed to the driver for one connection and not yet reported as flushed, beyond
    /// which no more envelopes are sent to it: it is resynchronised by cursor once it has
    /// drained. Default 1 MiB.
    pub queue_bytes: usize,
    /// Bytes beyond which the connection is closed: control messages alone have filled it.
    /// Default 8 MiB.
    pub queue_hard_bytes: usize,
    /// Bytes of sealed envelopes of the table. Default 4 GiB. Beyond: refused as full.
    pub table_bytes: u64,
    /// Bytes asked for by one [`Effect::Read`](crate::Effect::Read). Default 256 KiB.
    pub read_bytes: usize,
    /// Milliseconds from connecting to a proven membership. Default 10,000.
    pub handshake_ms: i64,
    /// Milliseconds without a frame after which a connection is closed. Default 60,000.
    pub idle_ms: i64,
    /// Milliseconds after the last push in which a peer's older cursor is taken to have crossed
    /// it on the way, and not as a sign of loss. Default 2,000.
    pub resend_ms: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            connections_per_device: 4,
            burst: 20_000,
            per_second: 1_000,
            presence_per_second: 20,
            queue_bytes: 1 << 20,
            queue_hard_bytes: 8 << 20,
            table_bytes: 4 << 30,
            read_bytes: 256 << 10,
            handshake_ms: 10_000,
            idle_ms: 60_000,
            resend_ms: 2_000,
        }
    }
}

/// A peer's intervals and windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Milliseconds after which something unanswered is said again. Default 2,000. It doubles
    /// with each repetition that brings nothing, up to `retry_max_ms`.
    pub retry_ms: i64,
    /// The longest such wait. Default 60,000.
    pub retry_max_ms: i64,
    /// Milliseconds between two statements of what one has, when all is quiet. Default 15,000.
    pub have_ms: i64,
    /// Milliseconds of hearing nothing after which the connection counts as dead. Default 45,000.
    pub dead_ms: i64,
    /// Bytes of envelopes sent and not yet known to have arrived. Default 1 MiB.
    pub window_bytes: usize,
    /// Bytes of envelopes in one frame; a single larger envelope travels alone. Default 256 KiB.
    pub batch_bytes: usize,
    /// Bytes of envelopes held because one before them is missing. Default 8 MiB. Beyond, they
    /// are dropped and asked for again.
    pub waiting_bytes: usize,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            retry_ms: 2_000,
            retry_max_ms: 60_000,
            have_ms: 15_000,
            dead_ms: 45_000,
            window_bytes: 1 << 20,
            batch_bytes: 256 << 10,
            waiting_bytes: 8 << 20,
        }
    }
}
