//! The sample campaign that a first visit opens on.
//!
//! Its authors are devices of their own, made for it and then gone: they claim invitations, sign
//! their envelopes and contest each other as any member would, so that what the sample shows is
//! what the product does.

use std::collections::BTreeMap;

use lore_codex::{BatchItem, Draft, EntryDoc, Kind, Patch};
use lore_sample::{Sample, SampleAudience, SampleEntry};
use lore_seal::{Audience, CampaignId, DeviceSecret, InviteSeed, Role, Statement};

use crate::error::{StoreError, WriteError};
use crate::host::draw;
use crate::log::FIRST_EPOCH;
use crate::replica::Replica;
use crate::view::Event;

const DAY_MS: i64 = 86_400_000;

/// What one author has to send in one audience.
type Outgoing = BTreeMap<(String, Audience), Vec<BatchItem>>;

impl Replica {
    /// Founds the sample campaign, its entries dated over recent weeks.
    pub fn create_sample(&mut self, sample: &Sample) -> Result<CampaignId, WriteError> {
        self.transact(|replica| {
            let id = replica.found(&sample.name, true)?;
            let people = replica.admit_people(id, sample)?;
            let now = replica.host.now();
            let midnight = now - now.rem_euclid(DAY_MS);
            let mut outgoing = Outgoing::new();
            let mut documents = Vec::with_capacity(sample.entries.len());
            for entry in &sample.entries {
                let at = entry.written_at(midnight).min(now);
                let document = replica.sample_entry(entry, &people, at, &mut outgoing)?;
                documents.push((document, audience(entry)));
            }
            for ((author, audience), items) in outgoing {
                let secret = &people[&author];
                replica.publish_as(secret, id, audience, items)?;
            }
            for (document, audience) in documents {
                replica.insert_document(document.id(), id, audience, &document)?;
                replica.write_view(id, audience, &document, None)?;
            }
            replica.push_event(Event::Campaigns);
            Ok(id)
        })
    }

    /// Makes the sample campaign the user's own: its entries go, under a new name. Where others
    /// have joined it, they are forgotten for all; else an empty campaign takes its place.
    pub fn clear_sample(
        &mut self,
        campaign: CampaignId,
        name: &str,
    ) -> Result<CampaignId, WriteError> {
        let name = crate::replica::clean_name(name)?;
        if self.relay(campaign)?.is_none() {
            return self.transact(|replica| {
                replica.drop_campaign(campaign)?;
                replica.found(&name, false)
            });
        }
        self.rename_campaign(campaign, &name)?;
        self.transact(|replica| {
            let (at, author) = (replica.host.now(), replica.device.author());
            let mut by_audience: BTreeMap<Audience, Vec<BatchItem>> = BTreeMap::new();
            let mut forgotten = Vec::new();
            for entry in replica.entry_ids(campaign)? {
                let Some(place) = replica.place(entry)? else {
                    continue;
                };
                by_audience
                    .entry(place.audience)
                    .or_default()
                    .push(BatchItem::Forget { entry, at });
                replica.erase(entry, campaign, at, author)?;
                forgotten.push(entry);
            }
            for (audience, items) in by_audience {
                replica.publish(campaign, audience, items)?;
            }
            replica.push_event(Event::Changed {
                campaign,
                entries: vec![],
                forgotten,
                remote: false,
            });
            replica.push_event(Event::Campaigns);
            Ok(campaign)
        })
    }

