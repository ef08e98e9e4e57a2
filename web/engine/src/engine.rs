//! The engine as the worker sees it.

use std::collections::HashMap;

use lore_codex::EntryId;
use lore_recall::QuantizedVector;
use lore_replica::{Editing, Event, LiveSession, LiveState, Replica};
use lore_seal::CampaignId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::calls::{self, CallError};
use crate::host::Browser;
use crate::storage;

/// One codex, open, with its sessions.
#[wasm_bindgen]
pub struct Engine {
    replica: Replica,
    sessions: HashMap<CampaignId, LiveSession>,
    /// What was last said of each campaign's members, so that only news is said.
    members: HashMap<CampaignId, String>,
    editing: HashMap<CampaignId, Option<Editing>>,
    changes: i64,
}

#[derive(Deserialize)]
struct Presence {
    campaign: CampaignId,
    entry: Option<EntryId>,
    caret: Option<u32>,
}

#[derive(Deserialize)]
struct OfCampaign {
    campaign: CampaignId,
}

/// A text that waits for its vector, for the embedding worker.
#[derive(Serialize)]
struct Pending {
    hash: String,
    text: String,
}

fn thrown(error: impl Into<CallError>) -> JsValue {
    let error: CallError = error.into();
    JsValue::from_str(&serde_json::to_string(&error).unwrap_or_default())
}

fn text<T: Serialize>(value: &T) -> Result<String, JsValue> {
    serde_json::to_string(value).map_err(|error| thrown(CallError::new("internal", error)))
}

fn campaign_of(id: &str) -> Result<CampaignId, JsValue> {
    id.parse()
        .map_err(|error| thrown(CallError::new("malformed", error)))
}

#[wasm_bindgen]
impl Engine {
    /// Opens the codex on the origin's private file system. Rejects with an `EngineError` as JSON.
    pub async fn open_opfs() -> Result<Engine, JsValue> {
        Self::over(storage::open_opfs().await.map_err(thrown)?)
    }

    /// Opens a codex in memory, from a snapshot where there is one.
    #[allow(clippy::needless_pass_by_value)] // the binding hands over what it has copied
    pub fn open_memory(snapshot: Option<Vec<u8>>) -> Result<Engine, JsValue> {
        Self::over(storage::open_memory(snapshot.as_deref()).map_err(thrown)?)
    }

    fn over(conn: Connection) -> Result<Engine, JsValue> {
        let replica = Replica::open(conn, Box::new(Browser))
            .map_err(|error| thrown(CallError::new("open", error)))?;
        Ok(Self {
            replica,
            sessions: HashMap::new(),
            members: HashMap::new(),
            editing: HashMap::new(),
            changes: 0,
        })
    }

    /// Carries a call out; parameters and result are JSON. What it wrote is durable on return.
    pub fn call(&mut self, method: &str, params: &str, op: &str) -> Result<String, JsValue> {
        let params: Value = serde_json::from_str(params)
            .map_err(|error| thrown(CallError::new("malformed", error)))?;
        let result = match method {
            "presence" => self.presence(params),
            "members" => self.member_list(params),
            _ => calls::call(&mut self.replica, method, params, op),
        };
        // Whatever was written goes to the tables at once.
        self.offer();
        text(&result.map_err(thrown)?)
    }

    /// Events since the last call, as a JSON list.
    pub fn take_events(&mut self) -> Result<String, JsValue> {
        let mut said = Vec::new();
        for event in self.replica.take_events() {
            match event {
                Event::Changed {
                    campaign,
                    entries,
                    forgotten,
                    remote,
                } => said.push(json!({
                    "type": "changed", "campaign": campaign, "entries": entries,
                    "forgotten": forgotten, "remote": remote,
                })),
                Event::Campaigns => said.push(json!({ "type": "campaigns" })),
                Event::Acknowledged { campaign } => said.push(json!({
                    "type": "changed", "campaign": campaign, "entries": [], "forgotten": [],
                    "remote": false,
                })),
                Event::Presence { campaign } => {
                    let members = self.members_of(campaign).map_err(thrown)?;
                    let now = text(&members)?;
                    if self.members.get(&campaign) != Some(&now) {
                        self.members.insert(campaign, now);
                        said.push(json!({
                            "type": "members", "campaign": campaign, "members": members,
                        }));
                    }
                }
            }
        }
        said.dedup();
        text(&said)
    }

