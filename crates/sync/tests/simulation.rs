//! Replicas converge over a virtual network, whatever goes wrong on the way.

#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed

#[allow(dead_code)] // each test program uses its own part
mod common;

use std::collections::BTreeMap;

use common::{Table, table};
use lore_seal::{Audience, Role};
use lore_sync::sim::{Faults, MemoryStore, Rng, World};
use lore_sync::{Cursor, Limits, PeerStore, Stream, Timing};

/// How many seeds a run tries; `LORE_SEEDS` sets another number, `LORE_SEED` one seed alone.
const SEEDS: u64 = 300;

fn seeds() -> Vec<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    match number("LORE_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("LORE_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

/// Prints the seed of the run in which a test failed.
struct Telling(u64);

impl Drop for Telling {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failing seed: {0} (run with LORE_SEED={0})", self.0);
        }
    }
}

/// One bad evening: people write, links break, the relay restarts, in an order that the seed gives.
fn evening(seed: u64) -> Table {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let mut table = table(seed, Faults::bad(), Limits::default(), Timing::default());
    let steps = rng.between(20, 60);
    for step in 0..steps {
        let peer = rng.below(table.writers.len() as u64) as usize;
        let peer = table.writers[peer];
        match rng.below(100) {
            0..60 => {
                let count = rng.between(1, 4);
                for n in 0..count {
                    let text = format!("{seed} {step} {n} by {peer}");
                    table.write(peer, Audience::Table, text.as_bytes());
                }
            }
            60..66 => table.write(
                table.keeper,
                Audience::Keeper,
                format!("secret {step}").as_bytes(),
            ),
            66..74 => table.world.set_partitioned(peer, true),
            74..84 => table.heal(),
            84..89 => table.world.set_online(peer, false),
            89..93 => table.world.restart_peer(peer, |_| ()),
            93..97 => table.world.restart_relay(),
            97..98 => table.world.wipe_relay(),
            _ => table.world.run(5_000),
        }
        let pause = rng.between(1, 1_500);
        table.world.run(pause as i64);
    }
    table
}

/// Everything reaches everyone who may read it, and the relay's disk.
fn assert_converges(table: &mut Table) {
    table.heal();
    table.world.set_faults(Faults {
        disk_failure: 0,
        disconnection: 0,
        ..Faults::bad()
    });
    let reached = table.world.run_until(600_000, World::has_converged);
    assert!(reached, "no convergence: {}", table.describe());
    let world = &table.world;
    assert_eq!(world.violations(), &[] as &[String]);
    let mut logs: BTreeMap<Stream, Vec<_>> = BTreeMap::new();
    for peer in 0..world.peers() {
        let store = world.store(peer);
        for (stream, number) in store.cursor().unwrap().iter() {
            let log = store.log(stream);
            assert_eq!(log.len() as u64, number);
            assert_eq!(world.disk_log(stream), log, "the relay holds another log");
            assert_eq!(logs.entry(stream).or_insert_with(|| log.clone()), &log);
        }
        assert_eq!(
            store.handed_over().values().find(|times| **times > 1),
            None,
            "an envelope was handed over twice"
        );
    }
}

#[test]
fn every_seed_converges_to_equal_logs_and_nothing_is_delivered_twice() {
    let seeds = seeds();
    let mut frames = 0;
    for seed in &seeds {
        let telling = Telling(*seed);
        let mut table = evening(*seed);
        assert_converges(&mut table);
        frames += table.world.frames();
        drop(telling);
    }
    println!("simulated {} seeds, {frames} frames", seeds.len());
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in [3, 77, 1_024] {
        let runs = [evening(seed), evening(seed)].map(|table| table.world.trace());
        assert_eq!(runs[0], runs[1], "seed {seed}");
    }
    assert_ne!(evening(3).world.trace(), evening(4).world.trace());
}

#[test]
fn a_secret_reaches_no_one_but_keepers() {
    let mut table = evening(11);
    table.write(table.keeper, Audience::Keeper, b"the duke is the murderer");
    assert_converges(&mut table);
    let keepers = table.world.store(table.keeper);
    let secrets = |store: &MemoryStore| {
        let texts = store.texts().keys();
        texts
            .filter(|(stream, _)| stream.audience == Audience::Keeper)
            .count()
    };
    assert!(secrets(keepers) > 0);
    for peer in 0..table.world.peers() {
        let store = table.world.store(peer);
        let role = store.membership().role(&store.secret().id());
        if role.is_some_and(Role::keeps) {
            assert_eq!(secrets(store), secrets(keepers), "peer {peer} is {role:?}");
        } else {
            assert_eq!(secrets(store), 0, "peer {peer} is {role:?}");
        }
    }
}

