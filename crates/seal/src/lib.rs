//! Identities, membership, epoch keys, sealed envelopes, invitations.
