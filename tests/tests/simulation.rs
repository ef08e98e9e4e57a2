//! Whole replicas over a virtual network, whatever goes wrong on the way: real documents, real
//! SQLite, real envelopes, the real state machines of both ends.
//!
//! `LORE_SEEDS=n` runs n seeds, `LORE_SEED=s` one alone; a failing seed is printed.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use lore_codex::{Draft, EntryId, Kind, Patch, PlainField, Revision, Splice};
use lore_replica::{CampaignStore, EntryView, Host, Replica, SpliceOutcome, WriteOutcome};
use lore_seal::{Audience, CampaignId, Role};
use lore_sync::sim::{Faults, Rng, World};
use lore_sync::{Limits, PeerStore as _, Timing};
use rusqlite::Connection;

/// Seeds of an ordinary run.
const SEEDS: u64 = 1_000;

type Store = CampaignStore<Replica>;

#[derive(Clone)]
struct SimHost {
    state: Arc<AtomicU64>,
    now: Arc<AtomicI64>,
}

impl SimHost {
    fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(AtomicU64::new(seed)),
            // Clocks that are off by up to a month disturb nothing.
            now: Arc::new(AtomicI64::new(
                1_780_000_000_000 + (seed % 60) as i64 * 43_200_000,
            )),
        }
    }
}

impl Host for SimHost {
    fn now(&self) -> i64 {
        self.now.fetch_add(250, Ordering::Relaxed)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            let z = self
                .state
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (z ^ (z >> 31)) as u8;
        }
    }
}

struct Telling(u64);

impl Drop for Telling {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failing seed: {0} (run with LORE_SEED={0})", self.0);
        }
    }
}

fn replica(host: &SimHost) -> Replica {
    let conn = Connection::open_in_memory().unwrap();
    Replica::open(conn, Box::new(host.clone())).unwrap()
}

/// What the people of one evening did, and what must come of it.
#[derive(Default)]
struct Told {
    /// Words that someone put into a body, acknowledged.
    words: Vec<(EntryId, String)>,
    /// Entries that someone recorded, acknowledged, with their audience.
    recorded: BTreeMap<EntryId, Audience>,
    forgotten: BTreeSet<EntryId>,
    /// Every status that an entry was ever given.
    statuses: BTreeMap<EntryId, BTreeSet<String>>,
    /// Conditional writes that were refused, rightly.
    refused: usize,
}

struct Evening {
    world: World<Store>,
    hosts: Vec<SimHost>,
    campaign: CampaignId,
    told: Told,
    /// An old view of each entry by each peer, for stale writes and edits of old bodies.
    old: BTreeMap<(usize, EntryId), EntryView>,
    words: u64,
}

impl Evening {
    fn new(seed: u64) -> Self {
        let hosts: Vec<_> = (0..4).map(|n| SimHost::new(seed * 16 + n + 1)).collect();
        let mut keeper = replica(&hosts[0]);
        keeper.set_name("Mira").unwrap();
        let campaign = keeper.create_campaign("The Sallow Reach").unwrap();
        keeper.open_table(campaign, "http://localhost:1").unwrap();
        let mut joiners = Vec::new();
        for (index, role) in [Role::CoKeeper, Role::Player, Role::Player]
            .into_iter()
            .enumerate()
        {
            let link = keeper.invite(campaign, role).unwrap().to_string();
            let mut joiner = replica(&hosts[index + 1]);
            joiner.set_name(&format!("Joiner {index}")).unwrap();
            joiner.join(&link).unwrap();
            joiners.push(joiner);
        }
        let mut world = World::new(
            seed,
            campaign,
            Faults::none(),
            Limits::default(),
            Timing::default(),
        );
        world.add_peer(keeper.into_store(campaign).unwrap());
        world.run(1_000);
        for joiner in joiners {
            world.add_peer(joiner.into_store(campaign).unwrap());
        }
        let mut evening = Self {
            world,
            hosts,
            campaign,
            told: Told::default(),
            old: BTreeMap::new(),
            words: 0,
        };
        assert!(
            evening.world.run_until(120_000, everyone_reads),
            "not everyone joined"
        );
        evening.world.set_faults(Faults::bad());
        evening
    }

