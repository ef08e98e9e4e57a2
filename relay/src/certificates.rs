//! The relay's own TLS certificates.
//!
//! Browsers accept a self-signed certificate over WebTransport when the page names its SHA-256
//! and the certificate is ECDSA P-256 and valid for at most 14 days (W3C WebTransport,
//! "custom certificate requirements"). So the relay keeps two short-lived ones, `now` and `next`,
//! publishes both hashes and moves on every week: a page that holds both hashes reconnects
//! across a rotation without asking again. Native peers pin one long-lived certificate, told
//! apart by ALPN.
//!
//! All three live in `certificates.json` in the data directory (mode 0600), so that a restart
//! does not strand a peer that pinned one.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::Duration,
};

use data_encoding::BASE64;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::{
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::NATIVE_ALPN;

const HOUR: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * HOUR;
/// Validity of a browser certificate. Browsers refuse more than 14 days; a day is kept in reserve
/// for clocks that differ.
pub const BROWSER_VALIDITY_MS: i64 = 13 * DAY;
/// How long a browser certificate serves before `next` takes its place.
pub const ROTATION_MS: i64 = 7 * DAY;
// A longer one is refused by every browser; one that ends before its week serves nobody.
const _: () = assert!(BROWSER_VALIDITY_MS <= 14 * DAY);
const _: () = assert!(ROTATION_MS + DAY + SKEW_MS < BROWSER_VALIDITY_MS);
/// Validity of the certificate that native peers pin: about ten years.
const NATIVE_VALIDITY_MS: i64 = 3_650 * DAY;
/// How far a certificate's start lies in the past, for clients whose clock is behind.
const SKEW_MS: i64 = 2 * HOUR;
const FILE: &str = "certificates.json";
const FILE_VERSION: u32 = 1;

/// Why the certificates could not be made, read or kept.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The file exists and cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not ours or damaged.
    #[error(
        "{path} is not readable as the relay's certificates ({reason}); move it away and the relay makes new ones (peers that pinned the old one fetch the new hash)"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A newer relay wrote the file.
    #[error(
        "{path} has version {found}, this relay knows up to {FILE_VERSION}: run the newer relay"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Key or certificate generation failed.
    #[error("making a certificate: {0}")]
    Generate(#[from] rcgen::Error),
    /// The TLS library does not take the key.
    #[error("loading a certificate's key: {0}")]
    Key(#[from] rustls::Error),
}

/// SHA-256 of a DER certificate, lower-case hexadecimal in JSON.
pub type Fingerprint = [u8; 32];

/// What clients need to know of the certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// The browser certificate in service.
    pub now: Fingerprint,
    /// The browser certificate that follows.
    pub next: Fingerprint,
    /// The certificate of native peers.
    pub native: Fingerprint,
}

#[derive(Clone, Serialize, Deserialize)]
struct Stored {
    certificate: String,
    key: String,
    /// When it enters service, ms since the epoch.
    from: i64,
    /// When it ends being valid, ms since the epoch.
    until: i64,
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredSet {
    version: u32,
    native: Stored,
    now: Stored,
    next: Stored,
}

/// What is read first, whatever else the file holds.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

struct Live {
    stored: StoredSet,
    native: Arc<CertifiedKey>,
    now: Arc<CertifiedKey>,
    published: Published,
}

/// The certificates in service. Cheap to share; [`Certificates::rotate`] reloads in place.
pub struct Certificates {
    path: PathBuf,
    live: RwLock<Live>,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificates")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Certificates {
    /// Reads the certificates of the data directory `directory`, or makes them.
    /// `now` in ms since the epoch.
    pub fn open(directory: &Path, now: i64) -> Result<Self, CertificateError> {
        let path = directory.join(FILE);
        let stored = match fs::read(&path) {
            Ok(bytes) => Some(parse(&path, &bytes)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(source) => return Err(CertificateError::Io { path, source }),
        };
        let fresh = stored.is_none();
        let mut set = match stored {
            Some(set) => set,
            None => StoredSet {
                version: FILE_VERSION,
                native: generate(now, NATIVE_VALIDITY_MS)?,
                now: generate(now, BROWSER_VALIDITY_MS)?,
                next: generate(now + ROTATION_MS, BROWSER_VALIDITY_MS)?,
            },
        };
        let moved = bring_up_to(&mut set, now)?;
        if fresh || moved {
            write(&path, &set)?;
        }
        let live = live(&path, set)?;
        Ok(Self {
            path,
            live: RwLock::new(live),
        })
    }

    /// Puts `next` in service when its week has come. Sessions that stand are not touched.
    /// Returns whether anything changed.
    pub fn rotate(&self, now: i64) -> Result<bool, CertificateError> {
        let mut set = self.read().stored.clone();
        if !bring_up_to(&mut set, now)? {
            return Ok(false);
        }
        write(&self.path, &set)?;
        let next = live(&self.path, set)?;
        match self.live.write() {
            Ok(mut guard) => *guard = next,
            Err(poisoned) => *poisoned.into_inner() = next,
        }
        Ok(true)
    }

    /// The hashes to publish.
    pub fn published(&self) -> Published {
        self.read().published
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Live> {
        // A panic while the lock is held cannot leave the value half written: it is replaced whole.
        self.live
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let native = hello
            .alpn()
            .is_some_and(|mut offered| offered.any(|name| name == NATIVE_ALPN));
        let live = self.read();
        Some(if native {
            live.native.clone()
        } else {
            live.now.clone()
        })
    }
}

/// Moves `set` on to the certificates that belong to `now`; true when it changed.
fn bring_up_to(set: &mut StoredSet, now: i64) -> Result<bool, CertificateError> {
    let mut changed = false;
    if set.next.from <= now {
        let following = generate(now + ROTATION_MS, BROWSER_VALIDITY_MS)?;
        set.now = std::mem::replace(&mut set.next, following);
        changed = true;
    }
    // After a long rest, or a clock that was set back: neither may serve.
    let serves = |stored: &Stored| stored.from - SKEW_MS <= now && now < stored.until - DAY;
    if !serves(&set.now) {
        set.now = generate(now, BROWSER_VALIDITY_MS)?;
        set.next = generate(now + ROTATION_MS, BROWSER_VALIDITY_MS)?;
        changed = true;
    }
    if now >= set.native.until - DAY {
        set.native = generate(now, NATIVE_VALIDITY_MS)?;
        changed = true;
    }
    Ok(changed)
}

fn generate(from: i64, validity_ms: i64) -> Result<Stored, CertificateError> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::new(vec!["localhost".to_owned()])?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "lore-relay");
    params.distinguished_name = name;
    let start = from - SKEW_MS;
    // Whole seconds: X.509 has no finer time.
    let at = |ms: i64| {
        rcgen::date_time_ymd(1970, 1, 1)
            + Duration::from_secs(u64::try_from(ms / 1000).unwrap_or_default())
    };
    params.not_before = at(start);
    params.not_after = at(start + validity_ms);
    let certificate = params.self_signed(&key)?;
    Ok(Stored {
        certificate: BASE64.encode(certificate.der()),
        key: BASE64.encode(key.serialized_der()),
        from,
        until: start + validity_ms,
    })
}

fn parse(path: &Path, bytes: &[u8]) -> Result<StoredSet, CertificateError> {
    let damaged = |reason: String| CertificateError::Damaged {
        path: path.to_owned(),
        reason,
    };
    let Version { version } =
        serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    if version > FILE_VERSION {
        return Err(CertificateError::Newer {
            path: path.to_owned(),
            found: version,
        });
    }
    serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))
}

