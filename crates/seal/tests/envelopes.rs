//! An envelope opens for whom it was sealed, unaltered, and for nobody else.

#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed

use std::io::Write;

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use flate2::write::DeflateEncoder;
use lore_seal::{
    Audience, CampaignId, DeviceSecret, Envelope, EnvelopeError, EpochKey, Header, MAX_PLAINTEXT,
    MAX_PRESENCE, PresenceError, open_presence, padded_length, seal_presence,
};
use proptest::prelude::*;

fn secret(n: u8) -> DeviceSecret {
    DeviceSecret::from_seed([n; 32])
}

fn key(n: u8) -> EpochKey {
    EpochKey::from_bytes([n; 32])
}

fn header() -> Header {
    Header {
        campaign: CampaignId::from_bytes([9; 16]),
        audience: Audience::Table,
        epoch: 1,
        device: secret(1).id(),
        number: 2,
        prev: [3; 32],
    }
}

fn sealed(header: Header, text: &[u8]) -> Envelope {
    Envelope::seal(header, &key(5), &secret(1), text, [8; 24]).unwrap()
}

#[test]
fn a_sealed_envelope_survives_its_encoding_and_opens() {
    let long = vec![7; 100_000];
    for text in [&b""[..], b"a", &long] {
        let envelope = sealed(header(), text);
        let read = Envelope::decode(envelope.as_bytes()).unwrap();
        assert_eq!(read, envelope);
        assert_eq!(read.header(), &header());
        assert_eq!(Envelope::peek(envelope.as_bytes()).unwrap(), header());
        read.verify().unwrap();
        assert_eq!(read.open(&key(5)).unwrap(), text);
    }
}

#[test]
fn every_altered_bit_is_refused() {
    let bytes = sealed(header(), b"the wells are tainted").encode();
    for position in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut altered = bytes.clone();
            altered[position] ^= bit;
            let outcome = Envelope::decode(&altered).and_then(|envelope| envelope.verify());
            assert!(outcome.is_err(), "byte {position} bit {bit:#x}");
        }
    }
}

#[test]
fn a_resigned_header_still_does_not_open() {
    // Whoever has a signing key, but not the epoch key, moves a body under another header.
    let original = sealed(header(), b"text").encode();
    let attacker = secret(2);
    let donor = Header {
        device: attacker.id(),
        ..header()
    };
    let own = Envelope::seal(donor, &key(6), &attacker, b"text", [8; 24]).unwrap();
    let mut forged = own.encode();
    let body = 109 + 4..original.len() - 64;
    forged[body.clone()].copy_from_slice(&original[body]);
    let forged = Envelope::decode(&forged).unwrap();
    assert_eq!(forged.verify(), Err(EnvelopeError::Signature));
    assert!(forged.open(&key(5)).is_err());
}

#[test]
fn a_body_opens_under_no_other_header() {
    let base = sealed(header(), b"text");
    let variants = [
        Header {
            campaign: CampaignId::from_bytes([0; 16]),
            ..header()
        },
        Header {
            audience: Audience::Keeper,
            ..header()
        },
        Header {
            epoch: 2,
            ..header()
        },
        Header {
            number: 3,
            ..header()
        },
        Header {
            prev: [4; 32],
            ..header()
        },
    ];
    for variant in variants {
        let other = sealed(variant, b"text");
        assert_eq!(other.as_bytes().len(), base.as_bytes().len());
        let mut moved = other.encode();
        let body = moved.len() - 64 - (base.as_bytes().len() - 109 - 4 - 64)..moved.len() - 64;
        moved[body.clone()].copy_from_slice(&base.as_bytes()[body]);
        let moved = Envelope::decode(&moved).unwrap();
        assert_eq!(
            moved.open(&key(5)),
            Err(EnvelopeError::WrongKey),
            "{variant:?}"
        );
    }
}

#[test]
fn the_commitment_tells_a_wrong_key_from_an_altered_text() {
    let envelope = sealed(header(), b"text");
    assert_eq!(envelope.open(&key(6)), Err(EnvelopeError::WrongKey));
    let mut altered = envelope.encode();
    let position = altered.len() - 64 - 1;
    altered[position] ^= 1;
    let altered = Envelope::decode(&altered).unwrap();
    assert_eq!(altered.open(&key(5)), Err(EnvelopeError::Sealed));
}

#[test]
fn only_the_headers_device_can_seal() {
    let outcome = Envelope::seal(header(), &key(5), &secret(2), b"", [0; 24]);
    assert_eq!(outcome, Err(EnvelopeError::WrongDevice));
    for (number, prev) in [
        (0, [0; 32]),
        (1, [1; 32]),
        (2, [0; 32]),
        (u64::MAX, [1; 32]),
    ] {
        let odd = Header {
            number,
            prev,
            ..header()
        };
        let outcome = Envelope::seal(odd, &key(5), &secret(1), b"", [0; 24]);
        assert_eq!(outcome, Err(EnvelopeError::Header), "{number}");
    }
}

#[test]
fn a_chain_hash_covers_header_body_and_signature() {
    let first = sealed(header(), b"text");
    assert_eq!(first.chain_hash(), sealed(header(), b"text").chain_hash());
    assert_ne!(first.chain_hash(), sealed(header(), b"other").chain_hash());
    let next = Header {
        number: 3,
        ..header()
    };
    assert_ne!(first.chain_hash(), sealed(next, b"text").chain_hash());
}

