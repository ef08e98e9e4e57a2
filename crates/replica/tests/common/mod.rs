//! What the replica's tests share: seeded hosts, files, and two replicas at one table.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use lore_codex::{Draft, EntryId, Kind, Revision};
use lore_replica::{EntryView, Host, Replica};
use lore_seal::{Audience, CampaignId, Envelope, Role};
use lore_sync::{Cursor, PeerStore as _};
use rusqlite::Connection;

/// A clock and a generator that repeat.
#[derive(Clone)]
pub struct Seeded {
    state: Arc<AtomicU64>,
    now: Arc<AtomicI64>,
}

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(AtomicU64::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)),
            now: Arc::new(AtomicI64::new(1_780_000_000_000)),
        }
    }
}

impl Host for Seeded {
    fn now(&self) -> i64 {
        self.now.fetch_add(1_000, Ordering::Relaxed)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            // SplitMix64, one byte a step.
            let z = self
                .state
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (z ^ (z >> 31)) as u8;
        }
    }
}

pub fn in_memory(seed: u64) -> Replica {
    Replica::open(
        Connection::open_in_memory().unwrap(),
        Box::new(Seeded::new(seed)),
    )
    .unwrap()
}

pub fn at(path: &Path, seed: u64) -> Replica {
    Replica::open(Connection::open(path).unwrap(), Box::new(Seeded::new(seed))).unwrap()
}

pub fn draft(kind: &str, title: &str, body: &str) -> Draft {
    let mut draft = Draft::new(Kind::new(kind).unwrap(), title);
    draft.body = body.into();
    draft
}

pub fn id(view: &EntryView) -> EntryId {
    view.id.parse().unwrap()
}

pub fn revision(view: &EntryView) -> Revision {
    view.revision.parse().unwrap()
}

pub fn record(replica: &mut Replica, campaign: CampaignId, title: &str, body: &str) -> EntryView {
    replica
        .record(campaign, Audience::Table, &draft("note", title, body))
        .unwrap()
}

/// A keeper and a player at one campaign, in step.
pub fn table() -> (Replica, Replica, CampaignId) {
    let mut keeper = in_memory(1);
    let mut player = in_memory(2);
    keeper.set_name("Mira").unwrap();
    player.set_name("Tomas").unwrap();
    let campaign = keeper.create_campaign("The Sallow Reach").unwrap();
    keeper.open_table(campaign, "http://127.0.0.1:1").unwrap();
    let link = keeper.invite(campaign, Role::Player).unwrap().to_string();
    assert_eq!(player.join(&link).unwrap(), campaign);
    exchange(&mut keeper, &mut player, campaign);
    exchange(&mut keeper, &mut player, campaign);
    (keeper, player, campaign)
}

/// Brings two replicas in step, as a relay would: statements and envelopes, both ways.
pub fn exchange(a: &mut Replica, b: &mut Replica, campaign: CampaignId) {
    hand_over(a, b, campaign);
    hand_over(b, a, campaign);
}

pub fn hand_over(from: &mut Replica, to: &mut Replica, campaign: CampaignId) {
    let statements: Vec<_> = from
        .store(campaign)
        .unwrap()
        .membership()
        .statements()
        .cloned()
        .collect();
    to.receive_statements(campaign, statements).unwrap();
    let envelopes = missing(from, to, campaign);
    to.receive(campaign, &envelopes).unwrap();
}

/// The envelopes that `to` lacks and may read.
pub fn missing(from: &mut Replica, to: &mut Replica, campaign: CampaignId) -> Vec<Envelope> {
    let have: Cursor = to.store(campaign).unwrap().cursor().unwrap();
    let reader = to.device();
    let store = from.store(campaign).unwrap();
    store
        .envelopes_after(&have, usize::MAX)
        .unwrap()
        .iter()
        .map(|bytes| Envelope::decode(bytes).unwrap())
        .filter(|envelope| {
            store
                .membership()
                .may_read(&reader, envelope.header().audience)
        })
        .collect()
}

/// What users see of a campaign, without what differs by design between replicas.
pub fn seen(replica: &mut Replica, campaign: CampaignId) -> String {
    let ids = replica.entry_ids(campaign).unwrap();
    let mut out = String::new();
    for id in ids {
        let mut view = serde_json::to_value(replica.entry(id).unwrap().unwrap()).unwrap();
        view.as_object_mut().unwrap().remove("delivery");
        strip_self(&mut view);
        out.push_str(&view.to_string());
        out.push('\n');
    }
    out
}

fn strip_self(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.remove("self");
            map.values_mut().for_each(strip_self);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(strip_self),
        _ => {}
    }
}
