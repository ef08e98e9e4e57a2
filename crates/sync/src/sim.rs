//! Virtual network.