#[test]
fn what_was_acknowledged_survives_the_relay() {
    for seed in 0..40 {
        let _telling = Telling(seed);
        let mut table = table(seed, Faults::bad(), Limits::default(), Timing::default());
        let mut acked = Cursor::new();
        for step in 0..30 {
            for peer in table.writers.clone() {
                table.write(peer, Audience::Table, format!("{step}").as_bytes());
            }
            table.world.run(200);
            for peer in 0..table.world.peers() {
                for event in table.world.events(peer) {
                    if let lore_sync::Event::Acked(cursor) = event {
                        acked.merge(cursor);
                    }
                }
            }
            if step % 7 == 6 {
                table.world.restart_relay();
            }
            assert!(table.world.disk().covers(&acked), "step {step}");
        }
        assert!(!acked.is_empty());
        assert_eq!(table.world.violations(), &[] as &[String]);
    }
}

#[test]
fn a_relay_that_lost_its_disk_is_refilled_by_any_peer() {
    let mut table = table(5, Faults::none(), Limits::default(), Timing::default());
    for n in 0..50 {
        table.write(table.writers[1], Audience::Table, format!("{n}").as_bytes());
    }
    assert!(table.world.run_until(60_000, World::has_converged));
    // The author is away; the others bring its log back.
    table.world.set_online(table.writers[1], false);
    table.world.wipe_relay();
    assert!(table.world.disk().is_empty());
    let whole = table.world.store(table.keeper).cursor().unwrap();
    let readable = |world: &World<MemoryStore>| world.disk().covers(&whole);
    assert!(table.world.run_until(60_000, readable));
}

#[test]
fn a_slow_connection_is_resynchronised_by_cursor_and_converges() {
    let limits = Limits {
        queue_bytes: 16 << 10,
        read_bytes: 4 << 10,
        ..Limits::default()
    };
    let mut table = table(6, Faults::none(), limits, Timing::default());
    let slow = table.writers[2];
    table.world.set_speed(slow, 2);
    let mut rng = Rng::new(1);
    for _ in 0..200 {
        let text: [u8; 600] = rng.bytes();
        table.write(table.writers[1], Audience::Table, &text);
        table.world.run(5);
    }
    // Everyone else is not held up by it.
    let author = table.world.store(table.writers[1]).cursor().unwrap();
    table.world.run(1_000);
    let quick = table.world.store(table.keeper).cursor().unwrap();
    assert!(quick.covers(&author));
    assert!(!table.world.store(slow).cursor().unwrap().covers(&author));
    assert!(table.world.run_until(600_000, World::has_converged));
    let ended = |event: &lore_sync::Event| matches!(event, lore_sync::Event::Refused { .. });
    assert!(
        !table.world.events(slow).iter().any(ended),
        "it was not thrown out"
    );
    assert_eq!(table.world.violations(), &[] as &[String]);
}

#[test]
fn one_refused_envelope_stalls_its_author_alone() {
    let mut table = table(8, Faults::none(), Limits::default(), Timing::default());
    let (forger, honest, reader) = (table.writers[1], table.writers[2], table.keeper);
    table
        .world
        .change(reader, |store, _, _| store.refuses = b"forged".to_vec());
    table.write(forger, Audience::Table, b"fine");
    table.write(forger, Audience::Table, b"forged");
    table.write(forger, Audience::Table, b"after");
    table.write(honest, Audience::Table, b"honest");
    table.world.run(5_000);
    table.write(honest, Audience::Table, b"honest again");
    table.world.run(60_000);
    let device = |peer: usize| table.world.store(peer).secret().id();
    let stream = |peer| Stream {
        audience: Audience::Table,
        device: device(peer),
    };
    let cursor = table.world.store(reader).cursor().unwrap();
    assert_eq!(cursor.get(stream(forger)), 1);
    assert_eq!(cursor.get(stream(honest)), 2);
    let handed = table.world.store(reader).handed_over();
    assert_eq!(
        handed.get(&(stream(forger), 2)),
        Some(&1),
        "it is not asked for again"
    );
    let told = table.world.events(reader).iter().any(|event| {
        matches!(event, lore_sync::Event::Delivered(received)
            if received.rejected.iter().any(|r| r.stream == stream(forger) && r.number == 2))
    });
    assert!(told);
}

#[test]
fn presence_is_seen_by_all_and_ends_with_the_connection() {
    let mut table = table(9, Faults::none(), Limits::default(), Timing::default());
    let (shown, watching) = (table.writers[1], table.writers[2]);
    table
        .world
        .show(shown, bytes::Bytes::from_static(b"sealed"));
    table.world.run(1_000);
    let device = table.world.store(shown).secret().id();
    let seen = lore_sync::Event::Presence {
        device,
        sealed: bytes::Bytes::from_static(b"sealed"),
    };
    assert!(table.world.events(watching).contains(&seen));
    assert!(
        !table.world.events(shown).contains(&seen),
        "not back to itself"
    );
    // Who comes later sees it too.
    table.world.restart_peer(watching, |_| ());
    table.world.run(2_000);
    let times = table
        .world
        .events(watching)
        .iter()
        .filter(|event| **event == seen)
        .count();
    assert!(times >= 2);
    table.world.set_online(shown, false);
    table.world.run(1_000);
    assert!(
        table
            .world
            .events(watching)
            .contains(&lore_sync::Event::Gone { device })
    );
}
