//! The writer's group commit and the reader.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

use super::{
    CampaignKey, DeviceKey, Head, Loaded, ReadJob, StoreError, StoredEnvelope, Write, WriteJob,
};

/// Operations in one transaction, at most.
const GROUP_JOBS: usize = 256;
/// Bytes in one transaction, roughly at most: bounds the latency of the first in the group.
const GROUP_BYTES: usize = 8 * 1024 * 1024;

/// Runs until every sender is gone; then everything submitted has been committed.
pub(super) fn write_loop(mut db: Connection, mut jobs: mpsc::Receiver<WriteJob>) {
    let mut group = Vec::new();
    while let Some(first) = jobs.blocking_recv() {
        let mut bytes = size(&first.write);
        group.push(first);
        while group.len() < GROUP_JOBS && bytes < GROUP_BYTES {
            let Ok(job) = jobs.try_recv() else { break };
            bytes += size(&job.write);
            group.push(job);
        }
        commit(&mut db, &mut group);
    }
    // Leaves one tidy file behind; when it fails, the WAL is simply replayed at the next start.
    if let Err(error) = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
        tracing::debug!(%error, "final checkpoint");
    }
}

fn size(write: &Write) -> usize {
    match write {
        Write::Append { records, .. } => records.iter().map(|record| record.bytes.len()).sum(),
        Write::Statements { statements, .. } => statements.iter().map(Bytes::len).sum(),
    }
}

fn commit(db: &mut Connection, group: &mut Vec<WriteJob>) {
    match transact(db, group.iter().map(|job| &job.write)) {
        Ok(()) => {
            for job in group.drain(..) {
                let _ = job.done.send(Ok(()));
            }
        }
        // One bad operation must not fail its neighbours: each alone.
        Err(_) => {
            for job in group.drain(..) {
                let outcome = transact(db, std::iter::once(&job.write));
                if let Err(error) = &outcome {
                    tracing::error!(%error, "a write failed");
                }
                let _ = job.done.send(outcome);
            }
        }
    }
}

fn transact<'a>(
    db: &mut Connection,
    writes: impl Iterator<Item = &'a Write>,
) -> Result<(), StoreError> {
    let transaction = db.transaction()?;
    for write in writes {
        match write {
            Write::Append { campaign, records } => append(&transaction, campaign, records)?,
            Write::Statements {
                campaign,
                statements,
                now,
            } => put_statements(&transaction, campaign, statements, *now)?,
        }
    }
    Ok(transaction.commit()?)
}

fn append(
    db: &Connection,
    campaign: &CampaignKey,
    records: &[StoredEnvelope],
) -> Result<(), StoreError> {
    let mut last = db.prepare_cached(
        "SELECT coalesce(max(number), 0) FROM envelopes
         WHERE campaign = ?1 AND audience = ?2 AND device = ?3",
    )?;
    let mut insert = db.prepare_cached(
        "INSERT INTO envelopes (campaign, audience, device, number, chain, bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut added = 0;
    for record in records {
        let stands: i64 = last
            .query_row(params![campaign, record.audience, record.device], |row| {
                row.get(0)
            })?;
        let number = record.number as i64;
        if number <= stands {
            continue;
        }
        // After a failed write nothing that followed it may be kept: a log has no holes.
        if number > stands + 1 {
            return Err(StoreError::Gap);
        }
        insert.execute(params![
            campaign,
            record.audience,
            record.device,
            number,
            record.chain,
            record.bytes.as_ref(),
        ])?;
        added += record.bytes.len() as i64;
    }
    db.prepare_cached("UPDATE campaigns SET bytes = bytes + ?2 WHERE id = ?1")?
        .execute(params![campaign, added])?;
    Ok(())
}

fn put_statements(
    db: &Connection,
    campaign: &CampaignKey,
    statements: &[Bytes],
    now: i64,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO campaigns (id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute(params![campaign, now])?;
    let mut insert = db.prepare_cached(
        "INSERT INTO statements (campaign, digest, bytes) VALUES (?1, ?2, ?3)
         ON CONFLICT DO NOTHING",
    )?;
    for bytes in statements {
        let digest: [u8; 32] = Sha256::digest(bytes).into();
        insert.execute(params![campaign, digest, bytes.as_ref()])?;
    }
    Ok(())
}

/// Runs until every sender is gone.
pub(super) fn read_loop(db: &Connection, mut jobs: mpsc::Receiver<ReadJob>) {
    while let Some(job) = jobs.blocking_recv() {
        match job {
            ReadJob::Load { campaign, done } => {
                let _ = done.send(load(db, &campaign).map_err(StoreError::from));
            }
            ReadJob::Envelopes {
                campaign,
                audience,
                device,
                after,
                max_bytes,
                done,
            } => {
                let read = envelopes(db, &campaign, &audience, &device, after, max_bytes);
                let _ = done.send(read.map_err(StoreError::from));
            }
        }
    }
}

fn load(db: &Connection, campaign: &CampaignKey) -> rusqlite::Result<Loaded> {
    let statements = db
        .prepare_cached("SELECT bytes FROM statements WHERE campaign = ?1 ORDER BY rowid")?
        .query_map([campaign], |row| row.get::<_, Vec<u8>>(0).map(Bytes::from))?
        .collect::<rusqlite::Result<_>>()?;
    // With max(), SQLite takes the other columns from the row that holds the maximum.
    let heads = db
        .prepare_cached(
            "SELECT audience, device, max(number), chain FROM envelopes
             WHERE campaign = ?1 GROUP BY audience, device",
        )?
        .query_map([campaign], |row| {
            Ok(Head {
                audience: row.get(0)?,
                device: row.get(1)?,
                number: row.get::<_, i64>(2)? as u64,
                chain: row.get(3)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let bytes: Option<i64> = db
        .prepare_cached("SELECT bytes FROM campaigns WHERE id = ?1")?
        .query_row([campaign], |row| row.get(0))
        .optional()?;
    let campaigns: i64 = db
        .prepare_cached("SELECT count(*) FROM campaigns")?
        .query_row([], |row| row.get(0))?;
    Ok(Loaded {
        statements,
        heads,
        bytes: bytes.unwrap_or(0) as u64,
        campaigns: campaigns as u64,
    })
}

fn envelopes(
    db: &Connection,
    campaign: &CampaignKey,
    audience: &[u8],
    device: &DeviceKey,
    after: u64,
    max_bytes: usize,
) -> rusqlite::Result<Vec<Bytes>> {
    let mut query = db.prepare_cached(
        "SELECT bytes FROM envelopes
         WHERE campaign = ?1 AND audience = ?2 AND device = ?3 AND number > ?4
         ORDER BY number",
    )?;
    let mut rows = query.query(params![campaign, audience, device, after as i64])?;
    let mut found = Vec::new();
    let mut total = 0;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        total += bytes.len();
        if !found.is_empty() && total > max_bytes {
            break;
        }
        found.push(Bytes::from(bytes));
    }
    Ok(found)
}
