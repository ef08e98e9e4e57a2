//! The sample campaign that a first visit opens on.
