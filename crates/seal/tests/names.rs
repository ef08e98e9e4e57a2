//! Identifiers and invitation links read back as they were written.

#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed

use lore_seal::{
    Audience, CampaignId, DeviceId, DeviceSecret, IdError, Invitation, InvitationError, InviteSeed,
    Role,
};
use proptest::prelude::*;

#[test]
fn a_link_round_trips_and_keeps_its_secret_out_of_debug() {
    let campaign = CampaignId::from_bytes([4; 16]);
    let seed = InviteSeed::from_bytes([0xfe; 32]);
    for base in [
        "https://lore.example",
        "http://localhost:7474/",
        "https://host:1/some/path",
    ] {
        let link = Invitation::new(base, campaign, seed.clone()).unwrap();
        let text = link.to_string();
        assert_eq!(text.parse::<Invitation>().unwrap(), link);
        assert_eq!(format!(" {text}\n").parse::<Invitation>().unwrap(), link);
        let (address, secret) = text.split_once('#').unwrap();
        assert!(address.ends_with(&format!("/j/{campaign}")));
        assert!(!format!("{link:?}").contains(secret));
    }
}

#[test]
fn a_damaged_link_says_what_is_wrong() {
    let good = "https://h/j/aqcqkbifaucqkbifaucqkbifau#AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    good.parse::<Invitation>().unwrap();
    let cases = [
        ("", InvitationError::Seed),
        (&good[..good.len() - 1], InvitationError::Seed),
        (
            "https://h/j/aqcqkbifaucqkbifaucqkbifau",
            InvitationError::Seed,
        ),
        ("https://h/j/short#AAAA", InvitationError::Campaign),
        ("https://h/x#AAAA", InvitationError::Campaign),
    ];
    for (text, expected) in cases {
        assert_eq!(text.parse::<Invitation>(), Err(expected), "{text}");
    }
    let foreign = good.replace("https", "javascript");
    assert_eq!(foreign.parse::<Invitation>(), Err(InvitationError::Base));
}

#[test]
fn a_seed_serves_one_purpose() {
    assert_ne!(
        InviteSeed::from_bytes([1; 32]).id(),
        DeviceSecret::from_seed([1; 32]).id()
    );
    assert_ne!(
        InviteSeed::from_bytes([1; 32]).agreement(),
        DeviceSecret::from_seed([1; 32]).agreement()
    );
}

#[test]
fn a_signature_is_good_for_its_label_and_message_alone() {
    let secret = DeviceSecret::from_seed([1; 32]);
    let signature = secret.sign("a", b"bc");
    assert!(secret.id().verify("a", b"bc", &signature));
    assert!(!secret.id().verify("ab", b"c", &signature));
    assert!(!secret.id().verify("a", b"bd", &signature));
    assert!(!DeviceId::from_bytes([0; 32]).verify("a", b"bc", &signature));
}

#[test]
fn roles_and_audiences_have_names() {
    for role in [
        Role::Keeper,
        Role::CoKeeper,
        Role::Player,
        Role::Scribe,
        Role::Watcher,
    ] {
        assert_eq!(role.to_string().parse::<Role>().unwrap(), role);
        assert_eq!(serde_json::to_value(role).unwrap(), role.name());
    }
    for audience in [
        Audience::Table,
        Audience::Keeper,
        Audience::Private([3; 16]),
    ] {
        assert_eq!(audience.to_string().parse::<Audience>().unwrap(), audience);
        assert_eq!(
            Audience::from_bytes(&audience.to_bytes()).unwrap(),
            audience
        );
        let json = serde_json::to_string(&audience).unwrap();
        assert_eq!(serde_json::from_str::<Audience>(&json).unwrap(), audience);
    }
    assert_eq!("everyone".parse::<Audience>(), Err(IdError::Unknown));
    assert!(Audience::from_bytes(&[2, 1]).is_err());
    assert!(Audience::from_bytes(&[0, 0]).is_err());
}

proptest! {
    #[test]
    fn identifiers_round_trip(bytes in any::<[u8; 32]>()) {
        let device = DeviceId::from_bytes(bytes);
        let text = device.to_string();
        prop_assert_eq!(text.len(), 52);
        prop_assert_eq!(text.parse::<DeviceId>().unwrap(), device);
        prop_assert_eq!(text.to_uppercase().parse::<DeviceId>(), Err(IdError::Alphabet));
        let json = serde_json::to_string(&device).unwrap();
        prop_assert_eq!(serde_json::from_str::<DeviceId>(&json).unwrap(), device);
        prop_assert_eq!(&device.author()[..], &bytes[..16]);
    }

    #[test]
    fn hostile_text_never_panics(text in "\\PC*") {
        let _ = text.parse::<DeviceId>();
        let _ = text.parse::<Audience>();
        let _ = text.parse::<Invitation>();
    }
}
