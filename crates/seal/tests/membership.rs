//! Who belongs follows from the set of statements alone, and nobody lets themselves in.

#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed

use lore_seal::{
    Audience, CampaignId, Change, DeviceId, DeviceSecret, EpochKey, FIRST_EPOCH, InviteSeed,
    MAX_INVITES, Membership, MembershipError, Role, Statement, StatementError,
};
use proptest::prelude::*;

fn secret(n: u8) -> DeviceSecret {
    DeviceSecret::from_seed([n; 32])
}

fn seed(n: u8) -> InviteSeed {
    InviteSeed::from_bytes([n; 32])
}

fn key() -> EpochKey {
    EpochKey::from_bytes([77; 32])
}

fn genesis() -> Statement {
    Statement::genesis(&secret(1), [0; 16]).unwrap()
}

fn campaign() -> CampaignId {
    genesis().campaign()
}

fn invite(by: u8, n: u8, role: Role, expires_at: Option<i64>, uses: u32) -> Statement {
    let table = (FIRST_EPOCH, &key());
    let by = secret(by);
    Statement::invite(
        campaign(),
        &by,
        &seed(n),
        role,
        expires_at,
        uses,
        table,
        [n; 32],
    )
    .unwrap()
}

fn claim(n: u8, device: u8, at: i64) -> Statement {
    Statement::claim(campaign(), &seed(n), &secret(device), at).unwrap()
}

fn lockbox(by: u8, to: u8) -> Statement {
    let to = secret(to);
    let to = (to.id(), to.agreement());
    let key = (FIRST_EPOCH, &key());
    Statement::lockbox(campaign(), &secret(by), to, Audience::Keeper, key, [by; 32]).unwrap()
}

fn membership(statements: &[Statement]) -> Membership {
    let mut membership = Membership::new(campaign());
    for statement in statements {
        membership.apply(statement.clone()).unwrap();
    }
    membership
}

/// A campaign with chains of authority, spent and expired invites, and claims that do not count.
fn rich() -> Vec<Statement> {
    vec![
        genesis(),
        invite(1, 10, Role::CoKeeper, None, 1),
        claim(10, 2, 5),
        invite(2, 11, Role::Player, Some(100), 2),
        claim(11, 3, 50),
        claim(11, 4, 60),
        claim(11, 5, 40),                       // displaces the latest of the three
        claim(11, 6, 101),                      // too late
        invite(3, 12, Role::CoKeeper, None, 9), // a player may not
        claim(12, 7, 1),
        invite(2, 13, Role::Watcher, None, 9),
        claim(13, 3, 70), // a player already
        claim(13, 8, 70),
        lockbox(1, 2),
        lockbox(3, 3),
        claim(99, 9, 1), // an invite that nobody made
    ]
}

fn roles(membership: &Membership) -> Vec<(DeviceId, Role)> {
    membership
        .members()
        .map(|member| (member.device, member.role))
        .collect()
}

#[test]
fn authority_reaches_from_the_genesis_and_no_further() {
    let membership = membership(&rich());
    let role = |n| membership.role(&secret(n).id());
    assert_eq!(role(1), Some(Role::Keeper));
    assert_eq!(role(2), Some(Role::CoKeeper));
    assert_eq!(role(3), Some(Role::Player));
    assert_eq!(role(4), None, "both uses went to earlier claims");
    assert_eq!(role(5), Some(Role::Player));
    assert_eq!(role(6), None, "expired");
    assert_eq!(role(7), None, "invited by a player");
    assert_eq!(role(8), Some(Role::Watcher));
    assert_eq!(role(9), None);
}

