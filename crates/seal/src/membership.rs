//! Who belongs to a campaign: an order-free, grow-only set of statements, and what follows from it.
//!
//! The result is a function of the set alone. Authority is the least fixpoint of these rules:
//! 1. the genesis whose hash is the campaign's identifier makes its signer keeper;
//! 2. an invite counts when its signer is keeper or co-keeper;
//! 3. of the claims on an invite that counts, made no later than it expires by their own time,
//!    the first `uses` by (time, identifier) count; each gives its device the invite's role;
//! 4. a device with several roles has the most powerful one;
//! 5. a lockbox counts when its signer is keeper or co-keeper and its recipient's role allows the
//!    audience;
//! 6. a co-keeper belongs to the `keeper` audience once a lockbox of it that counts is addressed
//!    to it: until then it has no key, and the relay sends it nothing that it could not open.
//!
//! Which claims an invite takes does not depend on anyone's role, so rules 1 to 4 only ever add,
//! and the fixpoint exists whatever the order. Nobody can give themselves a role: the chain of
//! authority starts at the genesis and an invite is needed for each step.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::device::{AgreementKey, DeviceSecret};
use crate::error::{MembershipError, StatementError};
use crate::ids::{Audience, CampaignId, DeviceId, Role, StatementId};
use crate::invitation::InviteSeed;
use crate::keys::EpochKey;
use crate::statement::{Assertion, Claim, Invite, Lockbox, Statement};

/// The most members of a campaign, the keeper included.
pub const MAX_MEMBERS: usize = 256;
/// The most claims that a membership holds: one for each member but the keeper.
pub const MAX_CLAIMS: usize = MAX_MEMBERS - 1;
/// The most invites that a membership holds, spent ones included.
pub const MAX_INVITES: usize = 256;
/// The most lockboxes that a membership holds.
pub const MAX_LOCKBOXES: usize = 512;

/// One device of the campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub device: DeviceId,
    /// Where lockboxes for it are sealed to.
    pub agreement: AgreementKey,
    /// What it may do.
    pub role: Role,
    /// When it says that it joined, in milliseconds since 1970; `None` for the keeper.
    pub joined_at: Option<i64>,
    /// Who signed the invite; `None` for the keeper.
    pub invited_by: Option<DeviceId>,
}

/// What a statement did to a membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new and counts.
    Applied,
    /// It is new and kept, but nobody with the authority stands behind it so far.
    Waiting,
    /// It was there already.
    Duplicate,
}

/// The membership of one campaign.
#[derive(Debug, Clone)]
pub struct Membership {
    campaign: CampaignId,
    statements: BTreeMap<StatementId, Statement>,
    members: BTreeMap<DeviceId, Member>,
    /// Statements that count, those that others rest on first.
    counting: Vec<StatementId>,
    /// Who has been given the `keeper` key.
    keyed: BTreeSet<DeviceId>,
}

impl Membership {
    /// A membership that knows only the campaign's identifier: how a joiner begins, before the
    /// genesis has reached it.
    pub fn new(campaign: CampaignId) -> Self {
        Self {
            campaign,
            statements: BTreeMap::new(),
            members: BTreeMap::new(),
            counting: Vec::new(),
            keyed: BTreeSet::new(),
        }
    }

    /// The membership that a genesis begins.
    ///
    /// # Errors
    /// [`StatementError::Nonsense`] when the statement is not a genesis.
    pub fn from_genesis(genesis: Statement) -> Result<Self, MembershipError> {
        if !matches!(genesis.assertion(), Assertion::Genesis(_)) {
            return Err(StatementError::Nonsense.into());
        }
        let mut membership = Self::new(genesis.campaign());
        membership.apply(genesis)?;
        Ok(membership)
    }

    /// The campaign.
    pub fn campaign(&self) -> CampaignId {
        self.campaign
    }

