//! The virtual relay's storage: what survives a restart, and what is still on its way there.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::cursor::{Cursor, Stream};
use crate::store::Head;
use crate::table::{Record, TableState, Token};

/// A write that is not durable yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) token: Token,
    pub(super) records: Vec<Record>,
    pub(super) statements: Vec<Bytes>,
}

/// What the relay's disk holds.
#[derive(Debug, Default)]
pub(super) struct Disk {
    logs: BTreeMap<Stream, Vec<Record>>,
    statements: Vec<Bytes>,
    pub(super) pending: VecDeque<Pending>,
}

impl Disk {
    /// The oldest pending write becomes durable.
    pub(super) fn commit(&mut self) -> Option<Token> {
        let write = self.pending.pop_front()?;
        self.statements.extend(write.statements);
        for record in write.records {
            self.logs.entry(record.stream()).or_default().push(record);
        }
        Some(write.token)
    }

    pub(super) fn read(&self, stream: Stream, after: u64, max_bytes: usize) -> Vec<Bytes> {
        let mut out = Vec::new();
        let mut size = 0;
        for record in self.logs.get(&stream).into_iter().flatten() {
            if record.number > after {
                if size > 0 && size + record.bytes.len() > max_bytes {
                    break;
                }
                size += record.bytes.len();
                out.push(record.bytes.clone());
            }
        }
        out
    }

    pub(super) fn cursor(&self) -> Cursor {
        self.heads()
            .into_iter()
            .map(|(stream, head)| (stream, head.number))
            .collect()
    }

    fn heads(&self) -> BTreeMap<Stream, Head> {
        self.logs
            .iter()
            .filter_map(|(stream, log)| {
                let last = log.last()?;
                let head = Head {
                    number: last.number,
                    hash: last.chain_hash,
                };
                Some((*stream, head))
            })
            .collect()
    }

    pub(super) fn state(&self) -> TableState {
        TableState {
            statements: self.statements.clone(),
            heads: self.heads(),
            bytes: 0,
        }
    }

    /// Every stored envelope of a stream, in order.
    pub(super) fn log(&self, stream: Stream) -> Vec<Bytes> {
        self.read(stream, 0, usize::MAX)
    }

    /// Everything is gone: the relay's disk was lost.
    pub(super) fn wipe(&mut self) {
        *self = Self::default();
    }
}