#[test]
fn roles_say_who_reads_and_writes_what() {
    let membership = membership(&rich());
    let may = |n, audience| {
        let device = secret(n).id();
        (
            membership.may_read(&device, audience),
            membership.may_write(&device, audience),
        )
    };
    let own = |n| Audience::Private(secret(n).id().author());
    assert_eq!(may(1, Audience::Keeper), (true, true));
    assert_eq!(may(2, Audience::Keeper), (true, true), "it has the lockbox");
    assert_eq!(may(3, Audience::Table), (true, true));
    assert_eq!(
        may(3, Audience::Keeper),
        (false, false),
        "its own lockbox counts for nothing"
    );
    assert_eq!(may(3, own(3)), (true, true));
    assert_eq!(may(3, own(5)), (false, false));
    assert_eq!(
        may(8, Audience::Table),
        (true, false),
        "a watcher writes nothing"
    );
    assert_eq!(may(9, Audience::Table), (false, false));
}

#[test]
fn a_co_keeper_has_the_keepers_audience_only_with_its_lockbox() {
    let mut membership = membership(&[
        genesis(),
        invite(1, 10, Role::CoKeeper, None, 1),
        claim(10, 2, 5),
    ]);
    let device = secret(2).id();
    assert!(!membership.may_read(&device, Audience::Keeper));
    assert_eq!(membership.awaiting_keeper_key(FIRST_EPOCH).len(), 1);
    let denied = membership.grant_keeper_lockboxes(&secret(5), (FIRST_EPOCH, &key()), || [1; 32]);
    assert_eq!(denied, Err(MembershipError::NotAllowed));
    let made = membership
        .grant_keeper_lockboxes(&secret(1), (FIRST_EPOCH, &key()), || [1; 32])
        .unwrap();
    for lockbox in made {
        membership.apply(lockbox).unwrap();
    }
    assert!(membership.may_read(&device, Audience::Keeper));
    assert!(membership.awaiting_keeper_key(FIRST_EPOCH).is_empty());
    let held: Vec<_> = membership.lockboxes_for(&device).collect();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].open(&secret(2)).unwrap(), (FIRST_EPOCH, key()));
    assert!(held[0].open(&secret(1)).is_err(), "it is for one device");
}

#[test]
fn the_link_opens_the_table_and_another_link_does_not() {
    let membership = membership(&rich());
    assert_eq!(
        membership.open_invitation(&seed(11)),
        Some((FIRST_EPOCH, key()))
    );
    assert_eq!(membership.open_invitation(&seed(98)), None);
}

#[test]
fn a_joiner_waits_until_the_genesis_comes() {
    let mut membership = Membership::new(campaign());
    assert_eq!(membership.apply(claim(10, 2, 5)).unwrap(), Change::Waiting);
    assert_eq!(membership.credentials(&secret(2).id()).len(), 1);
    assert_eq!(
        membership
            .apply(invite(1, 10, Role::Player, None, 1))
            .unwrap(),
        Change::Waiting
    );
    assert_eq!(membership.apply(genesis()).unwrap(), Change::Applied);
    assert_eq!(membership.role(&secret(2).id()), Some(Role::Player));
    assert_eq!(membership.apply(genesis()).unwrap(), Change::Duplicate);
    assert_eq!(membership.credentials(&secret(2).id()).len(), 3);
}

#[test]
fn credentials_are_enough_for_a_relay_that_knows_nothing() {
    let full = membership(&rich());
    let mut relay = Membership::new(campaign());
    for statement in full.credentials(&secret(5).id()) {
        relay.admit(statement.clone(), None).unwrap();
    }
    assert_eq!(relay.role(&secret(5).id()), Some(Role::Player));
}

#[test]
fn statements_of_another_campaign_are_refused() {
    let other = Statement::genesis(&secret(1), [1; 16]).unwrap();
    let mut membership = membership(&[genesis()]);
    assert_eq!(
        membership.apply(other.clone()),
        Err(MembershipError::ForeignCampaign)
    );
    let claim = Statement::claim(other.campaign(), &seed(1), &secret(2), 0).unwrap();
    assert_eq!(
        membership.apply(claim),
        Err(MembershipError::ForeignCampaign)
    );
    let usurper = Statement::genesis(&secret(9), [0; 16]).unwrap();
    assert_ne!(
        usurper.campaign(),
        campaign(),
        "the identifier certifies the keeper"
    );
}

