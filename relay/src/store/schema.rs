//! The store's tables and their version.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::StoreError;

/// The schema this relay writes, SQLite's `user_version`.
pub const SCHEMA_VERSION: i64 = 1;
/// SQLite's `application_id` of a relay's store: "LRLY".
const APPLICATION_ID: i64 = 0x4C52_4C59;

const TABLES: &str = "
CREATE TABLE campaigns (
    id         BLOB PRIMARY KEY NOT NULL,
    created_at INTEGER NOT NULL,           -- ms since the epoch
    bytes      INTEGER NOT NULL DEFAULT 0  -- of envelopes held
) WITHOUT ROWID;
CREATE TABLE statements (
    campaign BLOB NOT NULL,
    digest   BLOB NOT NULL,                -- SHA-256 of bytes
    bytes    BLOB NOT NULL,
    UNIQUE (campaign, digest)
);
CREATE TABLE envelopes (
    campaign BLOB NOT NULL,
    audience BLOB NOT NULL,
    device   BLOB NOT NULL,
    number   INTEGER NOT NULL,             -- from 1, without gaps
    chain    BLOB NOT NULL,                -- chain hash
    bytes    BLOB NOT NULL,                -- sealed, as it arrived
    UNIQUE (campaign, audience, device, number)
);
";

/// Opens for writing; creates or checks the schema.
pub(super) fn open_writing(path: &Path) -> Result<Connection, StoreError> {
    let mut db = Connection::open(path)?;
    let pragma = |name: &str| -> rusqlite::Result<i64> {
        db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
    };
    // Looked at before anything is set: a file that is not ours stays byte-identical.
    let version = pragma("user_version").map_err(|error| not_ours(path, error))?;
    let application = pragma("application_id")?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if (tables > 0 || application != 0) && application != APPLICATION_ID {
        return Err(StoreError::Foreign {
            path: path.display().to_string(),
        });
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer {
            path: path.display().to_string(),
            found: version,
        });
    }
    db.pragma_update(None, "journal_mode", "WAL")?;
    // An acknowledgement promises durability: every commit waits for the disk.
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "fullfsync", true)?;
    if version == 0 {
        let transaction = db.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        transaction.commit()?;
    }
    Ok(db)
}

/// Opens for reading only.
pub(super) fn open_reading(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(db)
}

fn not_ours(path: &Path, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => StoreError::Foreign {
            path: path.display().to_string(),
        },
        _ => error.into(),
    }
}
