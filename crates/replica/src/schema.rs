//! The codex file: pragmas, tables, and the version that it carries.

use rusqlite::{Connection, OptionalExtension};

use crate::error::OpenError;

/// Marks a SQLite file as a codex ("Lore" in ASCII).
pub const APPLICATION_ID: i32 = 0x4c6f_7265;

/// The version of the tables below. A file of a newer version is refused whole.
pub const SCHEMA_VERSION: i32 = 1;

/// How long a writer waits for another process that holds the file, in milliseconds.
const BUSY_TIMEOUT_MS: u32 = 5_000;

/// Tables of version 1.
///
/// `documents` and `changes` with `log`, `statements`, `epoch_keys` and `tombstones` are the
/// truth; `entries`, `entry_threads`, `spans`, `vectors` and `profiles` can be dropped and rebuilt.
const TABLES: &str = "
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE campaigns (
  id BLOB PRIMARY KEY,
  created_at INTEGER NOT NULL,
  relay TEXT,
  -- The seed of an invitation that has been claimed but not yet confirmed.
  invitation BLOB
) WITHOUT ROWID;

CREATE TABLE statements (
  seq INTEGER PRIMARY KEY,
  campaign BLOB NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (campaign, bytes)
);

CREATE TABLE epoch_keys (
  campaign BLOB NOT NULL,
  audience BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  key BLOB NOT NULL,
  PRIMARY KEY (campaign, audience, epoch)
) WITHOUT ROWID;

-- An Automerge document and the changes made since it was last written whole.
CREATE TABLE documents (
  entry BLOB PRIMARY KEY,
  campaign BLOB NOT NULL,
  audience BLOB NOT NULL,
  bytes BLOB NOT NULL
);
CREATE TABLE changes (
  seq INTEGER PRIMARY KEY,
  entry BLOB NOT NULL,
  bytes BLOB NOT NULL
);
CREATE INDEX changes_entry ON changes (entry, seq);

CREATE TABLE tombstones (
  entry BLOB PRIMARY KEY,
  campaign BLOB NOT NULL,
  at INTEGER NOT NULL,
  author BLOB NOT NULL,
  -- Changes that arrived after the forgetting and were dropped.
  dropped INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- One row an entry: what lists and cards show.
CREATE TABLE entries (
  entry BLOB PRIMARY KEY,
  campaign BLOB NOT NULL,
  audience BLOB NOT NULL,
  kind TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  contested INTEGER NOT NULL,
  -- The newest envelope of this device that touched the entry; 0 where there is none.
  own_number INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL
);
CREATE INDEX entries_recent ON entries (campaign, updated_at DESC, entry);
CREATE INDEX entries_kind ON entries (campaign, kind, updated_at DESC, entry);
-- Few are: the count must not read every entry.
CREATE INDEX entries_contested ON entries (campaign, updated_at DESC, entry) WHERE contested = 1;
CREATE TABLE entry_threads (
  campaign BLOB NOT NULL,
  thread TEXT NOT NULL,
  entry BLOB NOT NULL,
  PRIMARY KEY (campaign, thread, entry)
) WITHOUT ROWID;
CREATE INDEX entry_threads_entry ON entry_threads (entry);

CREATE TABLE spans (
  entry BLOB NOT NULL,
  ordinal INTEGER NOT NULL,
  campaign BLOB NOT NULL,
  anchor TEXT,
  -- The headings above the anchor, one a line.
  trail TEXT NOT NULL,
  start_line INTEGER NOT NULL,
  end_line INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- SHA-256 of what is embedded: one text, one model, one vector.
  hash BLOB NOT NULL,
  PRIMARY KEY (entry, ordinal)
);
CREATE INDEX spans_campaign ON spans (campaign);
CREATE INDEX spans_hash ON spans (hash);
CREATE TABLE vectors (
  hash BLOB NOT NULL,
  model TEXT NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (hash, model)
) WITHOUT ROWID;

-- Texts that still need a vector, by hash, with one place where each stands.
CREATE TABLE embed_queue (
  hash BLOB PRIMARY KEY,
  entry BLOB NOT NULL,
  ordinal INTEGER NOT NULL
) WITHOUT ROWID;

-- Envelopes, numbered by their devices, chained by hash.
CREATE TABLE log (
  seq INTEGER PRIMARY KEY,
  campaign BLOB NOT NULL,
  audience BLOB NOT NULL,
  device BLOB NOT NULL,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  -- Why the contents were not merged, for an envelope that a member signed but that breaks the rules.
  refused TEXT,
  UNIQUE (campaign, audience, device, number)
);
CREATE TABLE heads (
  campaign BLOB NOT NULL,
  audience BLOB NOT NULL,
  device BLOB NOT NULL,
  number INTEGER NOT NULL,
  chain BLOB NOT NULL,
  -- Up to where the relay has acknowledged: durable there.
  acked INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (campaign, audience, device)
) WITHOUT ROWID;

CREATE TABLE profiles (
  campaign BLOB NOT NULL,
  author BLOB NOT NULL,
  name TEXT NOT NULL,
  agent INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (campaign, author)
) WITHOUT ROWID;

-- Operations of views, so that one sent again after a lost answer is done once.
CREATE TABLE operations (
  seq INTEGER PRIMARY KEY,
  op TEXT NOT NULL UNIQUE,
  entry BLOB NOT NULL
);
";

/// Readies a connection and brings the file to [`SCHEMA_VERSION`].
pub(crate) fn prepare(conn: &Connection) -> Result<(), OpenError> {
    conn.busy_timeout(std::time::Duration::from_millis(BUSY_TIMEOUT_MS.into()))?;
    // Without shared memory, as over OPFS, WAL works only where one connection holds the file.
    if cfg!(target_arch = "wasm32") {
        conn.pragma_update(None, "locking_mode", "exclusive")?;
    }
    let application: i32 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let version: i32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && application != APPLICATION_ID {
        return Err(OpenError::NotACodex);
    }
    if version > SCHEMA_VERSION {
        return Err(OpenError::Newer {
            found: version,
            known: SCHEMA_VERSION,
        });
    }
    let mode: Option<String> = conn
        .query_row("PRAGMA journal_mode = wal", [], |row| row.get(0))
        .optional()?;
    tracing::debug!(?mode, version, "codex file opened");
    conn.execute_batch(
        "PRAGMA synchronous = full;
         PRAGMA foreign_keys = off;
         PRAGMA secure_delete = on;
         PRAGMA journal_size_limit = 4194304;
         PRAGMA temp_store = memory;",
    )?;
    if version == 0 {
        // Two processes may create the file at once: the second sees the first's tables.
        conn.execute_batch("BEGIN IMMEDIATE")?;
        let version: i32 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let outcome = if version == 0 {
            conn.execute_batch(TABLES)
                .and_then(|()| conn.pragma_update(None, "application_id", APPLICATION_ID))
                .and_then(|()| conn.pragma_update(None, "user_version", SCHEMA_VERSION))
        } else {
            Ok(())
        };
        match outcome {
            Ok(()) => conn.execute_batch("COMMIT")?,
            Err(error) => {
                let _ = conn.execute_batch("ROLLBACK");
                return Err(error.into());
            }
        }
    }
    Ok(())
}