#[test]
fn padding_hides_lengths_within_a_class() {
    assert_eq!(
        sealed(header(), b"a").as_bytes().len(),
        sealed(header(), b"quite a bit longer").as_bytes().len(),
    );
    for length in 0..20_000 {
        let padded = padded_length(length);
        assert!(padded >= length.max(128));
        assert!(
            padded <= 128 || padded - length <= length * 12 / 100,
            "{length}"
        );
        assert_eq!(padded_length(padded), padded, "a class is closed");
    }
    let classes: std::collections::BTreeSet<_> = (0..20_000).map(padded_length).collect();
    assert!(classes.len() < 130, "{}", classes.len());
}

#[test]
fn more_than_the_limit_is_not_sealed() {
    let much = vec![0; MAX_PLAINTEXT + 1];
    let outcome = Envelope::seal(header(), &key(5), &secret(1), &much, [0; 24]);
    assert_eq!(outcome, Err(EnvelopeError::TooLarge));
    let envelope = sealed(header(), &much[..MAX_PLAINTEXT]);
    assert_eq!(envelope.open(&key(5)).unwrap().len(), MAX_PLAINTEXT);
}

/// A presence message made by hand, as `docs/protocol.md` describes it.
fn handmade_presence(kind: u8, payload: &[u8]) -> Vec<u8> {
    let (campaign, device) = (header().campaign, secret(1).id());
    let context = [campaign.as_bytes().as_slice(), device.as_bytes()].concat();
    let mut derived = [0; 32];
    hkdf::Hkdf::<sha2::Sha256>::new(Some(b"lore/presence/1"), key(5).expose())
        .expand(&context, &mut derived)
        .unwrap();
    let mut packed = vec![kind];
    packed.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    packed.extend_from_slice(payload);
    packed.resize(padded_length(packed.len()), 0);
    let sealing = Payload {
        msg: &packed,
        aad: &context,
    };
    let sealed = XChaCha20Poly1305::new(&derived.into()).encrypt(&[2; 24].into(), sealing);
    [&[2; 24], sealed.unwrap().as_slice()].concat()
}

#[test]
fn a_small_message_that_inflates_beyond_the_limit_is_refused() {
    let open = |sealed: &[u8]| open_presence(&key(5), header().campaign, secret(1).id(), sealed);
    let deflated = |size: usize| {
        let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; size]).unwrap();
        encoder.finish().unwrap()
    };
    let fits = handmade_presence(1, &deflated(MAX_PRESENCE));
    assert_eq!(open(&fits).unwrap(), vec![0; MAX_PRESENCE]);
    let bomb = handmade_presence(1, &deflated(1 << 20));
    assert!(bomb.len() < MAX_PRESENCE);
    assert_eq!(open(&bomb), Err(PresenceError::Sealed));
    assert_eq!(open(&handmade_presence(0, b"plain")).unwrap(), b"plain");
    assert_eq!(
        open(&handmade_presence(2, b"plain")),
        Err(PresenceError::Sealed)
    );
    assert_eq!(
        open(&handmade_presence(1, b"not deflate")),
        Err(PresenceError::Sealed)
    );
}

#[test]
fn what_does_not_compress_into_the_limit_is_refused() {
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..2 << 20)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as u8
        })
        .collect();
    let outcome = Envelope::seal(header(), &key(5), &secret(1), &noise, [0; 24]);
    assert_eq!(outcome, Err(EnvelopeError::TooLarge));
}

#[test]
fn a_newer_version_is_named_and_left_alone() {
    let mut bytes = sealed(header(), b"").encode();
    bytes[0] = 2;
    assert_eq!(Envelope::decode(&bytes), Err(EnvelopeError::Version(2)));
}

#[test]
fn presence_opens_for_its_device_campaign_and_key_alone() {
    let (campaign, device) = (header().campaign, secret(1).id());
    let sealed = seal_presence(&key(5), campaign, device, [1; 24], b"editing").unwrap();
    assert_eq!(
        open_presence(&key(5), campaign, device, &sealed).unwrap(),
        b"editing"
    );
    let other = CampaignId::from_bytes([1; 16]);
    assert!(open_presence(&key(6), campaign, device, &sealed).is_err());
    assert!(open_presence(&key(5), other, device, &sealed).is_err());
    assert!(open_presence(&key(5), campaign, secret(2).id(), &sealed).is_err());
    assert!(open_presence(&key(5), campaign, device, &vec![0; MAX_PRESENCE + 1]).is_err());
}

#[test]
fn secrets_are_not_printed() {
    let seed = [0xab; 32];
    let shown = format!(
        "{:?} {:?}",
        EpochKey::from_bytes(seed),
        DeviceSecret::from_seed(seed)
    );
    assert!(
        !shown.contains("171") && !shown.to_lowercase().contains("abab"),
        "{shown}"
    );
    assert!(shown.contains(&DeviceSecret::from_seed(seed).id().to_string()));
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(envelope) = Envelope::decode(&bytes) {
            prop_assert!(envelope.verify().is_err());
            prop_assert!(envelope.open(&key(5)).is_err());
        }
    }

    #[test]
    fn a_cut_or_lengthened_envelope_is_refused(
        text in proptest::collection::vec(any::<u8>(), 0..300),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = sealed(header(), &text).encode();
        prop_assert!(Envelope::decode(&bytes[..cut.index(bytes.len())]).is_err());
        let mut longer = bytes;
        longer.push(0);
        prop_assert!(Envelope::decode(&longer).is_err());
    }

    #[test]
    fn any_text_comes_back(text in proptest::collection::vec(any::<u8>(), 0..5_000)) {
        prop_assert_eq!(sealed(header(), &text).open(&key(5)).unwrap(), text);
    }
}
