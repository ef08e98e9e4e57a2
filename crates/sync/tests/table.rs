//! The relay's end lets members in and nobody else, and no frame makes it or a peer panic.

#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed

#[allow(dead_code)] // each test program uses its own part
mod common;

use bytes::Bytes;
use common::{Table, founder, table};
use lore_seal::{Audience, InviteSeed, Role};
use lore_sync::sim::{Faults, MemoryStore, Rng, World};
use lore_sync::{
    CloseReason, ConnId, Cursor, Effect, Event, Frame, FrameBuffer, FrameError, Limits, MAX_FRAME,
    PROTOCOL, PeerSession, PeerStore, Refusal, TableCore, TableState, Timing, length_prefix,
    proof_message,
};
use proptest::prelude::*;

fn quiet(seed: u64) -> Table {
    table(seed, Faults::none(), Limits::default(), Timing::default())
}

/// Everything that a stranger hears must be a challenge or the one refusal.
fn assert_learns_nothing(world: &World<MemoryStore>, peer: usize) {
    let heard = world.heard(peer);
    assert!(!heard.is_empty());
    for frame in heard {
        match frame {
            Frame::Challenge { .. } => {}
            Frame::Refused { code, message } => {
                assert_eq!(
                    (code, message.as_str()),
                    (Refusal::NotAMember, "not a member")
                );
            }
            other => panic!("a stranger was told {other:?}"),
        }
    }
}

#[test]
fn a_stranger_learns_nothing_not_even_that_the_table_exists() {
    let mut table = quiet(1);
    table.write(table.keeper, Audience::Table, b"text");
    let campaign = table.world.store(0).membership().campaign();
    let stranger = table
        .world
        .add_peer(MemoryStore::stranger(campaign, [200; 32]));
    let forged = InviteSeed::from_bytes([201; 32]);
    let gatecrasher = MemoryStore::joiner(campaign, [202; 32], forged, 1_000_000).unwrap();
    let gatecrasher = table.world.add_peer(gatecrasher);
    table.world.run(20_000);
    assert_learns_nothing(&table.world, stranger);
    assert_learns_nothing(&table.world, gatecrasher);
    assert_eq!(table.world.relay().membership().members().count(), 6);

    let mut empty = World::new(
        1,
        campaign,
        Faults::none(),
        Limits::default(),
        Timing::default(),
    );
    let stranger = empty.add_peer(MemoryStore::stranger(campaign, [200; 32]));
    empty.run(20_000);
    assert_learns_nothing(&empty, stranger);
    assert!(empty.relay().is_unregistered());
}

#[test]
fn the_holder_of_a_spent_link_is_told_so() {
    let mut table = quiet(2);
    let campaign = table.world.store(0).membership().campaign();
    let spent = InviteSeed::from_bytes([11; 32]);
    let late = MemoryStore::joiner(campaign, [203; 32], spent, 1_000_000).unwrap();
    let late = table.world.add_peer(late);
    table.world.run(5_000);
    let told = |event: &Event| {
        matches!(
            event,
            Event::Refused {
                code: Refusal::InvitationUsedUp,
                ..
            }
        )
    };
    assert!(table.world.events(late).iter().any(told));
    assert!(
        table
            .world
            .store(late)
            .membership()
            .members()
            .next()
            .is_none()
    );
}

#[test]
fn a_relay_does_not_pass_on_what_a_watcher_writes() {
    let mut table = quiet(3);
    let watcher = table.world.peers() - 1;
    let role = |store: &MemoryStore| store.membership().role(&store.secret().id());
    assert_eq!(role(table.world.store(watcher)), Some(Role::Watcher));
    table.write(watcher, Audience::Table, b"graffiti");
    table.world.run(10_000);
    assert!(table.world.disk().is_empty());
    assert!(table.world.store(table.keeper).texts().is_empty());
    let told = |event: &Event| {
        matches!(
            event,
            Event::Refused {
                code: Refusal::NotAllowed,
                ..
            }
        )
    };
    assert!(table.world.events(watcher).iter().any(told));
}

/// One connection to a core, driven by hand.
struct Line {
    core: TableCore,
    store: MemoryStore,
    session: PeerSession,
    appends: Vec<lore_sync::Token>,
    closed: Option<CloseReason>,
    refused: Vec<Refusal>,
}

const CONN: ConnId = ConnId(1);

impl Line {
    fn new(limits: Limits) -> Self {
        let store = founder(4);
        let campaign = store.membership().campaign();
        let device = store.secret().id();
        let mut core = TableCore::new(campaign, TableState::default(), limits);
        core.connected(CONN, 0, [1; 32]);
        let mut session = PeerSession::new(campaign, device, [2; 32], Timing::default());
        session.start(0);
        let mut line = Self {
            core,
            store,
            session,
            appends: Vec::new(),
            closed: None,
            refused: Vec::new(),
        };
        line.exchange(0);
        line
    }