    fn run(&mut self, seed: u64) {
        let mut rng = Rng::new(seed ^ 0x1073);
        for _ in 0..rng.between(12, 36) {
            let peer = rng.below(4) as usize;
            match rng.below(100) {
                0..20 => self.record(peer, &mut rng),
                20..50 => self.write_word(peer, &mut rng),
                50..68 => self.set_status(peer, &mut rng),
                68..73 => self.settle(peer),
                73..77 => self.forget(peer, &mut rng),
                77..83 => self.world.set_partitioned(peer, true),
                83..89 => self.heal(),
                89..92 => self.world.set_online(peer, false),
                92..95 => self.restart(peer),
                95..97 => self.world.restart_relay(),
                97 => self.world.wipe_relay(),
                _ => self.world.run(4_000),
            }
            self.world.run(rng.between(1, 900) as i64);
        }
    }

    fn restart(&mut self, peer: usize) {
        let host = self.hosts[peer].clone();
        let campaign = self.campaign;
        self.world.restart_peer(peer, |store| {
            let bytes = store
                .replica()
                .connection()
                .serialize("main")
                .unwrap()
                .to_vec();
            let mut conn = Connection::open_in_memory().unwrap();
            conn.deserialize_read_exact("main", &bytes[..], bytes.len(), false)
                .unwrap();
            *store = Replica::open(conn, Box::new(host))
                .unwrap()
                .into_store(campaign)
                .unwrap();
        });
    }

    fn heal(&mut self) {
        for peer in 0..self.world.peers() {
            self.world.set_partitioned(peer, false);
            self.world.set_online(peer, true);
        }
    }

    fn word(&mut self) -> String {
        self.words += 1;
        format!("<w{}>", self.words)
    }

    fn record(&mut self, peer: usize, rng: &mut Rng) {
        let audience = if peer < 2 && rng.below(4) == 0 {
            Audience::Keeper
        } else {
            Audience::Table
        };
        let mut draft = Draft::new(Kind::note(), "An entry");
        draft.body = self.word();
        let word = draft.body.clone();
        let campaign = self.campaign;
        let recorded = self.world.change(peer, |store, _, _| {
            store.replica().record(campaign, audience, &draft)
        });
        let id: EntryId = recorded.unwrap().id.parse().unwrap();
        self.told.recorded.insert(id, audience);
        self.told.words.push((id, word));
    }

    /// An entry that the peer has, seen now or a while ago.
    fn pick(&mut self, peer: usize, rng: &mut Rng) -> Option<EntryView> {
        let campaign = self.campaign;
        let ids = self.world.change(peer, |store, _, _| {
            store.replica().entry_ids(campaign).unwrap()
        });
        if ids.is_empty() {
            return None;
        }
        let id = ids[rng.below(ids.len() as u64) as usize];
        let view = self
            .world
            .change(peer, |store, _, _| store.replica().entry(id).unwrap())?;
        let old = self
            .old
            .entry((peer, id))
            .or_insert_with(|| view.clone())
            .clone();
        if rng.below(4) == 0 {
            return Some(old);
        }
        self.old.insert((peer, id), view.clone());
        Some(view)
    }

