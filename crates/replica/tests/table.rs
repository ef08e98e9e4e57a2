//! Two replicas of one campaign: what merges, what is contested, what is forgotten, what is kept apart.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed
#![allow(missing_docs)]

mod common;

use common::{draft, exchange, hand_over, id, missing, record, revision, seen, table};
use lore_codex::{Patch, PlainField};
use lore_replica::{Arrival, DeliveryState, EntryView, ListQuery, Replica, WriteOutcome};
use lore_seal::{Audience, Role};
use lore_sync::{Cursor, PeerStore as _};

fn revise(replica: &mut Replica, entry: &EntryView, patch: &Patch) -> EntryView {
    match replica.revise(id(entry), &revision(entry), patch).unwrap() {
        WriteOutcome::Done { entry } => *entry,
        other => panic!("{other:?}"),
    }
}

fn status(value: &str) -> Patch {
    Patch {
        status: Some(Some(value.into())),
        ..Patch::default()
    }
}

#[test]
fn a_joiner_reads_the_table_with_names_and_nothing_of_the_keeper() {
    let (mut keeper, mut player, campaign) = table();
    record(&mut keeper, campaign, "The toll gate", "Aldous keeps it.");
    keeper
        .record(
            campaign,
            Audience::Keeper,
            &draft("note", "Secret", "He is the heir."),
        )
        .unwrap();
    exchange(&mut keeper, &mut player, campaign);
    let list = player.list(campaign, &ListQuery::default()).unwrap();
    assert_eq!(list.total, 1);
    assert_eq!(list.entries[0].updated_by.name, "Mira");
    assert_eq!(
        player.campaign_view(campaign).unwrap().name,
        "The Sallow Reach"
    );
    let hits = player.recall(campaign, &["heir".into()], &[], 10).unwrap();
    assert!(hits.hits.iter().all(|hit| hit.entry.title != "Secret"));
    let refused = player.record(campaign, Audience::Keeper, &draft("note", "Mine", ""));
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn a_co_keeper_gets_the_secrets_by_a_lockbox_and_not_by_the_link() {
    let (mut keeper, _, campaign) = table();
    keeper
        .record(
            campaign,
            Audience::Keeper,
            &draft("note", "Secret", "He is the heir."),
        )
        .unwrap();
    let link = keeper.invite(campaign, Role::CoKeeper).unwrap().to_string();
    let mut second = common::in_memory(7);
    second.join(&link).unwrap();
    hand_over(&mut keeper, &mut second, campaign);
    assert_eq!(
        second.list(campaign, &ListQuery::default()).unwrap().total,
        0
    );
    hand_over(&mut second, &mut keeper, campaign);
    assert!(keeper.grant_keys(campaign).unwrap());
    hand_over(&mut keeper, &mut second, campaign);
    let list = second.list(campaign, &ListQuery::default()).unwrap();
    assert_eq!(list.entries[0].body, "He is the heir.");
}

#[test]
fn concurrent_edits_of_a_text_both_survive() {
    let (mut keeper, mut player, campaign) = table();
    let entry = record(&mut keeper, campaign, "Ford", "The ferry waits.");
    exchange(&mut keeper, &mut player, campaign);
    let mine = Patch {
        body: Some("The ferry waits. It rains.".into()),
        ..Patch::default()
    };
    let theirs = Patch {
        body: Some("The old ferry waits.".into()),
        ..Patch::default()
    };
    revise(&mut keeper, &entry, &mine);
    let there = player.entry(id(&entry)).unwrap().unwrap();
    revise(&mut player, &there, &theirs);
    exchange(&mut keeper, &mut player, campaign);
    let merged = keeper.entry(id(&entry)).unwrap().unwrap();
    assert_eq!(merged.body, "The old ferry waits. It rains.");
    assert_eq!(seen(&mut keeper, campaign), seen(&mut player, campaign));
}

#[test]
fn concurrent_values_are_contested_until_one_settles_them_everywhere() {
    let (mut keeper, mut player, campaign) = table();
    let entry = record(&mut keeper, campaign, "Vey", "");
    exchange(&mut keeper, &mut player, campaign);
    revise(&mut keeper, &entry, &status("dead"));
    let there = player.entry(id(&entry)).unwrap().unwrap();
    revise(&mut player, &there, &status("alive"));
    exchange(&mut keeper, &mut player, campaign);
    let contested = player.entry(id(&entry)).unwrap().unwrap();
    let names: Vec<_> = contested.contested[0]
        .candidates
        .iter()
        .map(|candidate| (candidate.by.name.clone(), candidate.value.clone().unwrap()))
        .collect();
    assert_eq!(contested.contested[0].field, PlainField::Status);
    assert_eq!(names.len(), 2);
    assert!(names.contains(&("Mira".into(), "dead".into())));
    assert!(names.contains(&("Tomas".into(), "alive".into())));
    let only = ListQuery {
        contested: true,
        ..ListQuery::default()
    };
    assert_eq!(keeper.list(campaign, &only).unwrap().total, 1);
    player
        .settle(
            id(&entry),
            &revision(&contested),
            PlainField::Status,
            Some("alive"),
        )
        .unwrap();
    exchange(&mut keeper, &mut player, campaign);
    for replica in [&mut keeper, &mut player] {
        let settled = replica.entry(id(&entry)).unwrap().unwrap();
        assert!(settled.contested.is_empty());
        assert_eq!(settled.status.as_deref(), Some("alive"));
        assert_eq!(replica.list(campaign, &only).unwrap().total, 0);
    }
}

#[test]
fn forgetting_wins_over_a_concurrent_edit_and_leaves_no_text_behind() {
    let (mut keeper, mut player, campaign) = table();
    let entry = record(&mut keeper, campaign, "Shame", "unforgettable-word");
    exchange(&mut keeper, &mut player, campaign);
    keeper.forget(id(&entry), &revision(&entry)).unwrap();
    let there = player.entry(id(&entry)).unwrap().unwrap();
    revise(&mut player, &there, &status("worse"));
    exchange(&mut keeper, &mut player, campaign);
    for replica in [&mut keeper, &mut player] {
        assert_eq!(replica.entry(id(&entry)).unwrap(), None);
        assert!(
            replica
                .recall(campaign, &["unforgettable-word".into()], &[], 5)
                .unwrap()
                .hits
                .is_empty()
        );
        let outcome = replica
            .revise(id(&entry), &revision(&entry), &status("back"))
            .unwrap();
        assert_eq!(outcome, WriteOutcome::Forgotten);
        for table in ["documents", "changes", "entries", "spans"] {
            let left: i64 = replica
                .connection()
                .query_row(
                    &format!("SELECT count(*) FROM {table} WHERE entry = ?1"),
                    [&id(&entry).to_bytes()[..]],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(left, 0, "{table}");
        }
    }
}

#[test]
fn delivery_in_any_order_with_repeats_converges() {
    let (mut keeper, mut player, campaign) = table();
    let entry = record(&mut keeper, campaign, "One", "a");
    exchange(&mut keeper, &mut player, campaign);
    let there = player.entry(id(&entry)).unwrap().unwrap();
    revise(
        &mut player,
        &there,
        &Patch {
            body: Some("ab".into()),
            ..Patch::default()
        },
    );
    exchange(&mut keeper, &mut player, campaign);
    let now = keeper.entry(id(&entry)).unwrap().unwrap();
    revise(
        &mut keeper,
        &now,
        &Patch {
            body: Some("abc".into()),
            ..Patch::default()
        },
    );
    // A newcomer gets the keeper's changes before the player's, on which they build, and twice.
    let link = keeper.invite(campaign, Role::Player).unwrap().to_string();
    let mut newcomer = common::in_memory(5);
    newcomer.join(&link).unwrap();
    hand_over(&mut newcomer, &mut keeper, campaign);
    let statements: Vec<_> = keeper
        .store(campaign)
        .unwrap()
        .membership()
        .statements()
        .cloned()
        .collect();
    newcomer.receive_statements(campaign, statements).unwrap();
    let all = missing(&mut keeper, &mut newcomer, campaign);
    let (of_keeper, of_player): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|envelope| envelope.header().device == keeper.device());
    assert!(
        newcomer
            .receive(campaign, &of_keeper)
            .unwrap()
            .iter()
            .all(|a| *a == Arrival::Merged)
    );
    assert_eq!(newcomer.entry(id(&entry)).unwrap().unwrap().body, "a");
    newcomer.receive(campaign, &of_player).unwrap();
    let repeated = newcomer.receive(campaign, &of_keeper).unwrap();
    assert!(
        repeated
            .iter()
            .all(|arrival| *arrival == Arrival::Duplicate)
    );
    assert_eq!(seen(&mut newcomer, campaign), seen(&mut keeper, campaign));
}

#[test]
fn what_the_relay_acknowledges_is_shown_as_there() {
    let (mut keeper, _, campaign) = table();
    let entry = record(&mut keeper, campaign, "One", "a");
    assert_eq!(entry.delivery.state, DeliveryState::Here);
    assert!(keeper.waiting().unwrap() > 0);
    let cursor: Cursor = keeper.store(campaign).unwrap().cursor().unwrap();
    keeper.note_acked(campaign, &cursor).unwrap();
    assert_eq!(keeper.waiting().unwrap(), 0);
    let entry = keeper.entry(id(&entry)).unwrap().unwrap();
    assert_eq!(entry.delivery.state, DeliveryState::Relay);
}

#[test]
fn the_sample_is_signed_by_its_people_and_can_be_cleared() {
    let mut replica = common::in_memory(3);
    let campaign = replica
        .create_sample(&lore_sample::sample().unwrap())
        .unwrap();
    let view = replica.campaign_view(campaign).unwrap();
    assert!(
        view.sample && view.contested == 1 && view.entries >= 44,
        "{view:?}"
    );
    let members = replica.members(campaign).unwrap();
    assert!(members.iter().any(|member| member.author.agent));
    let only = ListQuery {
        contested: true,
        ..ListQuery::default()
    };
    let contested = replica.list(campaign, &only).unwrap().entries.remove(0);
    assert_eq!(contested.contested[0].candidates.len(), 2);
    // Another replica accepts all of it by the ordinary rules.
    replica.open_table(campaign, "http://127.0.0.1:1").unwrap();
    let link = replica
        .invite(campaign, Role::CoKeeper)
        .unwrap()
        .to_string();
    let mut second = common::in_memory(4);
    second.join(&link).unwrap();
    exchange(&mut replica, &mut second, campaign);
    replica.grant_keys(campaign).unwrap();
    exchange(&mut replica, &mut second, campaign);
    assert_eq!(seen(&mut second, campaign), seen(&mut replica, campaign));
    assert!(second.campaign_view(campaign).unwrap().sample);
    replica.clear_sample(campaign, "My world").unwrap();
    exchange(&mut replica, &mut second, campaign);
    for replica in [&mut replica, &mut second] {
        let view = replica.campaign_view(campaign).unwrap();
        assert_eq!(
            (view.name.as_str(), view.entries, view.sample),
            ("My world", 0, false)
        );
    }
    // Without a table, an empty campaign takes its place.
    let mut alone = common::in_memory(6);
    let sample = alone
        .create_sample(&lore_sample::sample().unwrap())
        .unwrap();
    let own = alone.clear_sample(sample, "Mine").unwrap();
    let views = alone.campaigns().unwrap();
    assert_eq!(views.len(), 1);
    assert_eq!(
        (views[0].id.clone(), views[0].entries),
        (own.to_string(), 0)
    );
}
