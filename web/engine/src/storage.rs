//! Where the codex file lives: the origin's private file system, or memory.

use rusqlite::Connection;
use sqlite_wasm_rs::WasmOsCallback;
use sqlite_wasm_vfs::sahpool::{OpfsSAHError, OpfsSAHPoolCfgBuilder, install};

use crate::calls::CallError;

/// The file's name in the pool.
const FILE: &str = "codex.db";
/// The pool's folder on the origin's private file system.
const FOLDER: &str = ".lorekeeper";
/// Slots of the pool: the codex, its log and room for temporary files. Exhaustion would show only
/// as "unable to open database file".
const SLOTS: usize = 16;

/// Opens the codex on the origin's private file system.
///
/// # Errors
/// `no-opfs` where the browser has none here; `busy` while another worker holds it.
pub(crate) async fn open_opfs() -> Result<Connection, CallError> {
    let config = OpfsSAHPoolCfgBuilder::new()
        .directory(FOLDER)
        .initial_capacity(SLOTS)
        .build();
    install::<WasmOsCallback>(&config, true)
        .await
        .map_err(|error| {
            let text = error.to_string();
            let code = if text.contains("NoModificationAllowed") {
                "busy"
            } else if matches!(error, OpfsSAHError::NotSupported) || text.contains("SecurityError")
            {
                "no-opfs"
            } else {
                "storage"
            };
            CallError::new(
                code,
                format!("the browser's file system could not be used: {text}"),
            )
        })?;
    Connection::open(FILE).map_err(|error| CallError::new("storage", error))
}

/// Opens a codex in memory, from a snapshot where there is one.
pub(crate) fn open_memory(snapshot: Option<&[u8]>) -> Result<Connection, CallError> {
    let mut conn =
        Connection::open_in_memory().map_err(|error| CallError::new("storage", error))?;
    if let Some(bytes) = snapshot {
        conn.deserialize_read_exact("main", bytes, bytes.len(), false)
            .map_err(|error| {
                CallError::new("storage", format!("the snapshot is damaged: {error}"))
            })?;
    }
    Ok(conn)
}
