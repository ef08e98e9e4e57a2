//! A live session of one campaign: the protocol's state machine, the replica underneath, and who
//! is here. Sans-I/O: a driver brings bytes and takes bytes.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use lore_codex::EntryId;
use lore_seal::{Audience, CampaignId, DeviceId, open_presence, seal_presence};
use lore_sync::{Event as Heard, FrameBuffer, PeerSession, Refusal, Timing, length_prefix};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::host::draw;
use crate::log::FIRST_EPOCH;
use crate::replica::Replica;
use crate::view::{Event, MemberView};

/// How often presence is said again, and how long it counts, in milliseconds.
const PRESENCE_EVERY_MS: i64 = 10_000;
const PRESENCE_LIFE_MS: i64 = 30_000;
/// How soon a new position alone is told, in milliseconds: every arrival moves it.
const POSITION_EVERY_MS: i64 = 2_000;
/// Streams whose position a presence tells, at most: bounds its size.
const PRESENCE_STREAMS: usize = 24;

/// Where a session stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", content = "note", rename_all = "kebab-case")]
pub enum LiveState {
    /// Greeting the relay.
    Connecting,
    /// Taking in what was missed.
    CatchingUp,
    /// Changes arrive as they happen.
    Live,
    /// The relay has refused this device, and why, for people.
    Refused(String),
    /// The connection is over.
    Ended,
}

/// Where a member is: the entry open in the editor, and the caret in its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Editing {
    /// The entry.
    pub entry: EntryId,
    /// The caret, in UTF-16 code units; absent while only reading.
    pub caret: Option<u32>,
}

/// What a device shows of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    /// What is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    editing: Option<Editing>,
    /// Up to where it holds each device's envelopes for the table.
    #[serde(default)]
    holds: BTreeMap<DeviceId, u64>,
}

/// A member with whether it is here and what it has open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PresentMember {
    /// The member.
    #[serde(flatten)]
    pub member: MemberView,
    /// Connected now.
    pub here: bool,
    /// What it has open.
    pub editing: Option<Editing>,
}

/// Why a session is over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The other end sent what no program of ours would.
    #[error("the relay sent what could not be read: {0}")]
    Protocol(String),
    /// The replica's store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One connection to a table.
#[derive(Debug)]
pub struct LiveSession {
    campaign: CampaignId,
    session: PeerSession,
    buffer: FrameBuffer,
    state: LiveState,
    out: VecDeque<Bytes>,
    present: BTreeMap<DeviceId, (Shown, i64)>,
    editing: Option<Editing>,
    shown_at: i64,
    shown: Shown,
}

impl LiveSession {
    /// A session over a connection that has just been made; says hello.
    pub fn start(replica: &mut Replica, campaign: CampaignId) -> Self {
        let nonce = draw(replica.host.as_mut());
        let mut session = PeerSession::new(campaign, replica.device, nonce, Timing::default());
        session.start(replica.host.now());
        let mut live = Self {
            campaign,
            session,
            buffer: FrameBuffer::new(),
            state: LiveState::Connecting,
            out: VecDeque::new(),
            present: BTreeMap::new(),
            editing: None,
            shown_at: 0,
            shown: Shown::default(),
        };
        live.drain();
        live
    }

    /// Where the session stands.
    pub fn state(&self) -> &LiveState {
        &self.state
    }

    /// Whether this side has nothing that the relay has not acknowledged or been sent.
    pub fn is_live(&self) -> bool {
        self.state == LiveState::Live
    }

    /// The next frame to send over a transport of messages.
    pub fn poll_message(&mut self) -> Option<Bytes> {
        self.drain();
        self.out.pop_front()
    }

    /// The next bytes to send over a stream: a frame after its length.
    pub fn poll_stream(&mut self) -> Option<Bytes> {
        let frame = self.poll_message()?;
        Some([&length_prefix(&frame)[..], &frame].concat().into())
    }