    fn write_word(&mut self, peer: usize, rng: &mut Rng) {
        let Some(view) = self.pick(peer, rng) else {
            return;
        };
        let id: EntryId = view.id.parse().unwrap();
        let base: Revision = view.revision.parse().unwrap();
        let word = self.word();
        // Between words only, so that every word stays whole.
        let ends: Vec<usize> = std::iter::once(0)
            .chain(view.body.match_indices('>').map(|(at, _)| at + 1))
            .collect();
        let at = ends[rng.below(ends.len() as u64) as usize];
        let splice = [Splice {
            at,
            delete: 0,
            insert: word.clone(),
        }];
        let outcome = self.world.change(peer, |store, _, _| {
            store.replica().splice(id, &base, &splice).unwrap()
        });
        match outcome {
            SpliceOutcome::Done { .. } => self.told.words.push((id, word)),
            SpliceOutcome::Stale { .. } => self.told.refused += 1,
            SpliceOutcome::Forgotten => {}
        }
    }

    fn set_status(&mut self, peer: usize, rng: &mut Rng) {
        let Some(view) = self.pick(peer, rng) else {
            return;
        };
        let id: EntryId = view.id.parse().unwrap();
        let expected: Revision = view.revision.parse().unwrap();
        let status = format!("status {}", rng.below(1_000_000));
        let patch = Patch {
            status: Some(Some(status.clone())),
            ..Patch::default()
        };
        let (now, outcome) = self.world.change(peer, |store, _, _| {
            let now = store.replica().entry(id).unwrap();
            (now, store.replica().revise(id, &expected, &patch).unwrap())
        });
        match outcome {
            WriteOutcome::Done { entry } => {
                assert_eq!(
                    now.unwrap().revision,
                    view.revision,
                    "a stale write went through"
                );
                assert_eq!(entry.status.as_deref(), Some(status.as_str()));
                self.told.statuses.entry(id).or_default().insert(status);
            }
            WriteOutcome::Stale { current } => {
                assert_eq!(*current, now.unwrap(), "a refused write changed something");
                self.told.refused += 1;
            }
            WriteOutcome::Forgotten => {}
        }
    }

    fn settle(&mut self, peer: usize) {
        let campaign = self.campaign;
        self.world.change(peer, |store, _, _| {
            let replica = store.replica();
            for id in replica.entry_ids(campaign).unwrap() {
                let view = replica.entry(id).unwrap().unwrap();
                let Some(contested) = view.contested.first() else {
                    continue;
                };
                assert_eq!(contested.field, PlainField::Status);
                let value = contested.candidates[0].value.clone();
                let expected = view.revision.parse().unwrap();
                let outcome = replica
                    .settle(id, &expected, contested.field, value.as_deref())
                    .unwrap();
                let WriteOutcome::Done { entry } = outcome else {
                    panic!("{outcome:?}")
                };
                assert!(entry.contested.is_empty());
            }
        });
    }

    fn forget(&mut self, peer: usize, rng: &mut Rng) {
        let Some(view) = self.pick(peer, rng) else {
            return;
        };
        let id: EntryId = view.id.parse().unwrap();
        let expected: Revision = view.revision.parse().unwrap();
        let outcome = self.world.change(peer, |store, _, _| {
            store.replica().forget(id, &expected).unwrap()
        });
        if outcome == WriteOutcome::Forgotten {
            self.told.forgotten.insert(id);
        }
    }

    fn assert_converged(&mut self) {
        self.heal();
        self.world.set_faults(Faults {
            disk_failure: 0,
            disconnection: 0,
            ..Faults::bad()
        });
        assert!(
            self.world.run_until(900_000, World::has_converged),
            "no convergence"
        );
        assert_eq!(self.world.violations(), &[] as &[String]);
        let campaign = self.campaign;
        let views: Vec<BTreeMap<EntryId, serde_json::Value>> = (0..self.world.peers())
            .map(|peer| {
                self.world
                    .change(peer, |store, _, _| shown(store.replica(), campaign))
            })
            .collect();
        let keeper = &views[0];
        assert_eq!(keeper, &views[1], "the keepers see different things");
        let table: BTreeMap<_, _> = keeper
            .iter()
            .filter(|(_, view)| view["audience"] == "table")
            .map(|(id, view)| (*id, view.clone()))
            .collect();
        for player in &views[2..] {
            assert_eq!(
                &table, player,
                "a player sees something else than the table"
            );
        }
        let expected: BTreeSet<_> = self
            .told
            .recorded
            .keys()
            .filter(|id| !self.told.forgotten.contains(id))
            .copied()
            .collect();
        assert_eq!(keeper.keys().copied().collect::<BTreeSet<_>>(), expected);
        for (id, word) in &self.told.words {
            if let Some(view) = keeper.get(id) {
                let body = view["body"].as_str().unwrap();
                assert_eq!(body.matches(word.as_str()).count(), 1, "{word} in {body}");
            }
        }
        for (id, statuses) in &self.told.statuses {
            if let Some(view) = keeper.get(id) {
                assert!(statuses.contains(view["status"].as_str().unwrap()));
            }
        }
    }
}

