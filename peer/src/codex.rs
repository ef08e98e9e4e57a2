//! Opening the codex file, and choosing a campaign in it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use lore_replica::{CampaignView, Host, Replica};
use lore_seal::CampaignId;

use crate::failure::Failure;

/// How long a command waits for another one that is writing to the same codex.
const BUSY: Duration = Duration::from_secs(10);

/// The clock and the randomness of the operating system.
struct Device;

impl Host for Device {
    fn now(&self) -> i64 {
        now()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            // Going on would make keys that others can guess; there is no way to answer anything.
            eprintln!("lore: the operating system gives no randomness: {error}");
            std::process::abort();
        }
    }
}

/// Milliseconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

/// Where the codex is when nothing is said.
pub(crate) fn default_path() -> Result<PathBuf, Failure> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let directory = if cfg!(target_os = "macos") {
        variable("HOME").map(|home| PathBuf::from(home).join("Library/Application Support"))
    } else if cfg!(windows) {
        variable("APPDATA").map(PathBuf::from)
    } else {
        variable("XDG_DATA_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".local/share")))
    };
    directory
        .map(|directory| directory.join("lorekeeper/lore.codex"))
        .ok_or_else(|| {
            Failure::malformed(
                "no-codex",
                "no home directory: say where the codex is, with --codex FILE",
            )
        })
}

/// Opens the codex, which is made when missing. It holds the device's key: only the owner reads it.
pub(crate) fn open(path: &Path) -> Result<Replica, Failure> {
    let fail = |error: io::Error| {
        Failure::refused(
            "codex",
            format!("{} cannot be opened: {error}", path.display()),
        )
    };
    if let Some(directory) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        fs::create_dir_all(directory).map_err(fail)?;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // SQLite gives its journal files the same mode.
        options.mode(0o600);
    }
    drop(options.open(path).map_err(fail)?);
    let connection = rusqlite::Connection::open(path)
        .and_then(|connection| connection.busy_timeout(BUSY).map(|()| connection))
        .map_err(|error| Failure::refused("codex", format!("{}: {error}", path.display())))?;
    Replica::open(connection, Box::new(Device))
        .map_err(|error| Failure::refused("codex", format!("{}: {error}", path.display())))
}

/// The campaign that is meant: the named one, or the only one.
pub(crate) fn campaign(
    replica: &mut Replica,
    named: Option<&str>,
) -> Result<(CampaignId, CampaignView), Failure> {
    let mut all = replica.campaigns()?;
    let position = match named {
        Some(named) => {
            let matching: Vec<_> = all
                .iter()
                .enumerate()
                .filter(|(_, campaign)| {
                    campaign.id == named || campaign.name.to_lowercase() == named.to_lowercase()
                })
                .map(|(position, _)| position)
                .collect();
            match matching[..] {
                [position] => position,
                [] => {
                    return Err(Failure::malformed(
                        "no-campaign",
                        format!(
                            "no campaign {named:?} in this codex; there is {}",
                            names(&all)
                        ),
                    ));
                }
                _ => {
                    return Err(Failure::malformed(
                        "which-campaign",
                        format!(
                            "several campaigns are called {named:?}; give the id: {}",
                            names(&all)
                        ),
                    ));
                }
            }
        }
        None => match all.len() {
            1 => 0,
            0 => {
                return Err(Failure::refused(
                    "no-campaign",
                    "this codex is empty: `lore join '<invitation>'` or `lore create <name>` first",
                ));
            }
            _ => {
                return Err(Failure::malformed(
                    "which-campaign",
                    format!("say which campaign, with --campaign: {}", names(&all)),
                ));
            }
        },
    };
    let view = all.swap_remove(position);
    let id = view
        .id
        .parse()
        .map_err(|_| Failure::refused("store", "the codex holds a damaged campaign id"))?;
    Ok((id, view))
}

fn names(campaigns: &[CampaignView]) -> String {
    if campaigns.is_empty() {
        return "none".into();
    }
    campaigns
        .iter()
        .map(|campaign| {
            let name = if campaign.name.is_empty() {
                "still arriving"
            } else {
                &campaign.name
            };
            format!("{name} ({})", campaign.id)
        })
        .collect::<Vec<_>>()
        .join(", ")
}