    /// Passes frames both ways until nobody has any; writes stay unanswered.
    fn exchange(&mut self, now: i64) {
        loop {
            let mut moved = false;
            while let Some(frame) = self.session.poll_transmit() {
                moved = true;
                self.core.frame(CONN, &frame, now);
            }
            while let Some(effect) = self.core.poll() {
                moved = true;
                match effect {
                    Effect::Send { conn, frame } => {
                        self.core.flushed(conn, frame.len(), now);
                        if let Ok(Frame::Refused { code, .. }) = Frame::decode(&frame) {
                            self.refused.push(code);
                        }
                        self.session.on_frame(&frame, &mut self.store, now).unwrap();
                    }
                    Effect::Append { token, .. } => self.appends.push(token),
                    Effect::PutStatements { token, .. } => self.core.appended(token),
                    Effect::Close { reason, .. } => self.closed = Some(reason),
                    Effect::Read { .. } => {}
                }
            }
            if !moved {
                return;
            }
        }
    }

    fn write(&mut self, count: u8) {
        for n in 0..count {
            self.store.write(Audience::Table, &[n], [n; 24]).unwrap();
        }
        self.session.on_local_change(&mut self.store, 0).unwrap();
        self.exchange(0);
    }
}

#[test]
fn an_acknowledgement_waits_for_the_disk() {
    let mut line = Line::new(Limits::default());
    line.write(3);
    assert_eq!(line.appends.len(), 1);
    assert!(line.session.acked().is_empty());
    for token in std::mem::take(&mut line.appends) {
        line.core.appended(token);
    }
    line.exchange(0);
    assert_eq!(line.session.acked(), &line.store.cursor().unwrap());
}

#[test]
fn writes_that_are_answered_out_of_order_are_acknowledged_in_order() {
    let mut line = Line::new(Limits::default());
    line.write(1);
    line.write(1);
    let [first, second] = line.appends[..] else {
        panic!("two writes");
    };
    line.core.appended(second);
    line.exchange(0);
    assert!(line.session.acked().is_empty());
    line.core.appended(first);
    line.exchange(0);
    assert_eq!(line.session.acked(), &line.store.cursor().unwrap());
}

#[test]
fn a_failed_write_closes_the_table_and_loses_nothing() {
    let mut line = Line::new(Limits::default());
    line.write(2);
    line.core.append_failed(line.appends[0]);
    line.exchange(0);
    assert_eq!(line.closed, Some(CloseReason::StorageFailed));
    assert!(line.core.has_failed() && line.session.is_ended());
    assert!(line.session.acked().is_empty());
    line.core.connected(ConnId(2), 0, [3; 32]);
    let refused = std::iter::from_fn(|| line.core.poll()).any(|effect| {
        effect
            == Effect::Close {
                conn: ConnId(2),
                reason: CloseReason::Refused(Refusal::Unavailable),
            }
    });
    assert!(refused, "until it is opened anew");
    // Opened anew from a store that holds nothing, it gets everything again.
    let again = Line {
        store: line.store,
        ..Line::new(Limits::default())
    };
    let device = again.store.secret().id();
    let mut again = Line {
        session: PeerSession::new(again.core.campaign(), device, [5; 32], Timing::default()),
        ..again
    };
    again.core.disconnected(CONN);
    again.core.connected(CONN, 0, [1; 32]);
    again.session.start(0);
    again.exchange(0);
    assert_eq!(again.appends.len(), 1);
}

#[test]
fn beyond_its_allowance_a_device_waits_and_then_gets_through() {
    let limits = Limits {
        burst: 10,
        per_second: 5,
        ..Limits::default()
    };
    let mut line = Line::new(limits);
    line.write(20);
    assert!(line.refused.contains(&Refusal::RateLimited));
    assert!(!line.session.is_ended());
    for step in 1..200 {
        line.session.tick(&mut line.store, step * 500).unwrap();
        line.core.tick(step * 500);
        line.exchange(step * 500);
        for token in std::mem::take(&mut line.appends) {
            line.core.appended(token);
        }
    }
    assert_eq!(line.core.durable(), &line.store.cursor().unwrap());
}

