//! Bindings of the engine worker.