    /// Takes in one whole frame, from a transport of messages.
    ///
    /// # Errors
    /// Close the connection on any. What was taken in before is kept.
    pub fn receive_message(
        &mut self,
        replica: &mut Replica,
        frame: &[u8],
    ) -> Result<(), LiveError> {
        let now = replica.host.now();
        self.session
            .on_frame(frame, &mut replica.store(self.campaign)?, now)
            .map_err(|error| self.fail(error))?;
        self.hear(replica)?;
        self.show(replica)?;
        self.drain();
        Ok(())
    }

    /// Takes in bytes of a stream, cut anywhere.
    ///
    /// # Errors
    /// Close the connection on any. What was taken in before is kept.
    pub fn receive_stream(&mut self, replica: &mut Replica, bytes: &[u8]) -> Result<(), LiveError> {
        self.buffer.push(bytes);
        while let Some(frame) = self.buffer.next().map_err(|error| protocol(&error))? {
            self.receive_message(replica, &frame)?;
        }
        Ok(())
    }

    /// The replica has changed by its own user's hand: offers it at once.
    pub fn on_local_change(&mut self, replica: &mut Replica) -> Result<(), LiveError> {
        let now = replica.host.now();
        self.session
            .on_local_change(&mut replica.store(self.campaign)?, now)
            .map_err(|error| self.fail(error))?;
        self.drain();
        Ok(())
    }

    /// Time has passed; call about once a second.
    pub fn tick(&mut self, replica: &mut Replica) -> Result<(), LiveError> {
        let now = replica.host.now();
        self.session
            .tick(&mut replica.store(self.campaign)?, now)
            .map_err(|error| self.fail(error))?;
        self.hear(replica)?;
        let before = self.present.len();
        self.present
            .retain(|_, (_, at)| now - *at < PRESENCE_LIFE_MS);
        if self.present.len() != before {
            replica.push_event(Event::Presence {
                campaign: self.campaign,
            });
        }
        self.show(replica)?;
        self.drain();
        Ok(())
    }

    /// Shows the table what this device's user has open.
    pub fn set_editing(
        &mut self,
        replica: &mut Replica,
        editing: Option<Editing>,
    ) -> Result<(), LiveError> {
        self.editing = editing;
        self.show(replica)?;
        self.drain();
        Ok(())
    }

    /// The members of the campaign, and who of them is here. `live` is the campaign's session,
    /// where there is one.
    pub fn members(
        live: Option<&Self>,
        replica: &mut Replica,
        campaign: CampaignId,
    ) -> Result<Vec<PresentMember>, StoreError> {
        let own = replica.device().to_string();
        let here =
            live.is_some_and(|live| matches!(live.state, LiveState::Live | LiveState::CatchingUp));
        Ok(replica
            .members(campaign)?
            .into_iter()
            .map(|member| {
                if member.device == own {
                    let editing = live.and_then(|live| live.editing.clone());
                    return PresentMember {
                        member,
                        here,
                        editing,
                    };
                }
                let shown = live.filter(|_| here).and_then(|live| {
                    let (_, (shown, _)) = live
                        .present
                        .iter()
                        .find(|(device, _)| device.to_string() == member.device)?;
                    Some(shown.editing.clone())
                });
                PresentMember {
                    member,
                    here: shown.is_some(),
                    editing: shown.flatten(),
                }
            })
            .collect())
    }

    fn drain(&mut self) {
        while let Some(frame) = self.session.poll_transmit() {
            self.out.push_back(frame);
        }
    }

    /// Says what this device shows, when it has changed or has not been said for a while.
    fn show(&mut self, replica: &mut Replica) -> Result<(), StoreError> {
        if !matches!(self.state, LiveState::Live | LiveState::CatchingUp) {
            return Ok(());
        }
        let now = replica.host.now();
        let device = replica.device;
        let state = replica.campaign(self.campaign)?;
        let holds = state
            .heads
            .iter()
            .filter(|((audience, of), _)| *audience == Audience::Table && *of != device)
            .take(PRESENCE_STREAMS)
            .map(|((_, of), (number, _))| (*of, *number))
            .collect();
        let shown = Shown {
            editing: self.editing.clone(),
            holds,
        };
        let due = now - self.shown_at >= PRESENCE_EVERY_MS || now < self.shown_at;
        let quiet = shown.editing == self.shown.editing
            && (shown.holds == self.shown.holds || now - self.shown_at < POSITION_EVERY_MS);
        if quiet && !due {
            return Ok(());
        }
        let Some(key) = state.keys.get(&(Audience::Table, FIRST_EPOCH)).cloned() else {
            return Ok(());
        };
        let nonce = draw(replica.host.as_mut());
        let bytes =
            serde_json::to_vec(&shown).map_err(|error| StoreError::Damaged(error.to_string()))?;
        // What is too large to be shown is not shown.
        if let Ok(sealed) = seal_presence(&key, self.campaign, device, nonce, &bytes) {
            self.session.set_presence(Bytes::from(sealed));
        }
        self.shown = shown;
        self.shown_at = now;
        Ok(())
    }