/// Replaces the file atomically; it holds private keys, so only the owner may read it.
fn write(path: &Path, set: &StoredSet) -> Result<(), CertificateError> {
    let fail = |source| CertificateError::Io {
        path: path.to_owned(),
        source,
    };
    let bytes = serde_json::to_vec_pretty(set).map_err(|error| fail(error.into()))?;
    let temporary = path.with_extension("json.new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let mut file = options.open(&temporary).map_err(fail)?;
    file.write_all(&bytes).map_err(fail)?;
    file.sync_all().map_err(fail)?;
    fs::rename(&temporary, path).map_err(fail)
}

fn live(path: &Path, stored: StoredSet) -> Result<Live, CertificateError> {
    let (native, native_print) = certified(path, &stored.native)?;
    let (now, now_print) = certified(path, &stored.now)?;
    let (_, next_print) = certified(path, &stored.next)?;
    Ok(Live {
        stored,
        native,
        now,
        published: Published {
            now: now_print,
            next: next_print,
            native: native_print,
        },
    })
}

fn certified(
    path: &Path,
    stored: &Stored,
) -> Result<(Arc<CertifiedKey>, Fingerprint), CertificateError> {
    let decode = |text: &str| {
        BASE64
            .decode(text.as_bytes())
            .map_err(|error| CertificateError::Damaged {
                path: path.to_owned(),
                reason: error.to_string(),
            })
    };
    let der = decode(&stored.certificate)?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(decode(&stored.key)?));
    let print = Sha256::digest(&der).into();
    let key = rustls::crypto::ring::sign::any_ecdsa_type(&key)?;
    Ok((
        Arc::new(CertifiedKey::new(vec![CertificateDer::from(der)], key)),
        print,
    ))
}
