//! Names of devices, campaigns, audiences, roles and statements.

use std::fmt;
use std::str::FromStr;

use data_encoding::{Encoding, Specification};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::IdError;

/// RFC 4648 base32 in lower case without padding.
pub(crate) fn base32() -> &'static Encoding {
    use std::sync::OnceLock;
    static BASE32: OnceLock<Encoding> = OnceLock::new();
    BASE32.get_or_init(|| {
        let mut specification = Specification::new();
        specification
            .symbols
            .push_str("abcdefghijklmnopqrstuvwxyz234567");
        // The alphabet is a constant of 32 distinct symbols; were it not, upper case would do.
        specification
            .encoding()
            .unwrap_or(data_encoding::BASE32_NOPAD)
    })
}

fn parse<const N: usize>(text: &str) -> Result<[u8; N], IdError> {
    if text.len() != (N * 8).div_ceil(5) {
        return Err(IdError::Length);
    }
    let bytes = base32()
        .decode(text.as_bytes())
        .map_err(|_| IdError::Alphabet)?;
    bytes.try_into().map_err(|_| IdError::Length)
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $size:literal, $characters:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; $size]);

        impl $name {
            /// The identifier with these bytes.
            pub const fn from_bytes(bytes: [u8; $size]) -> Self {
                Self(bytes)
            }

            /// Its bytes.
            pub const fn to_bytes(self) -> [u8; $size] {
                self.0
            }

            /// Its bytes, borrowed.
            pub const fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&base32().encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text = base32().encode(&self.0);
                write!(f, concat!(stringify!($name), "({}…)"), &text[..8])
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            #[doc = concat!("Reads the ", stringify!($characters), " characters that `Display` writes.")]
            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text).map(Self)
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
                    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                    text.parse().map_err(de::Error::custom)
                } else {
                    <[u8; $size]>::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

identifier!(
    /// A device: its Ed25519 public key. Displayed as 52 characters of lower-case base32.
    ///
    /// Any 32 bytes can be one; bytes that are not a curve point, or a weak one, are found out
    /// when a signature is checked against them, and no signature verifies.
    DeviceId, 32, 52
);

identifier!(
    /// A campaign: the first 16 bytes of the SHA-256 of its genesis assertion, so that the
    /// identifier certifies who the keeper is. Displayed as 26 characters of lower-case base32.
    CampaignId, 16, 26
);

identifier!(
    /// A statement: the SHA-256 of its assertion, without the signatures.
    StatementId, 32, 52
);

impl DeviceId {
    /// The author identity of this device inside documents: its first 16 bytes.
    pub fn author(&self) -> [u8; 16] {
        let mut author = [0; 16];
        author.copy_from_slice(&self.0[..16]);
        author
    }
}

/// An Ed25519 signature: 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(pub [u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({}…)", &base32().encode(&self.0)[..8])
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut halves = [[0; 32]; 2];
        halves[0].copy_from_slice(&self.0[..32]);
        halves[1].copy_from_slice(&self.0[32..]);
        halves.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let halves = <[[u8; 32]; 2]>::deserialize(deserializer)?;
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&halves[0]);
        bytes[32..].copy_from_slice(&halves[1]);
        Ok(Self(bytes))
    }
}

/// Who may read: each audience has its own documents, its own keys, its own log.
///
/// Displayed as `table`, `keeper` or `private:<26 characters>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Audience {
    /// Everyone in the campaign.
    Table,
    /// The keeper and co-keepers.
    Keeper,
    /// The one device with this author tag ([`DeviceId::author`]).
    Private([u8; 16]),
}

impl Audience {
    /// The longest encoding, in bytes.
    pub const MAX_ENCODED: usize = 17;

    /// One tag byte (0 table, 1 keeper, 2 private), then the author tag of a private audience.
    pub fn encode_into(self, out: &mut Vec<u8>) {
        match self {
            Self::Table => out.push(0),
            Self::Keeper => out.push(1),
            Self::Private(tag) => {
                out.push(2);
                out.extend_from_slice(&tag);
            }
        }
    }

    /// The encoding of [`Audience::encode_into`] as its own bytes (a store's key).
    pub fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Self::MAX_ENCODED);
        self.encode_into(&mut out);
        out
    }

    /// Reads exactly one encoded audience.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, IdError> {
        match bytes {
            [0] => Ok(Self::Table),
            [1] => Ok(Self::Keeper),
            [2, tag @ ..] => tag
                .try_into()
                .map(Self::Private)
                .map_err(|_| IdError::Length),
            [] => Err(IdError::Length),
            _ => Err(IdError::Unknown),
        }
    }
}

impl fmt::Display for Audience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table => f.write_str("table"),
            Self::Keeper => f.write_str("keeper"),
            Self::Private(tag) => write!(f, "private:{}", base32().encode(tag)),
        }
    }
}

impl FromStr for Audience {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text {
            "table" => Ok(Self::Table),
            "keeper" => Ok(Self::Keeper),
            _ => match text.strip_prefix("private:") {
                Some(tag) => parse(tag).map(Self::Private),
                None => Err(IdError::Unknown),
            },
        }
    }
}

/// What serde sees of an [`Audience`] in a binary format.
#[derive(Serialize, Deserialize)]
enum AudienceTag {
    Table,
    Keeper,
    Private([u8; 16]),
}

impl Serialize for Audience {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        match *self {
            Self::Table => AudienceTag::Table,
            Self::Keeper => AudienceTag::Keeper,
            Self::Private(tag) => AudienceTag::Private(tag),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Audience {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
            return text.parse().map_err(de::Error::custom);
        }
        Ok(match AudienceTag::deserialize(deserializer)? {
            AudienceTag::Table => Self::Table,
            AudienceTag::Keeper => Self::Keeper,
            AudienceTag::Private(tag) => Self::Private(tag),
        })
    }
}

/// What a device may do in a campaign. Ordered from the most to the least powerful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Made the campaign; reads and writes `table` and `keeper`, invites.
    Keeper,
    /// As the keeper, once a keeper's device has sent it the lockbox of the `keeper` audience.
    CoKeeper,
    /// Reads and writes `table` and its own private audience.
    Player,
    /// An agent with a key of its own: reads and writes `table`.
    Scribe,
    /// Reads `table`, writes nothing.
    Watcher,
}

impl Role {
    /// Whether the role may invite and hand out lockboxes.
    pub const fn keeps(self) -> bool {
        matches!(self, Self::Keeper | Self::CoKeeper)
    }

    /// The role's name in links, JSON and the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keeper => "keeper",
            Self::CoKeeper => "co-keeper",
            Self::Player => "player",
            Self::Scribe => "scribe",
            Self::Watcher => "watcher",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        [
            Self::Keeper,
            Self::CoKeeper,
            Self::Player,
            Self::Scribe,
            Self::Watcher,
        ]
        .into_iter()
        .find(|role| role.name() == text)
        .ok_or(IdError::Unknown)
    }
}