    /// Lets the sample's people join, each with a device and a profile.
    fn admit_people(
        &mut self,
        id: CampaignId,
        sample: &Sample,
    ) -> Result<BTreeMap<String, DeviceSecret>, WriteError> {
        let mut people = BTreeMap::new();
        let now = self.host.now();
        for person in &sample.people {
            let role = match person.role.as_str() {
                "keeper" => Role::CoKeeper,
                "scribe" => Role::Scribe,
                _ => Role::Player,
            };
            let secret = DeviceSecret::from_seed(draw(self.host.as_mut()));
            let seed = InviteSeed::from_bytes(draw(self.host.as_mut()));
            let randomness = draw(self.host.as_mut());
            let own = self.secret.clone();
            let state = self.campaign(id)?;
            let key = state
                .keys
                .get(&(Audience::Table, FIRST_EPOCH))
                .ok_or_else(|| StoreError::Damaged("the table key is missing".into()))?;
            let invite = Statement::invite(
                id,
                &own,
                &seed,
                role,
                None,
                1,
                (FIRST_EPOCH, key),
                randomness,
            )
            .map_err(invalid)?;
            let claim = Statement::claim(id, &seed, &secret, now).map_err(invalid)?;
            self.take_statement(id, invite)?;
            self.take_statement(id, claim)?;
            people.insert(person.name.clone(), secret);
        }
        self.grant(id)?;
        for person in &sample.people {
            let secret = people[&person.name].clone();
            self.publish_profile_as(&secret, id, &person.name, person.agent)?;
        }
        Ok(people)
    }

    /// Makes one entry's document, with its contest where it has one.
    fn sample_entry(
        &mut self,
        entry: &SampleEntry,
        people: &BTreeMap<String, DeviceSecret>,
        at: i64,
        outgoing: &mut Outgoing,
    ) -> Result<EntryDoc, WriteError> {
        let author = |name: &str| {
            let secret = people
                .get(name)
                .ok_or_else(|| invalid("an author is missing"))?;
            Ok::<_, WriteError>(lore_codex::AuthorId::from_bytes(secret.id().author()))
        };
        let contested = entry.contested.as_ref();
        let unless = |field: &str, value: &Option<String>| {
            value
                .clone()
                .filter(|_| contested.is_none_or(|contest| contest.field != field))
        };
        let mut draft = Draft::new(
            Kind::new(entry.kind.as_str()).map_err(invalid)?,
            &entry.title,
        );
        draft.body.clone_from(&entry.body);
        draft.threads = entry.threads.iter().cloned().collect();
        draft.aliases = entry.aliases.iter().cloned().collect();
        draft.when = unless("when", &entry.when);
        draft.status = unless("status", &entry.status);
        let id = lore_codex::EntryId::from_parts(
            u64::try_from(at).unwrap_or(0),
            draw(self.host.as_mut()),
        );
        let (mut document, change) =
            EntryDoc::create(id, &draft, author(&entry.author)?, at).map_err(invalid)?;
        let mut send = |name: &str, change: Vec<u8>| {
            outgoing
                .entry((name.to_owned(), audience(entry)))
                .or_default()
                .push(BatchItem::Changes {
                    entry: id,
                    changes: vec![change],
                });
        };
        send(&entry.author, change);
        if let Some(contest) = contested {
            // Each author starts from the same state, without the other's value.
            let (base, revision) = (document.save(), document.revision());
            for (minutes, value) in (1..).zip(&contest.values) {
                let mut own = EntryDoc::load(id, &base).map_err(invalid)?;
                let text = Some(Some(value.value.clone()));
                let patch = match contest.field.as_str() {
                    "when" => Patch {
                        when: text,
                        ..Patch::default()
                    },
                    _ => Patch {
                        status: text,
                        ..Patch::default()
                    },
                };
                let change = own
                    .revise(&revision, &patch, author(&value.by)?, at + minutes * 60_000)
                    .map_err(invalid)?
                    .ok_or_else(|| invalid("a contested value changes nothing"))?;
                document
                    .apply(std::slice::from_ref(&change))
                    .map_err(invalid)?;
                send(&value.by, change);
            }
        }
        Ok(document)
    }
}

fn audience(entry: &SampleEntry) -> Audience {
    match entry.audience {
        SampleAudience::Table => Audience::Table,
        SampleAudience::Keeper => Audience::Keeper,
    }
}

#[allow(clippy::needless_pass_by_value)] // so that it can be handed to `map_err` as it is
fn invalid(error: impl ToString) -> WriteError {
    WriteError::Invalid(error.to_string())
}