    /// Device, name and what waits for the relay.
    pub fn describe(&mut self) -> Result<String, JsValue> {
        let waiting = self.replica.waiting().map_err(thrown)?;
        text(&json!({
            "device": self.replica.device(),
            "name": self.replica.name(),
            "waiting": waiting,
        }))
    }

    /// The campaigns that are tables, with their relays, as a JSON list.
    pub fn tables(&mut self) -> Result<String, JsValue> {
        let mut tables = Vec::new();
        for campaign in self.replica.campaign_ids().map_err(thrown)? {
            if let Some(relay) = self.replica.relay(campaign).map_err(thrown)? {
                tables.push(json!({ "campaign": campaign, "relay": relay }));
            }
        }
        text(&tables)
    }

    /// Loads the next slice of a campaign's recall index; `true` once all of it is there.
    pub fn load_index(&mut self, campaign: &str) -> Result<bool, JsValue> {
        self.replica
            .load_index(campaign_of(campaign)?)
            .map_err(thrown)
    }

    /// Names the model whose vectors count.
    pub fn set_model(&mut self, model: &str) -> Result<(), JsValue> {
        self.replica.set_model(model).map_err(thrown)
    }

    /// Texts that wait for a vector: a JSON list of `{hash, text}`.
    pub fn pending_texts(&mut self, limit: u32) -> Result<String, JsValue> {
        let pending: Vec<Pending> = self
            .replica
            .pending_texts(limit)
            .map_err(thrown)?
            .into_iter()
            .map(|pending| Pending {
                hash: hex(&pending.hash),
                text: pending.text,
            })
            .collect();
        text(&pending)
    }

    /// Keeps vectors: `hashes` in order, and their quantised bytes one after the other.
    #[allow(clippy::needless_pass_by_value)] // the binding hands over what it has copied
    pub fn store_vectors(
        &mut self,
        model: &str,
        hashes: Vec<String>,
        bytes: &[u8],
    ) -> Result<(), JsValue> {
        let bad = || thrown(CallError::new("malformed", "vectors of a wrong size"));
        let mut vectors = Vec::with_capacity(hashes.len());
        let mut chunks = bytes.chunks_exact(lore_recall::VECTOR_BYTES);
        for hash in &hashes {
            let vector =
                QuantizedVector::from_bytes(chunks.next().ok_or_else(bad)?).map_err(|_| bad())?;
            vectors.push((unhex(hash).ok_or_else(bad)?, vector));
        }
        self.replica.store_vectors(model, &vectors).map_err(thrown)
    }

    /// How far embedding has got: `[done, total]`.
    pub fn embedding_progress(&mut self) -> Result<Vec<u32>, JsValue> {
        let progress = self.replica.embedding_progress().map_err(thrown)?;
        Ok(vec![progress.done as u32, progress.total as u32])
    }

    /// A connection of the campaign's table has been made.
    pub fn session_start(&mut self, campaign: &str) -> Result<(), JsValue> {
        let campaign = campaign_of(campaign)?;
        let mut session = LiveSession::start(&mut self.replica, campaign);
        if let Some(editing) = self.editing.get(&campaign) {
            let _ = session.set_editing(&mut self.replica, editing.clone());
        }
        self.sessions.insert(campaign, session);
        Ok(())
    }

    /// The connection has ended.
    pub fn session_end(&mut self, campaign: &str) -> Result<(), JsValue> {
        self.sessions.remove(&campaign_of(campaign)?);
        Ok(())
    }

