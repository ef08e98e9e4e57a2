//! What `lore status` says.

use std::fmt::Write as _;

use lore_replica::CampaignView;
use serde::Serialize;

use crate::output;

/// `lore status`.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    pub(crate) codex: String,
    pub(crate) device: String,
    pub(crate) name: String,
    /// Envelopes that the relay has not acknowledged.
    pub(crate) waiting: u64,
    pub(crate) embedding: Embedding,
    pub(crate) campaigns: Vec<TableStatus>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Embedding {
    pub(crate) done: u64,
    pub(crate) total: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct TableStatus {
    #[serde(flatten)]
    pub(crate) campaign: CampaignView,
    pub(crate) relay: Option<String>,
    /// solo, live, offline or refused.
    pub(crate) state: &'static str,
    pub(crate) note: Option<String>,
}

impl Status {
    /// The same for people.
    pub(crate) fn text(&self) -> String {
        let name = if self.name.is_empty() {
            "no name yet"
        } else {
            &self.name
        };
        let mut text = format!("codex  {}\ndevice {} ({name})\n", self.codex, self.device);
        let _ = match self.waiting {
            0 => writeln!(text, "nothing waits to be sent"),
            1 => writeln!(text, "1 change waits to be sent"),
            waiting => writeln!(text, "{waiting} changes wait to be sent"),
        };
        let _ = writeln!(
            text,
            "{} of {} passages embedded",
            self.embedding.done, self.embedding.total
        );
        for table in &self.campaigns {
            let _ = write!(
                text,
                "{} · {}",
                output::campaign(&table.campaign),
                table.state
            );
            if let Some(relay) = &table.relay {
                let _ = write!(text, " · {relay}");
            }
            if let Some(note) = &table.note {
                let _ = write!(text, "\n  {note}");
            }
            text.push('\n');
        }
        if self.campaigns.is_empty() {
            text.push_str("no campaign yet: `lore join '<invitation>'` or `lore create <name>`");
        }
        text
    }
}
