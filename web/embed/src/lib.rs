//! Bindings of the embedding worker.
