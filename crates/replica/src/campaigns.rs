//! Campaigns: founding, opening to a table, inviting, joining, members and their names.

use lore_codex::{AuthorId, BatchItem, Draft, EntryDoc, EntryId, Kind};
use lore_seal::{
    Audience, CampaignId, Change, DeviceSecret, EpochKey, Invitation, InviteSeed, Membership, Role,
    Statement,
};
use rusqlite::params;

use crate::error::{StoreError, TableError, WriteError};
use crate::host::draw;
use crate::log::FIRST_EPOCH;
use crate::replica::{CampaignState, Replica, clean_name, fixed};
use crate::view::{AuthorView, CampaignView, Event, MemberView};

/// Devices that may join through one invitation.
pub const INVITATION_USES: u32 = 32;
/// How long an invitation can be used, in milliseconds: 30 days.
pub const INVITATION_LIFE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// The status of a sample campaign's settings, until it is cleared.
const SAMPLE_STATUS: &str = "sample";
/// Campaigns in one codex at most.
pub const CAMPAIGNS_MAX: usize = 256;

impl Replica {
    /// Founds a campaign with this device as its keeper.
    pub fn create_campaign(&mut self, name: &str) -> Result<CampaignId, WriteError> {
        let name = clean_name(name)?;
        self.transact(|replica| replica.found(&name, false))
    }

    /// As [`Self::create_campaign`], within a transaction that is open already.
    pub(crate) fn found(&mut self, name: &str, sample: bool) -> Result<CampaignId, WriteError> {
        if self.campaign_ids()?.len() >= CAMPAIGNS_MAX {
            return Err(WriteError::Invalid(format!(
                "a codex holds {CAMPAIGNS_MAX} campaigns at most"
            )));
        }
        let genesis = Statement::genesis(&self.secret, draw(self.host.as_mut()))
            .map_err(|error| WriteError::Invalid(error.to_string()))?;
        let id = genesis.campaign();
        self.insert_campaign(id, None)?;
        self.take_statement(id, genesis)?;
        for audience in [Audience::Table, Audience::Keeper] {
            let key: [u8; 32] = draw(self.host.as_mut());
            self.keep_key(id, audience, FIRST_EPOCH, &EpochKey::from_bytes(key))?;
        }
        let entry = campaign_entry(id);
        let kind =
            Kind::new(Kind::CAMPAIGN).map_err(|error| WriteError::Invalid(error.to_string()))?;
        let mut draft = Draft::new(kind, name);
        draft.status = sample.then(|| SAMPLE_STATUS.to_owned());
        let (document, change) = EntryDoc::create(entry, &draft, self.author(), self.host.now())
            .map_err(|error| WriteError::Invalid(error.to_string()))?;
        let item = BatchItem::Changes {
            entry,
            changes: vec![change],
        };
        let number = self.publish(id, Audience::Table, vec![item])?;
        self.insert_document(entry, id, Audience::Table, &document)?;
        self.write_view(id, Audience::Table, &document, Some(number))?;
        self.put_back(entry, document);
        self.publish_profile(id)?;
        self.push_event(Event::Campaigns);
        Ok(id)
    }

    /// Gives a campaign another name, for everyone.
    pub fn rename_campaign(&mut self, id: CampaignId, name: &str) -> Result<(), WriteError> {
        let name = clean_name(name)?;
        let entry = campaign_entry(id);
        let current = self.entry(entry)?.ok_or(WriteError::NoEntry(entry))?;
        let revision = current
            .revision
            .parse()
            .map_err(|_| StoreError::Damaged("a stored revision does not parse".into()))?;
        let patch = lore_codex::Patch {
            title: Some(name),
            // Under a name of one's own it is no sample any more.
            status: Some(None),
            ..Default::default()
        };
        self.revise(entry, &revision, &patch)?;
        self.push_event(Event::Campaigns);
        Ok(())
    }

    /// Opens a campaign to a table at the relay with this base address.
    pub fn open_table(&mut self, id: CampaignId, relay: &str) -> Result<(), TableError> {
        // The invitation's own parser says what an address may be.
        let seed = InviteSeed::from_bytes(draw(self.host.as_mut()));
        let base = Invitation::new(relay, id, seed)
            .map_err(|error| TableError::BadLink(error.to_string()))?
            .base()
            .to_owned();
        self.transact(|replica| {
            let device = replica.device;
            let state = replica.campaign(id)?;
            if !state.membership.role(&device).is_some_and(Role::keeps) {
                return Err(TableError::KeeperOnly);
            }
            state.relay = Some(base.clone());
            replica.conn.execute(
                "UPDATE campaigns SET relay = ?2 WHERE id = ?1",
                params![&id.to_bytes()[..], base],
            )?;
            replica.push_event(Event::Campaigns);
            Ok(())
        })
    }

