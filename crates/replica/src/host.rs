//! What a replica takes from its surroundings: the time and randomness.

/// The clock and the source of randomness of a replica.
///
/// A browser, a device and a simulation each bring their own; nothing in the replica calls a
/// clock or a random generator by itself, so that a seeded run repeats exactly.
pub trait Host: Send {
    /// Milliseconds since the Unix epoch, as the device believes. A wrong clock disturbs only
    /// displayed times.
    fn now(&self) -> i64;

    /// Fills `bytes` with cryptographically secure randomness.
    fn random(&mut self, bytes: &mut [u8]);
}

/// Draws an array of randomness.
pub(crate) fn draw<const N: usize>(host: &mut dyn Host) -> [u8; N] {
    let mut bytes = [0; N];
    host.random(&mut bytes);
    bytes
}
