//! The replica: the single writer over one codex file.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroUsize;

use lore_codex::{AuthorId, EntryDoc, EntryId};
use lore_seal::{Audience, CampaignId, DeviceId, DeviceSecret, EpochKey, Membership};
use lru::LruCache;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::{OpenError, StoreError};
use crate::host::{Host, draw};
use crate::index::CampaignIndex;
use crate::schema;
use crate::view::Event;

/// Documents kept loaded. One takes its text and history a few times over.
const DOCUMENTS_LOADED: NonZeroUsize = NonZeroUsize::new(64).expect("not zero");

/// Events kept for a view that does not fetch them; past it they collapse into [`Event::Campaigns`].
const EVENTS_MAX: usize = 4_096;

/// The longest display name, in characters.
pub const NAME_MAX: usize = 60;

/// What a replica keeps in memory of a campaign: derived from the file, dropped on any doubt.
pub(crate) struct CampaignState {
    /// Who may do what.
    pub(crate) membership: Membership,
    /// Keys held, by audience and epoch.
    pub(crate) keys: BTreeMap<(Audience, u32), EpochKey>,
    /// Highest number in a row, and its chain hash, by audience and device.
    pub(crate) heads: BTreeMap<(Audience, DeviceId), (u64, [u8; 32])>,
    /// Up to where the relay holds this device's envelopes, by audience.
    pub(crate) acked: BTreeMap<Audience, u64>,
    /// Whether `acked` is ahead of the file.
    pub(crate) acked_unwritten: bool,
    /// The base address of the relay, where the campaign is a table.
    pub(crate) relay: Option<String>,
}