#[test]
fn too_many_connections_and_silent_ones_are_closed() {
    let store = founder(4);
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let mut core = TableCore::new(store.membership().campaign(), TableState::default(), limits);
    core.connected(ConnId(1), 0, [0; 32]);
    core.connected(ConnId(2), 0, [0; 32]);
    core.tick(9_999);
    core.tick(10_000);
    let closed: Vec<_> = std::iter::from_fn(|| core.poll())
        .filter_map(|effect| match effect {
            Effect::Close { conn, reason } => Some((conn.0, reason)),
            _ => None,
        })
        .collect();
    assert_eq!(
        closed,
        [
            (2, CloseReason::Refused(Refusal::Full)),
            (1, CloseReason::Handshake)
        ]
    );
    assert!(core.is_idle());
}

#[test]
fn a_proof_for_another_connection_is_refused() {
    let store = founder(4);
    let (campaign, device) = (store.membership().campaign(), store.secret().id());
    let mut core = TableCore::new(campaign, TableState::default(), Limits::default());
    core.connected(CONN, 0, [1; 32]);
    let hello = Frame::Hello {
        protocol: PROTOCOL,
        campaign,
        device,
        nonce: [2; 32],
    };
    core.frame(CONN, &hello.encode().unwrap(), 0);
    let replayed = store.secret().sign(
        "lore/prove/1",
        &proof_message(campaign, device, &[2; 32], &[9; 32]),
    );
    let credentials = store
        .membership()
        .statements()
        .map(|s| Bytes::from(s.encode()))
        .collect();
    let prove = Frame::Prove {
        signature: replayed,
        statements: [0; 32],
        credentials,
    };
    core.frame(CONN, &prove.encode().unwrap(), 0);
    let last = std::iter::from_fn(|| core.poll()).last();
    let reason = CloseReason::Refused(Refusal::NotAMember);
    assert_eq!(last, Some(Effect::Close { conn: CONN, reason }));
    assert!(core.is_unregistered());
}

proptest! {
    #[test]
    fn frames_are_cut_from_a_stream_however_it_was_split(
        bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..8),
        cuts in proptest::collection::vec(1_usize..50, 1..40),
    ) {
        let mut stream = Vec::new();
        for body in &bodies {
            stream.extend_from_slice(&length_prefix(body));
            stream.extend_from_slice(body);
        }
        let mut buffer = FrameBuffer::new();
        let (mut out, mut rest, mut cuts) = (Vec::new(), stream.as_slice(), cuts.into_iter().cycle());
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(cuts.next().unwrap().min(rest.len()));
            rest = tail;
            buffer.push(head);
            while let Some(frame) = buffer.next().unwrap() {
                out.push(frame.to_vec());
            }
        }
        prop_assert_eq!(out, bodies);
    }

    #[test]
    fn hostile_bytes_are_frames_or_errors(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut versioned = vec![1];
        versioned.extend_from_slice(&bytes);
        if let Ok(frame) = Frame::decode(&versioned) {
            prop_assert_eq!(Frame::decode(&frame.encode().unwrap()), Ok(frame));
        }
    }

    #[test]
    fn a_mutated_conversation_panics_neither_end(seed in any::<u64>(), tries in 1_usize..40) {
        let mut rng = Rng::new(seed);
        let mut line = Line::new(Limits::default());
        line.write(4);
        let have = |answer| Frame::Have { cursor: line.store.cursor().unwrap(), statements: [0; 32], answer };
        let envelopes = line.store.envelopes_after(&Cursor::new(), 10_000).unwrap();
        let sample: Vec<Bytes> = [
            have(true),
            Frame::Envelopes(envelopes),
            Frame::Statements(line.store.membership().statements().map(|s| s.encode().into()).collect()),
            Frame::Ack(line.store.cursor().unwrap()),
            Frame::Ping(1),
            Frame::Challenge { nonce: [1; 32] },
            Frame::Gone { device: line.store.secret().id() },
        ]
        .iter()
        .map(|frame| frame.encode().unwrap())
        .collect();
        for _ in 0..tries {
            let mut bytes = sample[rng.below(sample.len() as u64) as usize].to_vec();
            for _ in 0..rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.word() as u8;
            }
            line.core.frame(CONN, &bytes, 0);
            let _ = line.session.on_frame(&bytes, &mut line.store, 0);
            while line.core.poll().is_some() {}
            while line.session.poll_transmit().is_some() {}
            while line.session.poll_event().is_some() {}
        }
        prop_assert_eq!(line.store.texts().len(), 4, "nothing unsigned came in");
    }
}

#[test]
fn an_announced_length_beyond_the_limit_ends_the_stream() {
    let mut buffer = FrameBuffer::new();
    buffer.push(&((MAX_FRAME as u32) + 1).to_be_bytes());
    assert_eq!(buffer.next(), Err(FrameError::TooLarge));
    assert_eq!(Frame::decode(&[2, 0]), Err(FrameError::Version(2)));
}