#[test]
fn a_co_keeper_gets_the_keepers_key_as_soon_as_it_has_joined() {
    // By the answer to its claim, not by a timer that mends what was lost.
    let hosts: Vec<_> = (0..2).map(|n| SimHost::new(900 + n)).collect();
    let mut keeper = replica(&hosts[0]);
    let campaign = keeper.create_campaign("The Sallow Reach").unwrap();
    keeper.open_table(campaign, "http://localhost:1").unwrap();
    let link = keeper.invite(campaign, Role::CoKeeper).unwrap().to_string();
    let mut second = replica(&hosts[1]);
    second.join(&link).unwrap();
    let mut world = World::new(
        1,
        campaign,
        Faults::none(),
        Limits::default(),
        Timing::default(),
    );
    world.add_peer(keeper.into_store(campaign).unwrap());
    world.run(1_000);
    world.add_peer(second.into_store(campaign).unwrap());
    let soon = world.run_until(1_500, |world| world.store(1).has_key(Audience::Keeper, 1));
    assert!(soon, "the key did not come within a second and a half");
}

/// Everyone is a member, and the co-keeper holds the keeper's key.
fn everyone_reads(world: &World<Store>) -> bool {
    (0..world.peers()).all(|peer| {
        let store = world.store(peer);
        store.membership().members().count() == 4
            && store.has_key(Audience::Table, 1)
            && (peer > 1 || store.has_key(Audience::Keeper, 1))
            && world.is_live(peer)
    })
}

/// What users see, without what differs by design: delivery, and which author is oneself.
fn shown(replica: &mut Replica, campaign: CampaignId) -> BTreeMap<EntryId, serde_json::Value> {
    let mut shown = BTreeMap::new();
    for id in replica.entry_ids(campaign).unwrap() {
        let mut view = serde_json::to_value(replica.entry(id).unwrap().unwrap()).unwrap();
        view.as_object_mut().unwrap().remove("delivery");
        strip(&mut view);
        shown.insert(id, view);
    }
    shown
}

fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.remove("self");
            map.values_mut().for_each(strip);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}

fn seeds() -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match number("LORE_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("LORE_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

#[test]
fn whole_replicas_converge_and_lose_no_word_on_every_seed() {
    let seeds = seeds();
    // Two halves at once, each seed a world of its own.
    let refused: usize = std::thread::scope(|scope| {
        let halves: Vec<_> = (0..2)
            .map(|half| {
                let seeds: Vec<_> = seeds.iter().copied().skip(half).step_by(2).collect();
                scope.spawn(move || {
                    let mut refused = 0;
                    for seed in seeds {
                        let telling = Telling(seed);
                        let mut evening = Evening::new(seed);
                        evening.run(seed);
                        evening.assert_converged();
                        refused += evening.told.refused;
                        drop(telling);
                    }
                    refused
                })
            })
            .collect();
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    });
    println!(
        "simulated {} seeds of whole replicas; {refused} stale writes refused",
        seeds.len()
    );
    if seeds.len() > 100 {
        assert!(refused > 0, "the simulation never tried a stale write");
    }
}