    /// Takes in bytes of the connection: cut anywhere where it is a stream, else one whole
    /// message. An error ends the session.
    pub fn session_receive(
        &mut self,
        campaign: &str,
        bytes: &[u8],
        stream: bool,
    ) -> Result<(), JsValue> {
        let campaign = campaign_of(campaign)?;
        let Some(session) = self.sessions.get_mut(&campaign) else {
            return Ok(());
        };
        let taken = if stream {
            session.receive_stream(&mut self.replica, bytes)
        } else {
            session.receive_message(&mut self.replica, bytes)
        };
        taken.map_err(|error| thrown(CallError::new("session", error)))
    }

    /// A second has passed.
    pub fn session_tick(&mut self, campaign: &str) -> Result<(), JsValue> {
        let campaign = campaign_of(campaign)?;
        let Some(session) = self.sessions.get_mut(&campaign) else {
            return Ok(());
        };
        session
            .tick(&mut self.replica)
            .map_err(|error| thrown(CallError::new("session", error)))
    }

    /// Bytes to send over the connection: a frame after its length where it is a stream, else one
    /// message.
    pub fn session_poll(
        &mut self,
        campaign: &str,
        stream: bool,
    ) -> Result<Option<Vec<u8>>, JsValue> {
        let Some(session) = self.sessions.get_mut(&campaign_of(campaign)?) else {
            return Ok(None);
        };
        let frame = if stream {
            session.poll_stream()
        } else {
            session.poll_message()
        };
        Ok(frame.map(|bytes| bytes.to_vec()))
    }

    /// Where the session stands: `{state, note}` as JSON.
    pub fn session_state(&self, campaign: &str) -> Result<Option<String>, JsValue> {
        let Some(session) = self.sessions.get(&campaign_of(campaign)?) else {
            return Ok(None);
        };
        let (state, note) = match session.state() {
            LiveState::Connecting => ("connecting", None),
            LiveState::CatchingUp => ("catching-up", None),
            LiveState::Live => ("live", None),
            LiveState::Refused(why) => ("refused", Some(why)),
            LiveState::Ended => ("ended", None),
        };
        text(&json!({ "state": state, "note": note })).map(Some)
    }

    /// Whether anything was written since the last call; for keeping snapshots.
    pub fn take_dirty(&mut self) -> bool {
        let changes = self.replica.connection().total_changes() as i64;
        std::mem::replace(&mut self.changes, changes) != changes
    }

    /// The whole codex as bytes.
    pub fn snapshot(&mut self) -> Result<Vec<u8>, JsValue> {
        self.replica
            .connection()
            .serialize("main")
            .map(|data| data.to_vec())
            .map_err(|error| thrown(CallError::new("storage", error)))
    }

    fn offer(&mut self) {
        for session in self.sessions.values_mut() {
            // A store that fails says so at the call itself; the session ends at its next step.
            let _ = session.on_local_change(&mut self.replica);
        }
    }

    fn presence(&mut self, params: Value) -> Result<Value, CallError> {
        let Presence {
            campaign,
            entry,
            caret,
        } = serde_json::from_value(params).map_err(|error| CallError::new("malformed", error))?;
        let editing = entry.map(|entry| Editing { entry, caret });
        self.editing.insert(campaign, editing.clone());
        if let Some(session) = self.sessions.get_mut(&campaign) {
            session
                .set_editing(&mut self.replica, editing)
                .map_err(|error| CallError::new("session", error))?;
        }
        Ok(Value::Null)
    }

    fn member_list(&mut self, params: Value) -> Result<Value, CallError> {
        let OfCampaign { campaign } =
            serde_json::from_value(params).map_err(|error| CallError::new("malformed", error))?;
        self.members_of(campaign)
    }

    fn members_of(&mut self, campaign: CampaignId) -> Result<Value, CallError> {
        let live = self.sessions.get(&campaign);
        let members = LiveSession::members(live, &mut self.replica, campaign)?;
        serde_json::to_value(members).map_err(|error| CallError::new("internal", error))
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(bytes)
}