    /// Takes in a statement, in any order: how replicas merge what they hear.
    ///
    /// # Errors
    /// [`MembershipError::ForeignCampaign`] or [`MembershipError::Full`]; nothing changed.
    pub fn apply(&mut self, statement: Statement) -> Result<Change, MembershipError> {
        if statement.campaign() != self.campaign {
            return Err(MembershipError::ForeignCampaign);
        }
        let id = statement.id();
        if let Some(held) = self.statements.get_mut(&id) {
            // Two valid signatures over one assertion: every replica keeps the same one.
            if statement.as_bytes() < held.as_bytes() {
                *held = statement;
            }
            return Ok(Change::Duplicate);
        }
        self.check_room(statement.assertion())?;
        self.statements.insert(id, statement);
        self.derive();
        Ok(if self.counting.contains(&id) {
            Change::Applied
        } else {
            Change::Waiting
        })
    }

    /// Takes in a statement only if it counts at once: what a relay does with what is sent to it.
    ///
    /// `joining` is the relay's clock (milliseconds since 1970) when the sender is not a member
    /// and presents a claim of its own; it then also must not have expired by that clock. A claim
    /// never displaces another here: one too many is refused.
    pub fn admit(
        &mut self,
        statement: Statement,
        joining: Option<i64>,
    ) -> Result<Change, MembershipError> {
        let id = statement.id();
        if self.statements.contains_key(&id) {
            return self.apply(statement);
        }
        if let Assertion::Claim(claim) = statement.assertion() {
            let invite = self
                .counting_invite(claim.invite)
                .ok_or(MembershipError::NoAuthority)?;
            let last = joining.map_or(claim.at, |now| now.max(claim.at));
            if invite.expires_at.is_some_and(|end| last > end) {
                return Err(MembershipError::Expired);
            }
            let taken = self.claims_on(claim.invite).count();
            if taken >= invite.uses as usize {
                return Err(MembershipError::UsedUp);
            }
        }
        let change = self.apply(statement)?;
        if change == Change::Waiting {
            self.statements.remove(&id);
            self.derive();
            return Err(MembershipError::NoAuthority);
        }
        Ok(change)
    }

    fn check_room(&self, assertion: &Assertion) -> Result<(), MembershipError> {
        let (limit, what) = match assertion {
            Assertion::Genesis(_) => return Ok(()),
            Assertion::Invite(_) => (MAX_INVITES, "invitations"),
            Assertion::Claim(_) => (MAX_CLAIMS, "members"),
            Assertion::Lockbox(_) => (MAX_LOCKBOXES, "lockboxes"),
        };
        let kind = std::mem::discriminant(assertion);
        let held = self
            .statements
            .values()
            .filter(|held| std::mem::discriminant(held.assertion()) == kind)
            .count();
        if held < limit {
            Ok(())
        } else {
            Err(MembershipError::Full(what))
        }
    }

    fn invites(&self) -> impl Iterator<Item = (StatementId, &Invite)> {
        self.statements
            .iter()
            .filter_map(|(id, held)| match held.assertion() {
                Assertion::Invite(invite) => Some((*id, invite)),
                _ => None,
            })
    }

    fn claims_on(&self, invite: DeviceId) -> impl Iterator<Item = (StatementId, &Claim)> {
        self.statements
            .iter()
            .filter_map(move |(id, held)| match held.assertion() {
                Assertion::Claim(claim) if claim.invite == invite => Some((*id, claim)),
                _ => None,
            })
    }

    fn counting_invite(&self, key: DeviceId) -> Option<&Invite> {
        self.counting
            .iter()
            .find_map(|id| match self.statements.get(id)?.assertion() {
                Assertion::Invite(invite) if invite.invite == key => Some(invite),
                _ => None,
            })
    }

    /// Which claims an invite takes (rule 3). One device's second claim is no second use.
    fn taken(&self, invite: &Invite) -> Vec<(StatementId, Claim)> {
        let mut claims: Vec<_> = self
            .claims_on(invite.invite)
            .filter(|(_, claim)| invite.expires_at.is_none_or(|end| claim.at <= end))
            .map(|(id, claim)| (id, claim.clone()))
            .collect();
        claims.sort_by_key(|(id, claim)| (claim.at, *id));
        let mut devices = BTreeSet::new();
        claims.retain(|(_, claim)| devices.insert(claim.device));
        claims.truncate(invite.uses as usize);
        claims
    }

