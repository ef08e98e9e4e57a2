//! Letting members in, and nobody else.

use bytes::Bytes;
use lore_seal::{CampaignId, Change, DeviceId, MembershipError, Signature, Statement};

use super::connection::Phase;
use super::{CloseReason, ConnId, Effect, TableCore, Write};
use crate::cursor::Cursor;
use crate::frame::{Frame, PROOF_LABEL, PROTOCOL, Refusal, proof_message};

/// What everyone is told who may not come in: no more, whatever the reason.
const NOT_A_MEMBER: &str = "not a member";
/// The most bytes of statements in one frame.
const STATEMENT_BATCH: usize = 512 << 10;
/// Milliseconds after which the same difference of statements is answered again.
const OFFER_AGAIN_MS: i64 = 60_000;

impl TableCore {
    pub(super) fn on_hello(
        &mut self,
        conn: ConnId,
        protocol: u16,
        campaign: CampaignId,
        device: DeviceId,
        nonce: [u8; 32],
    ) {
        if protocol != PROTOCOL {
            let message = format!("this relay speaks protocol {PROTOCOL}, not {protocol}");
            return self.refuse(conn, Refusal::Version, &message);
        }
        if campaign != self.campaign {
            return self.refuse(conn, Refusal::NotAMember, NOT_A_MEMBER);
        }
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        if state.is_open() {
            return; // a repetition that was overtaken
        }
        state.phase = Phase::Challenged(device, nonce);
        let nonce = state.nonce;
        self.send(conn, &Frame::Challenge { nonce });
    }

    pub(super) fn on_prove(
        &mut self,
        conn: ConnId,
        signature: &Signature,
        statements: [u8; 32],
        credentials: &[Bytes],
        now: i64,
    ) {
        let Some(state) = self.conns.get(&conn) else {
            return;
        };
        let (device, nonce) = match state.phase {
            Phase::Silent => return,
            Phase::Challenged(device, nonce) => (device, nonce),
            // Our welcome was lost.
            Phase::Open(device) => return self.welcome(conn, device),
        };
        let message = proof_message(self.campaign, device, &nonce, &state.nonce);
        if !device.verify(PROOF_LABEL, &message, signature) {
            return self.refuse(conn, Refusal::NotAMember, NOT_A_MEMBER);
        }
        let member = self.membership.role(&device).is_some();
        // Whoever refills a relay that lost its store brings claims that have since expired.
        let joining = (!member && !self.is_unregistered()).then_some(now);
        let refused = self.take_statements(conn, credentials, joining);
        if self.membership.role(&device).is_none() {
            // The holder of a genuine link may know what became of it; nobody else.
            return match refused {
                Some(MembershipError::Expired) => self.refuse(
                    conn,
                    Refusal::InvitationExpired,
                    "the invitation has expired",
                ),
                Some(MembershipError::UsedUp) => self.refuse(
                    conn,
                    Refusal::InvitationUsedUp,
                    "the invitation has been used up",
                ),
                _ => self.refuse(conn, Refusal::NotAMember, NOT_A_MEMBER),
            };
        }
        self.make_room(conn, device);
        if let Some(state) = self.conns.get_mut(&conn) {
            state.phase = Phase::Open(device);
            let others = self.presence.keys().copied();
            state.unseen = others.filter(|other| *other != device).collect();
        }
        self.welcome(conn, device);
        self.offer_statements(conn, statements, now);
        self.say_have(conn, now);
        self.show_presence(conn);
    }

    fn welcome(&mut self, conn: ConnId, device: DeviceId) {
        if let Some(role) = self.membership.role(&device) {
            let statements = self.membership.digest();
            self.send(conn, &Frame::Welcome { role, statements });
        }
    }

    /// Closes the device's oldest connection when it has too many.
    fn make_room(&mut self, conn: ConnId, device: DeviceId) {
        let mut own: Vec<_> = self
            .conns
            .iter()
            .filter(|(id, state)| **id != conn && state.device() == Some(device))
            .map(|(id, state)| (state.since, *id))
            .collect();
        own.sort_unstable();
        let surplus = (own.len() + 1).saturating_sub(self.limits.connections_per_device.max(1));
        for (_, oldest) in own.into_iter().take(surplus) {
            self.close(oldest, CloseReason::Replaced);
        }
    }

    /// Admits statements, stores the new ones and passes them on. Why the last claim that was
    /// refused was, if one was.
    fn take_statements(
        &mut self,
        from: ConnId,
        items: &[Bytes],
        joining: Option<i64>,
    ) -> Option<MembershipError> {
        let mut refused = None;
        let mut new = Vec::new();
        for bytes in items {
            let admitted = Statement::decode(bytes)
                .map_err(Into::into)
                .and_then(|statement| self.membership.admit(statement, joining));
            match admitted {
                Ok(Change::Applied | Change::Waiting) => new.push(bytes.clone()),
                Ok(Change::Duplicate) => {}
                Err(error) => refused = Some(error),
            }
        }
        if !new.is_empty() {
            let token = self.token();
            self.writes.insert(
                token,
                Write {
                    reaches: Cursor::new(),
                    done: false,
                },
            );
            self.effects.push_back(Effect::PutStatements {
                token,
                statements: new.clone(),
            });
            for conn in self.open_conns() {
                if conn != from {
                    self.send(conn, &Frame::Statements(new.clone()));
                }
                // Someone may have come to read what it could not before.
                if let Some(state) = self.conns.get_mut(&conn) {
                    state.lagging = true;
                }
            }
        }
        refused
    }

    pub(super) fn on_statements(&mut self, conn: ConnId, items: &[Bytes], now: i64) {
        let mut allowed = Vec::new();
        for bytes in items {
            // What is held already costs nothing but its bytes; the rest costs signatures.
            if !self.spend(conn, now) {
                break;
            }
            allowed.push(bytes.clone());
        }
        self.take_statements(conn, &allowed, None);
    }

    /// Sends all statements to a connection whose digest is not ours; not for the same difference
    /// again and again.
    pub(super) fn offer_statements(&mut self, conn: ConnId, theirs: [u8; 32], now: i64) {
        let ours = self.membership.digest();
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        let again = state.offered.is_none_or(|(their, our, at)| {
            (their, our) != (theirs, ours) || now - at >= OFFER_AGAIN_MS
        });
        if theirs == ours || !again {
            return;
        }
        state.offered = Some((theirs, ours, now));
        let mut frames = Vec::new();
        let mut batch = Vec::new();
        let mut size = 0;
        for statement in self.membership.statements() {
            let bytes = Bytes::from(statement.encode());
            size += bytes.len();
            batch.push(bytes);
            if size >= STATEMENT_BATCH {
                size = 0;
                frames.push(std::mem::take(&mut batch));
            }
        }
        frames.push(batch);
        for batch in frames {
            if !batch.is_empty() {
                self.send(conn, &Frame::Statements(batch));
            }
        }
    }
}