    fn hear(&mut self, replica: &mut Replica) -> Result<(), StoreError> {
        while let Some(event) = self.session.poll_event() {
            match event {
                Heard::Welcome { .. } | Heard::CatchingUp { .. } => {
                    self.state = LiveState::CatchingUp;
                    replica.push_event(Event::Presence {
                        campaign: self.campaign,
                    });
                }
                Heard::Live => {
                    self.state = LiveState::Live;
                    replica.push_event(Event::Presence {
                        campaign: self.campaign,
                    });
                }
                Heard::Statements { .. } => {
                    // Keys may have been granted in turn: those statements go out at once.
                    replica.push_event(Event::Presence {
                        campaign: self.campaign,
                    });
                    let now = replica.host.now();
                    let _ = self
                        .session
                        .on_local_change(&mut replica.store(self.campaign)?, now);
                }
                Heard::Delivered(received) => {
                    for rejection in received.rejected {
                        tracing::warn!(
                            device = %rejection.stream.device,
                            number = rejection.number,
                            why = rejection.why,
                            "an envelope was refused"
                        );
                    }
                }
                Heard::Acked(cursor) => replica.note_acked(self.campaign, &cursor)?,
                Heard::Presence { device, sealed } => self.see(replica, device, &sealed)?,
                Heard::Gone { device } => {
                    self.present.remove(&device);
                    replica.push_event(Event::Presence {
                        campaign: self.campaign,
                    });
                }
                Heard::Refused { code, message } => {
                    tracing::warn!(?code, message, "the relay refused");
                    if code == Refusal::Unavailable || code == Refusal::TooSlow {
                        self.state = LiveState::Ended;
                    } else if code.is_final() {
                        self.state = LiveState::Refused(message);
                    }
                }
                Heard::Lost => self.state = LiveState::Ended,
            }
        }
        Ok(())
    }

    fn see(
        &mut self,
        replica: &mut Replica,
        device: DeviceId,
        sealed: &[u8],
    ) -> Result<(), StoreError> {
        let now = replica.host.now();
        let own = replica.device;
        if device == own {
            return Ok(());
        }
        let state = replica.campaign(self.campaign)?;
        let Some(key) = state.keys.get(&(Audience::Table, FIRST_EPOCH)) else {
            return Ok(());
        };
        let Ok(bytes) = open_presence(key, self.campaign, device, sealed) else {
            return Ok(());
        };
        let Ok(shown) = serde_json::from_slice::<Shown>(&bytes) else {
            return Ok(());
        };
        if let Some(upto) = shown.holds.get(&own) {
            replica.note_seen(self.campaign, Audience::Table, device, *upto)?;
        }
        let news = self
            .present
            .get(&device)
            .is_none_or(|(before, _)| *before != shown);
        self.present.insert(device, (shown, now));
        if news {
            replica.push_event(Event::Presence {
                campaign: self.campaign,
            });
        }
        Ok(())
    }

    fn fail(&mut self, error: lore_sync::SessionError<StoreError>) -> LiveError {
        self.state = LiveState::Ended;
        match error {
            lore_sync::SessionError::Store(error) => error.into(),
            lore_sync::SessionError::Frame(error) => protocol(&error),
        }
    }
}

fn protocol(error: &impl ToString) -> LiveError {
    LiveError::Protocol(error.to_string())
}