    /// Works everything out anew from the set.
    fn derive(&mut self) {
        let mut members = BTreeMap::new();
        let mut counting = Vec::new();
        let genesis = self
            .statements
            .iter()
            .find_map(|(id, held)| match held.assertion() {
                Assertion::Genesis(genesis) => Some((*id, genesis)),
                _ => None,
            });
        if let Some((id, genesis)) = genesis {
            counting.push(id);
            members.insert(
                genesis.keeper,
                Member {
                    device: genesis.keeper,
                    agreement: genesis.agreement,
                    role: Role::Keeper,
                    joined_at: None,
                    invited_by: None,
                },
            );
        }
        let keeps = |members: &BTreeMap<DeviceId, Member>, device: &DeviceId| {
            members
                .get(device)
                .is_some_and(|member| member.role.keeps())
        };
        let mut waiting: Vec<(StatementId, &Invite)> = self.invites().collect();
        loop {
            let (ready, rest): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|(_, invite)| keeps(&members, &invite.by));
            waiting = rest;
            if ready.is_empty() {
                break;
            }
            counting.extend(ready.iter().map(|(id, _)| *id));
            let mut joined = BTreeMap::new();
            for (_, invite) in ready {
                for (id, claim) in self.taken(invite) {
                    joined.insert(id, (claim, invite.role, invite.by));
                }
            }
            for (id, (claim, role, by)) in joined {
                if !counting.contains(&id) {
                    counting.push(id);
                }
                let member = Member {
                    device: claim.device,
                    agreement: claim.agreement,
                    role,
                    joined_at: Some(claim.at),
                    invited_by: Some(by),
                };
                let held = members.entry(claim.device).or_insert(member);
                // The most powerful role; among equals the earliest claim, then the inviter.
                let rank = |m: &Member| (m.role, m.joined_at, m.invited_by);
                if rank(&member) < rank(held) {
                    *held = member;
                }
            }
        }
        let mut keyed = BTreeSet::new();
        for (id, held) in &self.statements {
            if let Assertion::Lockbox(lockbox) = held.assertion()
                && keeps(&members, &lockbox.by)
                && members
                    .get(&lockbox.to)
                    .is_some_and(|member| entitled(member, lockbox.audience))
            {
                counting.push(*id);
                if lockbox.audience == Audience::Keeper {
                    keyed.insert(lockbox.to);
                }
            }
        }
        self.members = members;
        self.counting = counting;
        self.keyed = keyed;
    }

    /// The device's role, if it is a member.
    pub fn role(&self, device: &DeviceId) -> Option<Role> {
        self.members.get(device).map(|member| member.role)
    }

    /// The member with this device.
    pub fn member(&self, device: &DeviceId) -> Option<&Member> {
        self.members.get(device)
    }

    /// Every member, by device.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values()
    }

    /// Whether the device's envelopes in this audience are to be believed and passed on.
    pub fn may_write(&self, device: &DeviceId, audience: Audience) -> bool {
        self.role(device) != Some(Role::Watcher) && self.may_read(device, audience)
    }

    /// Whether the device may be given this audience's envelopes.
    pub fn may_read(&self, device: &DeviceId, audience: Audience) -> bool {
        self.members.get(device).is_some_and(|member| {
            entitled(member, audience)
                && (audience != Audience::Keeper
                    || member.role == Role::Keeper
                    || self.keyed.contains(device))
        })
    }

    /// Every statement in canonical order: those that count, each after what it rests on, then
    /// those that wait, by identifier. Equal on memberships that hold the same set.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let counting: BTreeSet<_> = self.counting.iter().collect();
        let waiting: Vec<_> = self
            .statements
            .iter()
            .filter(|(id, _)| !counting.contains(id))
            .map(|(_, held)| held)
            .collect();
        self.counting
            .iter()
            .filter_map(|id| self.statements.get(id))
            .chain(waiting)
    }

    /// A hash over the identifiers of all statements: equal when two memberships hold the same.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for id in self.statements.keys() {
            hash.update(id.as_bytes());
        }
        hash.finalize().into()
    }

    /// The statements that a device's membership rests on, in canonical order: genesis, invites
    /// and claims up the chain of authority. What a device shows to prove that it belongs. A
    /// claim that waits (the invite has not been heard of yet) is among them.
    pub fn credentials(&self, device: &DeviceId) -> Vec<&Statement> {
        let mut wanted = BTreeSet::new();
        let mut devices = vec![*device];
        let mut seen = BTreeSet::new();
        while let Some(device) = devices.pop() {
            if !seen.insert(device) {
                continue;
            }
            for (id, held) in &self.statements {
                let Assertion::Claim(claim) = held.assertion() else {
                    continue;
                };
                if claim.device != device {
                    continue;
                }
                wanted.insert(*id);
                for (id, invite) in self.invites().filter(|(_, i)| i.invite == claim.invite) {
                    wanted.insert(id);
                    devices.push(invite.by);
                }
            }
        }
        self.statements()
            .filter(|held| {
                wanted.contains(&held.id()) || matches!(held.assertion(), Assertion::Genesis(_))
            })
            .collect()
    }

    /// The `table` key from the invitation with this seed, if the membership holds it and it
    /// counts: how a joiner comes to read.
    pub fn open_invitation(&self, seed: &InviteSeed) -> Option<(u32, EpochKey)> {
        self.counting_invite(seed.id())?.open(seed).ok()
    }

    /// Every lockbox that counts and is addressed to the device.
    pub fn lockboxes_for<'a>(&'a self, device: &'a DeviceId) -> impl Iterator<Item = &'a Lockbox> {
        self.counting
            .iter()
            .filter_map(|id| match self.statements.get(id)?.assertion() {
                Assertion::Lockbox(lockbox) if lockbox.to == *device => Some(lockbox),
                _ => None,
            })
    }

    /// The co-keepers who have not been sent the `keeper` key of this epoch.
    pub fn awaiting_keeper_key(&self, epoch: u32) -> Vec<Member> {
        let audience = Audience::Keeper;
        self.members
            .values()
            .filter(|member| {
                member.role == Role::CoKeeper
                    && !self
                        .lockboxes_for(&member.device)
                        .any(|held| held.audience == audience && held.epoch == epoch)
            })
            .copied()
            .collect()
    }

    /// Makes the lockboxes by which every co-keeper without one gets the `keeper` key: what a
    /// keeper's device does whenever the membership has changed. The caller applies and sends
    /// them. `randomness` is called once for each, for 32 fresh random bytes.
    ///
    /// # Errors
    /// [`MembershipError::NotAllowed`] when `by` is not a keeper or co-keeper.
    pub fn grant_keeper_lockboxes(
        &self,
        by: &DeviceSecret,
        (epoch, key): (u32, &EpochKey),
        mut randomness: impl FnMut() -> [u8; 32],
    ) -> Result<Vec<Statement>, MembershipError> {
        if !self.role(&by.id()).is_some_and(Role::keeps) {
            return Err(MembershipError::NotAllowed);
        }
        // One co-keeper with a bad agreement key must not keep the key from the others.
        Ok(self
            .awaiting_keeper_key(epoch)
            .into_iter()
            .filter(|member| member.device != by.id())
            .filter_map(|member| {
                Statement::lockbox(
                    self.campaign,
                    by,
                    (member.device, member.agreement),
                    Audience::Keeper,
                    (epoch, key),
                    randomness(),
                )
                .ok()
            })
            .collect())
    }
}

/// What a role allows, given the key.
fn entitled(member: &Member, audience: Audience) -> bool {
    match audience {
        Audience::Table => true,
        Audience::Keeper => member.role.keeps(),
        Audience::Private(tag) => member.role != Role::Watcher && member.device.author() == tag,
    }
}