    /// Makes an invitation with a role; its link holds the secret.
    pub fn invite(&mut self, id: CampaignId, role: Role) -> Result<Invitation, TableError> {
        let seed = InviteSeed::from_bytes(draw(self.host.as_mut()));
        let randomness = draw(self.host.as_mut());
        let expires = self.host.now() + INVITATION_LIFE_MS;
        self.transact(|replica| {
            let (device, secret) = (replica.device, replica.secret.clone());
            let state = replica.campaign(id)?;
            if !state.membership.role(&device).is_some_and(Role::keeps) {
                return Err(TableError::KeeperOnly);
            }
            let relay = state.relay.clone().ok_or(TableError::Solo)?;
            let key = state
                .keys
                .get(&(Audience::Table, FIRST_EPOCH))
                .ok_or_else(|| StoreError::Damaged("the table key is missing".into()))?;
            let uses = if role.keeps() { 1 } else { INVITATION_USES };
            let statement = Statement::invite(
                id,
                &secret,
                &seed,
                role,
                Some(expires),
                uses,
                (FIRST_EPOCH, key),
                randomness,
            )
            .map_err(|error| TableError::Refused(error.to_string()))?;
            let invitation = Invitation::new(&relay, id, seed.clone())
                .map_err(|error| TableError::BadLink(error.to_string()))?;
            replica.take_statement(id, statement)?;
            replica.push_event(Event::Campaigns);
            Ok(invitation)
        })
    }

    /// Takes an invitation: this device claims it, and reads once the campaign's statements have
    /// come from the relay. Taking it again changes nothing.
    pub fn join(&mut self, link: &str) -> Result<CampaignId, TableError> {
        let invitation: Invitation = link
            .trim()
            .parse()
            .map_err(|error: lore_seal::InvitationError| TableError::BadLink(error.to_string()))?;
        let id = invitation.campaign();
        let now = self.host.now();
        self.transact(|replica| {
            if replica.campaign_ids()?.contains(&id) {
                return Ok(id);
            }
            let claim = Statement::claim(id, invitation.seed(), &replica.secret, now)
                .map_err(|error| TableError::BadLink(error.to_string()))?;
            replica.insert_campaign(id, Some(invitation.base()))?;
            replica.conn.execute(
                "UPDATE campaigns SET invitation = ?2 WHERE id = ?1",
                params![&id.to_bytes()[..], &invitation.seed().expose()[..]],
            )?;
            replica.take_statement(id, claim)?;
            replica.push_event(Event::Campaigns);
            Ok(id)
        })
    }

    /// Takes statements that arrived, in one durable transaction; those that break the rules are
    /// left out. Returns how many were new.
    pub fn receive_statements(
        &mut self,
        id: CampaignId,
        statements: Vec<Statement>,
    ) -> Result<usize, StoreError> {
        self.transact(|replica| {
            let mut changed = 0;
            for statement in statements {
                changed += usize::from(replica.take_statement(id, statement)?);
            }
            if changed > 0 {
                replica.take_keys(id)?;
                replica.push_event(Event::Campaigns);
            }
            Ok(changed)
        })
    }

    /// As a keeper's device: gives the `keeper` key to co-keepers who lack it. Returns whether
    /// there were any.
    pub fn grant_keys(&mut self, id: CampaignId) -> Result<bool, StoreError> {
        // Most of the time there is nothing to do, and that must cost no transaction.
        let state = self.campaign(id)?;
        if state.membership.awaiting_keeper_key(FIRST_EPOCH).is_empty() {
            return Ok(false);
        }
        self.transact(|replica| replica.grant(id))
    }

    /// As [`Self::grant_keys`], within a transaction that is open already.
    pub(crate) fn grant(&mut self, id: CampaignId) -> Result<bool, StoreError> {
        self.campaign(id)?;
        let Self {
            campaigns,
            host,
            secret,
            device,
            ..
        } = self;
        let Some(state) = campaigns.get(&id) else {
            return Ok(false);
        };
        let Some(key) = state.keys.get(&(Audience::Keeper, FIRST_EPOCH)) else {
            return Ok(false);
        };
        if !state.membership.role(device).is_some_and(Role::keeps) {
            return Ok(false);
        }
        let made = state
            .membership
            .grant_keeper_lockboxes(secret, (FIRST_EPOCH, key), || draw(host.as_mut()))
            .map_err(|error| StoreError::Damaged(error.to_string()))?;
        let granted = !made.is_empty();
        for statement in made {
            self.take_statement(id, statement)?;
        }
        Ok(granted)
    }