/// One person's codex: a SQLite file and what is derived from it.
///
/// Every write is one transaction, durable when the call returns. All writers of one file are
/// serialised by SQLite's own lock, so that a conditional write holds between processes too.
pub struct Replica {
    pub(crate) conn: Connection,
    pub(crate) host: Box<dyn Host>,
    pub(crate) secret: DeviceSecret,
    pub(crate) device: DeviceId,
    pub(crate) name: String,
    pub(crate) agent: bool,
    pub(crate) documents: LruCache<EntryId, EntryDoc>,
    pub(crate) campaigns: HashMap<CampaignId, CampaignState>,
    pub(crate) indexes: HashMap<CampaignId, CampaignIndex>,
    pub(crate) names: HashMap<(CampaignId, AuthorId), (String, bool)>,
    /// Up to where other members hold this device's envelopes, as they say themselves.
    pub(crate) seen: HashMap<(CampaignId, Audience, DeviceId), u64>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) operation: Option<String>,
    data_version: i64,
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl Replica {
    /// Opens a codex over a connection; an empty file becomes a codex with a new device identity.
    ///
    /// # Errors
    /// See [`OpenError`]; the file is left as it was.
    pub fn open(conn: Connection, mut host: Box<dyn Host>) -> Result<Self, OpenError> {
        schema::prepare(&conn)?;
        let seed = if let Some(seed) = meta(&conn, "device")? {
            seed
        } else {
            let seed: [u8; 32] = draw(host.as_mut());
            // Another process may have made one since: the first stays.
            conn.execute(
                "INSERT INTO meta (key, value) VALUES ('device', ?1) ON CONFLICT DO NOTHING",
                [&seed[..]],
            )?;
            meta(&conn, "device")?.ok_or_else(|| OpenError::Damaged("no device identity".into()))?
        };
        let seed: [u8; 32] = seed
            .try_into()
            .map_err(|_| OpenError::Damaged("the device identity has a wrong length".into()))?;
        let secret = DeviceSecret::from_seed(seed);
        let name = text_meta(&conn, "name")?.unwrap_or_default();
        let agent = meta(&conn, "agent")?.is_some();
        let data_version = conn.query_row("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(Self {
            device: secret.id(),
            secret,
            name,
            agent,
            conn,
            host,
            documents: LruCache::new(DOCUMENTS_LOADED),
            campaigns: HashMap::new(),
            indexes: HashMap::new(),
            names: HashMap::new(),
            seen: HashMap::new(),
            events: VecDeque::new(),
            operation: None,
            data_version,
        })
    }

    /// This replica's device.
    pub fn device(&self) -> DeviceId {
        self.device
    }

    /// The author that this replica writes as.
    pub fn author(&self) -> AuthorId {
        AuthorId::from_bytes(self.device.author())
    }

    /// The display name, empty until one is chosen.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The secret of the device, for the sync session's proof.
    pub fn secret(&self) -> &DeviceSecret {
        &self.secret
    }

    /// The connection, for keeping a snapshot where there is no file system. Writing through it
    /// would go around every promise of the replica.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.conn
    }

    /// What changed since the last call, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.events.drain(..).collect()
    }

    /// Names the operation that the next write carries out: sent again under the same name after
    /// a lost answer, it is done once. Names are random strings of the caller's, 64 bytes at most.
    pub fn begin_operation(&mut self, op: &str) {
        self.operation = (!op.is_empty() && op.len() <= 64).then(|| op.to_owned());
    }

    /// The entry of an operation that was already carried out.
    pub fn operation_done(&mut self, op: &str) -> Result<Option<EntryId>, StoreError> {
        let entry: Option<Vec<u8>> = self
            .conn
            .prepare_cached("SELECT entry FROM operations WHERE op = ?1")?
            .query_row([op], |row| row.get(0))
            .optional()?;
        entry.map(|bytes| entry_id(&bytes)).transpose()
    }

    pub(crate) fn push_event(&mut self, event: Event) {
        if self.events.len() >= EVENTS_MAX {
            self.events.clear();
            self.events.push_back(Event::Campaigns);
        }
        self.events.push_back(event);
    }

    /// Drops what another process's write has made stale.
    pub(crate) fn refresh(&mut self) -> Result<(), StoreError> {
        let version: i64 = self
            .conn
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if version != self.data_version {
            self.data_version = version;
            self.drop_caches();
            self.indexes.clear();
        }
        Ok(())
    }

    fn drop_caches(&mut self) {
        self.documents.clear();
        self.campaigns.clear();
        self.names.clear();
    }

    /// Runs `work` in one transaction, durable when this returns `Ok`. On failure nothing is kept
    /// and whatever the work left in memory is dropped.
    pub(crate) fn transact<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E>
    where
        E: From<StoreError>,
    {
        let begun = self
            .conn
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(StoreError::from);
        begun?;
        let events = self.events.len();
        let result = self.refresh().map_err(E::from).and_then(|()| work(self));
        let result = result.and_then(|value| {
            self.write_acked()?;
            self.conn
                .execute_batch("COMMIT")
                .map_err(StoreError::from)?;
            Ok(value)
        });
        if result.is_err() {
            if !self.conn.is_autocommit() {
                let _ = self.conn.execute_batch("ROLLBACK");
            }
            self.events.truncate(events);
            self.drop_caches();
            self.indexes.clear();
        }
        result
    }

    /// The state of a campaign, read from the file where it is not in memory.
    pub(crate) fn campaign(&mut self, id: CampaignId) -> Result<&mut CampaignState, StoreError> {
        if !self.campaigns.contains_key(&id) {
            let state = self.load_campaign(id)?;
            self.campaigns.insert(id, state);
        }
        self.campaigns
            .get_mut(&id)
            .ok_or(StoreError::NoCampaign(id))
    }

    fn load_campaign(&self, id: CampaignId) -> Result<CampaignState, StoreError> {
        let relay: Option<String> = self
            .conn
            .prepare_cached("SELECT relay FROM campaigns WHERE id = ?1")?
            .query_row([&id.to_bytes()[..]], |row| row.get(0))
            .optional()?
            .ok_or(StoreError::NoCampaign(id))?;
        let mut membership = Membership::new(id);
        let mut statements = self
            .conn
            .prepare_cached("SELECT bytes FROM statements WHERE campaign = ?1 ORDER BY seq")?;
        let rows = statements.query_map([&id.to_bytes()[..]], |row| row.get::<_, Vec<u8>>(0))?;
        for bytes in rows {
            let statement = lore_seal::Statement::decode(&bytes?)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
            // Each was accepted when it was stored; order-free, so it is again.
            membership
                .apply(statement)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
        }
        let mut keys = BTreeMap::new();
        let mut select = self
            .conn
            .prepare_cached("SELECT audience, epoch, key FROM epoch_keys WHERE campaign = ?1")?;
        let mut rows = select.query([&id.to_bytes()[..]])?;
        while let Some(row) = rows.next()? {
            let audience = audience_from(&row.get::<_, Vec<u8>>(0)?)?;
            let key: [u8; 32] = fixed(row.get::<_, Vec<u8>>(2)?)?;
            keys.insert((audience, row.get(1)?), EpochKey::from_bytes(key));
        }
        let mut heads = BTreeMap::new();
        let mut select = self.conn.prepare_cached(
            "SELECT audience, device, number, chain, acked FROM heads WHERE campaign = ?1",
        )?;
        let mut acked = BTreeMap::new();
        let mut rows = select.query([&id.to_bytes()[..]])?;
        while let Some(row) = rows.next()? {
            let audience = audience_from(&row.get::<_, Vec<u8>>(0)?)?;
            let device = DeviceId::from_bytes(fixed(row.get::<_, Vec<u8>>(1)?)?);
            if device == self.device {
                acked.insert(audience, row.get(4)?);
            }
            heads.insert(
                (audience, device),
                (row.get(2)?, fixed(row.get::<_, Vec<u8>>(3)?)?),
            );
        }
        Ok(CampaignState {
            membership,
            keys,
            heads,
            acked,
            acked_unwritten: false,
            relay,
        })
    }

    /// Chooses the display name that others see, and tells it to every campaign.
    ///
    /// # Errors
    /// [`crate::WriteError::Invalid`] for an empty or overlong name.
    pub fn set_name(&mut self, name: &str) -> Result<(), crate::WriteError> {
        let name = clean_name(name)?;
        self.transact(|replica| {
            replica.put_meta("name", name.as_bytes())?;
            replica.name.clone_from(&name);
            for id in replica.campaign_ids()? {
                replica.publish_profile(id)?;
            }
            replica.push_event(Event::Campaigns);
            Ok(())
        })
    }

    /// Marks this device as an agent's: shown apart from people everywhere.
    pub fn set_agent(&mut self, agent: bool) -> Result<(), StoreError> {
        if agent {
            self.put_meta("agent", &[1])?;
        } else {
            self.conn
                .execute("DELETE FROM meta WHERE key = 'agent'", [])?;
        }
        self.agent = agent;
        Ok(())
    }

    fn put_meta(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.conn.execute(
            "INSERT INTO meta (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            params![key, value],
        )?;
        Ok(())
    }

    /// A new entry id.
    pub fn new_entry_id(&mut self) -> EntryId {
        let now = self.host.now();
        EntryId::from_parts(u64::try_from(now).unwrap_or(0), draw(self.host.as_mut()))
    }
}

