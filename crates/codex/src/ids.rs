//! Names of entries, authors and states.

use std::fmt;
use std::str::FromStr;

use automerge::{ActorId, ChangeHash};
use data_encoding::{BASE64URL_NOPAD, Encoding, Specification};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;
use ulid::Ulid;

/// Lower-case RFC 4648 base32 without padding.
static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut spec = Specification::new();
    spec.symbols.push_str("abcdefghijklmnopqrstuvwxyz234567");
    spec.translate.from.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    spec.translate.to.push_str("abcdefghijklmnopqrstuvwxyz");
    // The specification is a constant; a mistake in it would show in every test.
    spec.encoding().unwrap_or(data_encoding::BASE32_NOPAD)
});

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}")]
pub struct IdError {
    what: &'static str,
    text: String,
}

impl IdError {
    fn new(what: &'static str, text: &str) -> Self {
        Self {
            what,
            text: text.chars().take(64).collect(),
        }
    }
}

/// Writes a 16-byte name as text for people and as bytes for machines.
macro_rules! sixteen_bytes {
    ($name:ident) => {
        impl $name {
            /// The name with these bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The name's bytes.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    String::deserialize(deserializer)?
                        .parse()
                        .map_err(de::Error::custom)
                } else {
                    <[u8; 16]>::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

/// The id of an entry: 16 bytes in the layout of a [ULID](https://github.com/ulid/spec) (48 bits
/// of milliseconds, 80 random bits), shown as 26 characters of Crockford base32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId([u8; 16]);
sixteen_bytes!(EntryId);

impl EntryId {
    /// A new id, from the time in ms since the epoch (its low 48 bits) and 10 random bytes.
    pub fn from_parts(ms: u64, random: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&ms.to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        Self(bytes)
    }

    /// The time in the id, ms since the epoch; meaningless when the id was not made by
    /// [`EntryId::from_parts`].
    pub fn ms(self) -> u64 {
        Ulid::from_bytes(self.0).timestamp_ms()
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Ulid::from_bytes(self.0).to_string())
    }
}

impl FromStr for EntryId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Ulid::from_string(text)
            .map(|id| Self(id.to_bytes()))
            .map_err(|_| IdError::new("an entry id", text))
    }
}

/// Who wrote a change: the first 16 bytes of the device's public key, which are the Automerge
/// actor id of its changes. Shown as 26 characters of lower-case base32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuthorId([u8; 16]);
sixteen_bytes!(AuthorId);

/// What Automerge puts before an actor id, followed by a LEB128 level, when one device writes
/// concurrently with itself (an edit made on an older state).
const BRANCH_MARK: [u8; 4] = [0x13, 0xb2, 0x23, 0x09];

impl AuthorId {
    pub(crate) fn actor(self) -> ActorId {
        ActorId::from(self.0)
    }

    /// The author behind an actor id: the id itself, or the one that a concurrent branch of the
    /// same device is derived from.
    pub(crate) fn from_actor(actor: &[u8]) -> Option<Self> {
        if let Ok(bytes) = actor.try_into() {
            return Some(Self(bytes));
        }
        let rest = actor.strip_prefix(&BRANCH_MARK)?;
        let end = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
        if end > 10 || rest[..end] == [0] {
            return None;
        }
        rest[end..].try_into().ok().map(Self)
    }
}

impl fmt::Display for AuthorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE32.encode(&self.0))
    }
}

impl FromStr for AuthorId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        BASE32
            .decode(text.as_bytes())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| IdError::new("an author id", text))
    }
}

/// An opaque token of an entry's state, equal on every replica that holds the same changes: the
/// first 16 bytes of SHA-256 over the sorted heads of the change graph, as unpadded base64url.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision([u8; 16]);
sixteen_bytes!(Revision);

impl Revision {
    /// The revision of the state with these heads; they must be sorted, as Automerge gives them.
    pub(crate) fn of(heads: &[ChangeHash]) -> Self {
        let mut hash = Sha256::new();
        for head in heads {
            hash.update(head.0);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(bytes)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.0))
    }
}

impl FromStr for Revision {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        BASE64URL_NOPAD
            .decode(text.as_bytes())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| IdError::new("a revision", text))
    }
}
