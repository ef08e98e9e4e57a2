//! A table for tests: a keeper, a co-keeper, two players, a scribe and a watcher on one relay.

use lore_seal::{Audience, CampaignId, InviteSeed, Role};
use lore_sync::sim::{Faults, MemoryStore, World};
use lore_sync::{Cursor, Limits, PeerStore, Timing};

/// A world with its peers' parts.
pub(crate) struct Table {
    /// The world.
    pub(crate) world: World<MemoryStore>,
    /// The keeper's index.
    pub(crate) keeper: usize,
    /// Everyone who may write to the table, the keeper first.
    pub(crate) writers: Vec<usize>,
}

/// The campaign of [`table`]'s keeper for a seed.
pub(crate) fn founder(seed: u64) -> MemoryStore {
    let mut bytes = [1; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    MemoryStore::keeper(bytes, [2; 32], [3; 32]).unwrap()
}

/// A table at which everyone has joined.
pub(crate) fn table(seed: u64, faults: Faults, limits: Limits, timing: Timing) -> Table {
    let mut keeper = founder(seed);
    let campaign: CampaignId = keeper.membership().campaign();
    let roles = [
        Role::CoKeeper,
        Role::Player,
        Role::Player,
        Role::Scribe,
        Role::Watcher,
    ];
    let mut joiners = Vec::new();
    for (index, role) in roles.into_iter().enumerate() {
        let number = index as u8 + 10;
        let invitation = InviteSeed::from_bytes([number; 32]);
        keeper.invite(&invitation, role, 1, [number; 32]).unwrap();
        let store = MemoryStore::joiner(campaign, [number + 100; 32], invitation, 1_000_000);
        joiners.push(store.unwrap());
    }
    let mut world = World::new(seed, campaign, Faults::none(), limits, timing);
    let keeper = world.add_peer(keeper);
    world.run(1_000);
    let joined: Vec<_> = joiners
        .into_iter()
        .map(|store| world.add_peer(store))
        .collect();
    let everyone = world.run_until(30_000, |world| {
        world.store(keeper).membership().members().count() == roles.len() + 1
    });
    assert!(everyone, "not everyone joined");
    world
        .change(keeper, |store, rng, _| store.grant(rng.bytes()))
        .unwrap();
    world.run(2_000);
    world.set_faults(faults);
    let (_watcher, others) = joined.split_last().unwrap();
    Table {
        world,
        keeper,
        writers: std::iter::once(keeper)
            .chain(others.iter().copied())
            .collect(),
    }
}

impl Table {
    /// Writes one envelope.
    pub(crate) fn write(&mut self, peer: usize, audience: Audience, text: &[u8]) {
        let written = self.world.change(peer, |store, rng, _| {
            store.write(audience, text, rng.bytes())
        });
        assert!(written.unwrap(), "peer {peer} has no key");
    }

    /// Ends every partition, and brings everyone back.
    pub(crate) fn heal(&mut self) {
        for peer in 0..self.world.peers() {
            self.world.set_partitioned(peer, false);
            self.world.set_online(peer, true);
        }
    }

    /// Where everyone stands, for a failed assertion.
    pub(crate) fn describe(&self) -> String {
        let relay = format!(
            "relay: {} envelopes",
            self.world.disk().surplus(&Cursor::new())
        );
        let peers = (0..self.world.peers()).map(|peer| {
            let store = self.world.store(peer);
            let cursor = store.cursor().unwrap();
            format!(
                "peer {peer} {:?}: {} envelopes, the relay lacks {}, live: {}, {} statements, last event {:?}",
                store.membership().role(&store.secret().id()),
                cursor.surplus(&Cursor::new()),
                cursor.surplus(&self.world.disk()),
                self.world.is_live(peer),
                store.membership().statements().count(),
                self.world.events(peer).last(),
            )
        });
        std::iter::once(relay)
            .chain(peers)
            .collect::<Vec<_>>()
            .join("\n")
    }
}