#[test]
fn a_gatekeeper_admits_only_what_counts_now() {
    let mut relay = membership(&[genesis(), invite(1, 10, Role::Player, Some(100), 1)]);
    let before = relay.digest();
    assert_eq!(
        relay.admit(claim(10, 2, 50), Some(101)),
        Err(MembershipError::Expired)
    );
    assert_eq!(
        relay.admit(claim(99, 2, 50), Some(50)),
        Err(MembershipError::NoAuthority)
    );
    assert_eq!(
        relay.admit(invite(2, 11, Role::CoKeeper, None, 1), None),
        Err(MembershipError::NoAuthority)
    );
    assert_eq!(relay.digest(), before, "a refusal leaves nothing behind");
    assert_eq!(
        relay.admit(claim(10, 2, 50), Some(60)).unwrap(),
        Change::Applied
    );
    // Earlier by its own clock, later here: it displaces nobody.
    assert_eq!(
        relay.admit(claim(10, 3, 1), Some(60)),
        Err(MembershipError::UsedUp)
    );
    assert_eq!(relay.role(&secret(2).id()), Some(Role::Player));
    assert_eq!(
        relay.admit(claim(10, 2, 50), Some(900)).unwrap(),
        Change::Duplicate
    );
}

#[test]
fn nobody_can_invite_a_keeper_or_for_no_use() {
    let table = (FIRST_EPOCH, &key());
    for (role, uses) in [(Role::Keeper, 1), (Role::Player, 0)] {
        let made = Statement::invite(
            campaign(),
            &secret(1),
            &seed(1),
            role,
            None,
            uses,
            table,
            [0; 32],
        );
        assert_eq!(made, Err(StatementError::Nonsense));
    }
}

#[test]
fn a_membership_has_its_limits() {
    let mut membership = membership(&[genesis()]);
    for n in 0..=MAX_INVITES {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(n as u64).to_le_bytes());
        let seed = InviteSeed::from_bytes(bytes);
        let table = (FIRST_EPOCH, &key());
        let statement = Statement::invite(
            campaign(),
            &secret(1),
            &seed,
            Role::Player,
            None,
            1,
            table,
            bytes,
        );
        let outcome = membership.apply(statement.unwrap());
        if n < MAX_INVITES {
            assert_eq!(outcome, Ok(Change::Applied));
        } else {
            assert_eq!(outcome, Err(MembershipError::Full("invitations")));
        }
    }
}

#[test]
fn every_altered_statement_is_refused() {
    for statement in rich() {
        let bytes = statement.encode();
        assert_eq!(Statement::decode(&bytes).unwrap(), statement);
        for position in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[position] ^= 0x10;
            assert!(Statement::decode(&altered).is_err(), "byte {position}");
        }
    }
    let mut newer = genesis().encode();
    newer[0] = 2;
    assert_eq!(Statement::decode(&newer), Err(StatementError::Version(2)));
}

proptest! {
    #[test]
    fn the_order_of_statements_does_not_matter(order in Just(rich()).prop_shuffle()) {
        let expected = membership(&rich());
        let mut shuffled = membership(&order);
        prop_assert_eq!(roles(&shuffled), roles(&expected));
        prop_assert_eq!(shuffled.digest(), expected.digest());
        let bytes = |m: &Membership| m.statements().map(Statement::encode).collect::<Vec<_>>();
        prop_assert_eq!(bytes(&shuffled), bytes(&expected));
        for statement in order {
            prop_assert_eq!(shuffled.apply(statement).unwrap(), Change::Duplicate);
        }
    }

    #[test]
    fn canonical_order_lets_a_gatekeeper_take_all_that_counts(order in Just(rich()).prop_shuffle()) {
        let full = membership(&order);
        let mut relay = Membership::new(campaign());
        for statement in full.statements() {
            let _ = relay.admit(statement.clone(), None);
        }
        prop_assert_eq!(roles(&relay), roles(&full));
    }

    #[test]
    fn hostile_statements_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Statement::decode(&bytes).is_err());
    }
}