    /// Removes a campaign from this codex, and every trace of it.
    pub(crate) fn drop_campaign(&mut self, id: CampaignId) -> Result<(), StoreError> {
        let key = id.to_bytes();
        self.conn.execute(
            "DELETE FROM changes WHERE entry IN (SELECT entry FROM documents WHERE campaign = ?1)",
            [&key[..]],
        )?;
        self.conn.execute(
            "DELETE FROM vectors WHERE hash IN (SELECT hash FROM spans WHERE campaign = ?1)
               AND hash NOT IN (SELECT hash FROM spans WHERE campaign <> ?1)",
            [&key[..]],
        )?;
        self.conn.execute(
            "DELETE FROM embed_queue WHERE hash NOT IN (SELECT hash FROM spans WHERE campaign <> ?1)",
            [&key[..]],
        )?;
        for table in [
            "documents",
            "entries",
            "entry_threads",
            "spans",
            "tombstones",
            "log",
            "heads",
            "profiles",
            "epoch_keys",
            "statements",
        ] {
            self.conn.execute(
                &format!("DELETE FROM {table} WHERE campaign = ?1"),
                [&key[..]],
            )?;
        }
        self.conn
            .execute("DELETE FROM campaigns WHERE id = ?1", [&key[..]])?;
        self.documents.clear();
        self.campaigns.remove(&id);
        self.indexes.remove(&id);
        self.names.retain(|(of, _), _| *of != id);
        Ok(())
    }

    /// Keeps a statement that is new and fits. Returns whether it was.
    pub(crate) fn take_statement(
        &mut self,
        id: CampaignId,
        statement: Statement,
    ) -> Result<bool, StoreError> {
        let bytes = statement.encode();
        match self.campaign(id)?.membership.apply(statement) {
            Ok(Change::Applied | Change::Waiting) => {
                self.conn
                    .prepare_cached(
                        "INSERT INTO statements (campaign, bytes) VALUES (?1, ?2)
                         ON CONFLICT DO NOTHING",
                    )?
                    .execute(params![&id.to_bytes()[..], bytes])?;
                Ok(true)
            }
            Ok(Change::Duplicate) => Ok(false),
            Err(error) => {
                tracing::warn!(%error, "a statement was left out");
                Ok(false)
            }
        }
    }

    /// Opens whatever the statements now let this device open.
    fn take_keys(&mut self, id: CampaignId) -> Result<(), StoreError> {
        let seed: Option<Vec<u8>> = self
            .conn
            .prepare_cached("SELECT invitation FROM campaigns WHERE id = ?1")?
            .query_row([&id.to_bytes()[..]], |row| row.get(0))?;
        let Self {
            campaigns,
            secret,
            device,
            ..
        } = self;
        let Some(state) = campaigns.get(&id) else {
            return Ok(());
        };
        let mut found: Vec<(Audience, u32, EpochKey)> = state
            .membership
            .lockboxes_for(device)
            .filter(|lockbox| !state.keys.contains_key(&(lockbox.audience, lockbox.epoch)))
            .filter_map(|lockbox| {
                let (epoch, key) = lockbox.open(secret).ok()?;
                Some((lockbox.audience, epoch, key))
            })
            .collect();
        let mut joined = false;
        if let Some(seed) = seed {
            let seed = InviteSeed::from_bytes(fixed(seed)?);
            if state.membership.role(device).is_some()
                && let Some((epoch, key)) = state.membership.open_invitation(&seed)
            {
                joined = true;
                found.push((Audience::Table, epoch, key));
            }
        }
        for (audience, epoch, key) in found {
            self.keep_key(id, audience, epoch, &key)?;
        }
        if joined {
            self.conn.execute(
                "UPDATE campaigns SET invitation = NULL WHERE id = ?1",
                [&id.to_bytes()[..]],
            )?;
            // A watcher has no voice to give a name with.
            match self.publish_profile(id) {
                Ok(()) | Err(WriteError::Forbidden { .. }) => {}
                Err(WriteError::Store(error)) => return Err(error),
                Err(error) => return Err(StoreError::Damaged(error.to_string())),
            }
        }
        Ok(())
    }