/// Trims a display name and holds it to its limit.
pub(crate) fn clean_name(name: &str) -> Result<String, crate::WriteError> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || name.chars().count() > NAME_MAX {
        return Err(crate::WriteError::Invalid(format!(
            "a name has 1 to {NAME_MAX} characters; choose another"
        )));
    }
    Ok(name)
}

fn meta(conn: &Connection, key: &str) -> Result<Option<Vec<u8>>, rusqlite::Error> {
    conn.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| {
        row.get(0)
    })
    .optional()
}

fn text_meta(conn: &Connection, key: &str) -> Result<Option<String>, OpenError> {
    meta(conn, key)?
        .map(|bytes| {
            String::from_utf8(bytes).map_err(|_| OpenError::Damaged(format!("`{key}` is not text")))
        })
        .transpose()
}

/// An entry id out of a column.
pub(crate) fn entry_id(bytes: &[u8]) -> Result<EntryId, StoreError> {
    let bytes: [u8; 16] = bytes
        .try_into()
        .map_err(|_| StoreError::Damaged("an entry id has a wrong length".into()))?;
    Ok(EntryId::from_bytes(bytes))
}

/// A fixed-size value out of a column.
pub(crate) fn fixed<const N: usize>(bytes: Vec<u8>) -> Result<[u8; N], StoreError> {
    bytes
        .try_into()
        .map_err(|_| StoreError::Damaged("a stored value has a wrong length".into()))
}

/// An audience out of a column.
pub(crate) fn audience_from(bytes: &[u8]) -> Result<Audience, StoreError> {
    Audience::from_bytes(bytes)
        .map_err(|_| StoreError::Damaged("a stored audience is unknown".into()))
}
