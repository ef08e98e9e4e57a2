//! Bindings of the engine worker: one codex and its sessions, behind calls that take and give JSON.
//!
//! The worker that owns the codex file makes one [`Engine`]. Nothing here touches the network:
//! the worker's own code opens connections and moves their bytes.

#[cfg(target_arch = "wasm32")]
mod calls;
#[cfg(target_arch = "wasm32")]
mod engine;
#[cfg(target_arch = "wasm32")]
mod host;
#[cfg(target_arch = "wasm32")]
mod storage;

#[cfg(target_arch = "wasm32")]
pub use engine::Engine;
