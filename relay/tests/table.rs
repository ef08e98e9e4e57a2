//! Real sessions over every entrance of the real relay.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::{io::Write as _, path::Path};

use bytes::Bytes;
use lore_sync::PeerStore as _;

use common::{
    RelayProcess,
    client::{Device, Transport, WAYS, Way},
    get,
};

const SECRET: &str = "the well at Low Mallow is tainted";

/// A keeper and a player, connected, each having seen the other's first words.
async fn seated(relay: &RelayProcess, ways: [Way; 2]) -> (Device, Device) {
    let mut keeper = Device::keeper(10);
    let seed = keeper.invite(60);
    keeper.write(SECRET);
    keeper.connect(relay, ways[0]).await;
    assert!(keeper.until("the keeper's ack", |d| d.acked() == 1).await);
    let mut player = Device::joiner(&keeper, 30, &seed);
    player.connect(relay, ways[1]).await;
    assert!(player.until("the catch-up", |d| d.has(SECRET)).await);
    (keeper, player)
}

/// Every byte in the data directory, the journal included.
fn bytes_of(directory: &Path) -> Vec<u8> {
    std::fs::read_dir(directory)
        .unwrap()
        .flat_map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect()
}

#[tokio::test]
async fn two_devices_exchange_envelopes_over_every_pair_of_entrances() {
    for first in WAYS {
        for second in WAYS {
            let data = tempfile::tempdir().unwrap();
            let relay = RelayProcess::start(data.path());
            let (mut keeper, mut player) = seated(&relay, [first, second]).await;
            player.write("nobody drinks from it");
            assert!(player.until("the player's ack", |d| d.acked() == 1).await);
            let heard = keeper
                .until("the fan-out", |d| d.has("nobody drinks from it"))
                .await;
            assert!(heard, "{first:?} to {second:?}");
        }
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(data.path());
    let (mut keeper, mut player) = seated(&relay, [Way::Quic, Way::WebSocket]).await;
    for round in 0..20 {
        keeper.write(&format!("round {round}"));
    }
    assert!(keeper.until("every ack", |d| d.acked() == 21).await);
    relay.kill();
    keeper.disconnect();
    player.disconnect();
    let relay = RelayProcess::start(data.path());
    // The keeper is away: all of it comes from the relay's disk.
    player.connect(&relay, Way::WebTransport).await;
    let all = player
        .until("the catch-up from disk", |d| d.store.texts().len() == 21)
        .await;
    assert!(all);
}

#[tokio::test]
async fn a_relay_that_lost_its_store_is_refilled_by_a_peer() {
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(data.path());
    let (_keeper, mut player) = seated(&relay, [Way::Quic, Way::Quic]).await;
    relay.kill();
    let empty = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(empty.path());
    player.connect(&relay, Way::Quic).await;
    player.write("still here");
    assert!(player.until("the player's ack", |d| d.acked() == 1).await);
    // The keeper's first words came back with the player; a fresh device of the keeper gets them.
    let mut again = Device::keeper(10);
    again.connect(&relay, Way::WebSocket).await;
    let back = again
        .until("the refill", |d| d.has(SECRET) && d.has("still here"))
        .await;
    assert!(back);
}

#[tokio::test]
async fn strangers_get_nothing() {
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(data.path());
    let (mut keeper, _player) = seated(&relay, [Way::Quic, Way::Quic]).await;
    for way in WAYS {
        let mut stranger = Device::stranger(&keeper, 99);
        stranger.connect(&relay, way).await;
        let served = stranger.until("the refusal", Device::is_open).await;
        assert!(!served, "{way:?}");
        assert!(stranger.refused, "{way:?}");
        assert!(stranger.store.texts().is_empty());
        assert_eq!(stranger.store.membership().members().count(), 0);
    }
    // And the table goes on.
    keeper.write("undisturbed");
    assert!(keeper.until("an ack", |d| d.acked() == 2).await);
}

#[tokio::test]
async fn sigterm_tells_everyone_and_keeps_everything() {
    let data = tempfile::tempdir().unwrap();
    let mut relay = RelayProcess::start(data.path());
    let (keeper, player) = seated(&relay, [Way::WebTransport, Way::WebSocket]).await;
    relay.signal_term();
    let (web_transport, web_socket) = tokio::join!(
        keeper.into_transport().closing_code(),
        player.into_transport().closing_code()
    );
    assert_eq!(web_transport, Some(1));
    assert_eq!(web_socket, Some(4001));
    assert!(relay.wait().success());
    assert!(!data.path().join("relay.db-wal").exists());
    let relay = RelayProcess::start(data.path());
    let mut again = Device::keeper(10);
    again.connect(&relay, Way::Quic).await;
    assert!(again.until("the words", |d| d.has(SECRET)).await);
}

#[tokio::test]
async fn garbage_on_every_entrance_disturbs_nobody() {
    let data = tempfile::tempdir().unwrap();
    let mut relay = RelayProcess::start(data.path());
    let (mut keeper, mut player) = seated(&relay, [Way::Quic, Way::WebSocket]).await;

    let mut pieces: Vec<Bytes> = vec![
        Bytes::from_static(&[0xff; 64]),         // a length beyond the limit
        Bytes::from_static(&[0, 0, 0, 2, 9, 9]), // a frame of an unknown version
        Bytes::from_static(&[0, 0, 0, 0]),       // an empty frame
        Bytes::from_static(b"GET / HTTP/1.1\r\n\r\n"),
        Bytes::from(vec![1; 300_000]),
    ];
    for length in [1, 5, 100, 5_000] {
        let mut noise = vec![0; length];
        getrandom::fill(&mut noise).unwrap();
        pieces.push(noise.into());
    }
    for way in WAYS {
        for piece in &pieces {
            let mut transport = Transport::open(&relay, way).await;
            transport.send_raw(piece.clone()).await;
            transport.send_raw(piece.clone()).await;
        }
        // In the middle of a handshake that began well.
        let mut rude = Device::stranger(&keeper, 77);
        rude.connect(&relay, way).await;
        rude.until("the refusal", Device::is_open).await;
    }
    // On the bare sockets.
    let mut tcp = std::net::TcpStream::connect(relay.address).unwrap();
    tcp.write_all(&[0x16, 3, 1, 0xff, 0xff]).unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    for length in [1, 20, 1200] {
        udp.send_to(&vec![0xc3; length], relay.address).unwrap();
    }

    assert!(relay.is_running());
    assert_eq!(get(relay.address, "/health", &[]).body, b"ok\n");
    keeper.write("undisturbed");
    assert!(keeper.until("an ack", |d| d.acked() == 2).await);
    assert!(player.until("the words", |d| d.has("undisturbed")).await);
}

#[tokio::test]
async fn the_store_holds_no_word_of_the_lore() {
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(data.path());
    let (keeper, _player) = seated(&relay, [Way::Quic, Way::Quic]).await;
    let everything = bytes_of(data.path());
    let holds = |needle: &[u8]| {
        everything
            .windows(needle.len())
            .any(|window| window == needle)
    };
    // What must be there is found by the same search.
    assert!(holds(keeper.store.membership().campaign().as_bytes()));
    for word in ["tainted", "Mallow", "well at"] {
        assert!(!holds(word.as_bytes()), "{word}");
    }
}

#[tokio::test]
async fn a_full_relay_takes_no_further_campaign_but_keeps_serving() {
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start_with(data.path(), &["--max-campaigns", "1"]);
    let (mut keeper, _player) = seated(&relay, [Way::Quic, Way::Quic]).await;
    let mut other = Device::keeper(120);
    other.write("elsewhere");
    other.connect(&relay, Way::WebSocket).await;
    assert!(!other.until("the refusal", |d| d.acked() == 1).await);
    keeper.write("more");
    assert!(keeper.until("an ack", |d| d.acked() == 2).await);
}
