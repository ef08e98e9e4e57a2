//! `lore`: a device peer.
fn main() {}