    fn keep_key(
        &mut self,
        id: CampaignId,
        audience: Audience,
        epoch: u32,
        key: &EpochKey,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO epoch_keys (campaign, audience, epoch, key) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                &id.to_bytes()[..],
                &audience.to_bytes()[..],
                epoch,
                &key.expose()[..]
            ])?;
        self.campaign(id)?
            .keys
            .insert((audience, epoch), key.clone());
        Ok(())
    }

    fn insert_campaign(&mut self, id: CampaignId, relay: Option<&str>) -> Result<(), StoreError> {
        self.conn.execute(
            "INSERT INTO campaigns (id, created_at, relay) VALUES (?1, ?2, ?3)",
            params![&id.to_bytes()[..], self.host.now(), relay],
        )?;
        self.campaigns.insert(
            id,
            CampaignState {
                membership: Membership::new(id),
                keys: std::collections::BTreeMap::new(),
                heads: std::collections::BTreeMap::new(),
                acked: std::collections::BTreeMap::new(),
                acked_unwritten: false,
                relay: relay.map(str::to_owned),
            },
        );
        Ok(())
    }

    /// Tells a campaign this device's name, where there is one and the device may write.
    pub(crate) fn publish_profile(&mut self, id: CampaignId) -> Result<(), WriteError> {
        let device = self.device;
        let may = self
            .campaign(id)?
            .membership
            .may_write(&device, Audience::Table)
            && self
                .campaign(id)?
                .keys
                .contains_key(&(Audience::Table, FIRST_EPOCH));
        if self.name.is_empty() || !may {
            return Ok(());
        }
        let secret = self.secret.clone();
        let (name, agent) = (self.name.clone(), self.agent);
        self.publish_profile_as(&secret, id, &name, agent)
    }

    pub(crate) fn publish_profile_as(
        &mut self,
        secret: &DeviceSecret,
        id: CampaignId,
        name: &str,
        agent: bool,
    ) -> Result<(), WriteError> {
        let at = self.host.now();
        let item = BatchItem::Profile {
            name: name.to_owned(),
            agent,
            at,
        };
        self.publish_as(secret, id, Audience::Table, vec![item])?;
        self.take_profile(id, secret.id().author(), name, agent, at)?;
        Ok(())
    }

    /// Keeps an author's profile, the latest by its own clock.
    pub(crate) fn take_profile(
        &mut self,
        campaign: CampaignId,
        author: [u8; 16],
        name: &str,
        agent: bool,
        at: i64,
    ) -> Result<(), StoreError> {
        self.names.remove(&(campaign, AuthorId::from_bytes(author)));
        // Ties fall to the greater name, so that every replica shows the same.
        self.conn
            .prepare_cached(
                "INSERT INTO profiles (campaign, author, name, agent, at)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (campaign, author) DO UPDATE SET name = excluded.name,
                   agent = excluded.agent, at = excluded.at
                 WHERE (excluded.at, excluded.name, excluded.agent) > (at, name, agent)",
            )?
            .execute(params![
                &campaign.to_bytes()[..],
                &author[..],
                name,
                agent,
                at
            ])?;
        Ok(())
    }

    /// The campaigns of this codex, oldest first.
    pub fn campaign_ids(&self) -> Result<Vec<CampaignId>, StoreError> {
        self.conn
            .prepare_cached("SELECT id FROM campaigns ORDER BY created_at, id")?
            .query_map([], |row| row.get::<_, Vec<u8>>(0))?
            .map(|id| Ok(CampaignId::from_bytes(fixed(id?)?)))
            .collect()
    }

    /// The campaigns for the picker, oldest first.
    pub fn campaigns(&mut self) -> Result<Vec<CampaignView>, StoreError> {
        self.refresh()?;
        self.campaign_ids()?
            .into_iter()
            .map(|id| self.campaign_view(id))
            .collect()
    }

    /// One campaign for the picker.
    pub fn campaign_view(&mut self, id: CampaignId) -> Result<CampaignView, StoreError> {
        let device = self.device;
        let settings = self.entry(campaign_entry(id))?;
        let sample = settings
            .as_ref()
            .is_some_and(|settings| settings.status.as_deref() == Some(SAMPLE_STATUS));
        let name = settings.map(|settings| settings.title);
        let state = self.campaign(id)?;
        let role = state.membership.role(&device);
        let table = state.relay.is_some();
        Ok(CampaignView {
            id: id.to_string(),
            joining: name.is_none(),
            name: name.unwrap_or_default(),
            role: role.unwrap_or(Role::Watcher).to_string(),
            entries: self.count(id, "")?,
            contested: self.count(id, " AND contested = 1")?,
            sample,
            table,
        })
    }

    /// The relay of a campaign that is a table.
    pub fn relay(&mut self, id: CampaignId) -> Result<Option<String>, StoreError> {
        Ok(self.campaign(id)?.relay.clone())
    }

    /// Who belongs to a campaign, keepers first.
    pub fn members(&mut self, id: CampaignId) -> Result<Vec<MemberView>, StoreError> {
        let mut members: Vec<_> = self
            .campaign(id)?
            .membership
            .members()
            .map(|m| (m.role, m.device))
            .collect();
        members.sort_unstable();
        members
            .into_iter()
            .map(|(role, device)| {
                let author: AuthorView =
                    self.author_view(id, AuthorId::from_bytes(device.author()))?;
                Ok(MemberView {
                    device: device.to_string(),
                    author,
                    role: role.to_string(),
                })
            })
            .collect()
    }
}

/// The entry that holds a campaign's own settings.
pub(crate) fn campaign_entry(id: CampaignId) -> EntryId {
    EntryId::from_bytes(id.to_bytes())
}
