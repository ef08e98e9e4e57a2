//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Lorekeeper on the command line: this device's own replica of the table's codex.
///
/// Everything is kept in one file on this device and works without a network. When a campaign is
/// a table, each command first fetches what others wrote (a few seconds at most), acts, and sends
/// what it wrote.
///
/// Exit codes: 0 done, 1 refused or failed (with --json the reason is on standard output), 2 the
/// command line or a value in it is malformed.
#[derive(Debug, Parser)]
#[command(name = "lore", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// The codex file [default: lore.codex in the platform's data directory]
    #[arg(long, global = true, env = "LORE_CODEX", value_name = "FILE")]
    pub(crate) codex: Option<PathBuf>,

    /// The campaign, by name or id; not needed while the codex holds only one
    #[arg(long, global = true, env = "LORE_CAMPAIGN", value_name = "NAME|ID")]
    pub(crate) campaign: Option<String>,

    /// Print JSON to standard output: the shapes of the page's engine contract
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Do not use the network
    #[arg(long, global = true)]
    pub(crate) offline: bool,

    /// How long to wait for the relay, in seconds
    #[arg(
        long,
        global = true,
        overrides_with = "wait",
        default_value_t = 3.0,
        value_name = "SECONDS"
    )]
    pub(crate) wait: f64,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Join a table with an invitation link
    Join {
        /// The whole link, with the part after '#'. In quotes: '#' starts a comment in most shells
        invitation: String,
        /// The name that others see
        #[arg(long)]
        name: Option<String>,
    },
    /// Found a campaign; this device becomes its keeper
    Create {
        /// The campaign's name
        name: String,
        /// Fill it with the sample campaign
        #[arg(long)]
        sample: bool,
    },
    /// Register the campaign at a relay, so that others can be invited
    OpenTable {
        /// The relay's address, e.g. https://lore.example or http://127.0.0.1:7474
        #[arg(long, value_name = "URL")]
        relay: String,
    },
    /// Make an invitation link: whoever has it can join, once or several times, until it expires
    Invite {
        /// player, co-keeper, watcher or scribe
        #[arg(long, default_value = "player")]
        role: String,
    },
    /// Record a new entry
    Record(Record),
    /// List entries, newest change first
    List(List),
    /// Show one entry, whole
    Show {
        /// The entry's id
        entry: String,
    },
    /// Find passages by meaning and by words
    Recall {
        /// The question; several wordings find more
        #[arg(required = true)]
        questions: Vec<String>,
        /// Passages wanted
        #[arg(long, default_value_t = 8)]
        limit: u32,
    },
    /// Revise an entry, provided that it has not changed since you saw it
    Revise(Revise),
    /// Forget an entry for everyone; it does not come back
    Forget {
        /// The entry's id
        entry: String,
        /// The revision that you saw
        #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
        expected: String,
    },
    /// Say where the codex is, what it holds and what waits to be sent
    Status,
    /// Exchange changes with the table
    Sync {
        /// Stay, and say what arrives, until interrupted
        #[arg(long)]
        watch: bool,
    },
}

/// A new entry.
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// One line
    pub(crate) title: String,
    /// npc, place, faction, item, promise, lie, thread, event, session, note, or a word of your own
    #[arg(long, default_value = "note")]
    pub(crate) kind: String,
    /// The text, Markdown
    #[arg(long, conflicts_with = "body_file", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Read the text from a file; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
    /// A thread that it belongs to; may be repeated
    #[arg(long = "thread", value_name = "THREAD")]
    pub(crate) threads: Vec<String>,
    /// Another name; may be repeated
    #[arg(long = "alias", value_name = "NAME")]
    pub(crate) aliases: Vec<String>,
    /// In-world time
    #[arg(long)]
    pub(crate) when: Option<String>,
    /// alive, broken, kept, …
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Who may read it: table or keeper
    #[arg(long, default_value = "table")]
    pub(crate) audience: String,
}

/// What to list.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only this kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Only this thread
    #[arg(long)]
    pub(crate) thread: Option<String>,
    /// Only entries with a contested field
    #[arg(long)]
    pub(crate) contested: bool,
    /// Only this audience: table or keeper
    #[arg(long)]
    pub(crate) audience: Option<String>,
    /// Entries to skip
    #[arg(long, default_value_t = 0)]
    pub(crate) offset: u32,
    /// Entries wanted
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: u32,
}

/// A conditional revision. What is not named stays.
#[derive(Debug, Args)]
pub(crate) struct Revise {
    /// The entry's id
    pub(crate) entry: String,
    /// The revision that you saw. If the entry has changed since, nothing is done and what is
    /// there now is printed
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    pub(crate) expected: String,
    /// New title
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// New kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// New text, whole
    #[arg(long, conflicts_with = "body_file", allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// Read the new text from a file; '-' is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
    /// New in-world time; empty clears it
    #[arg(long)]
    pub(crate) when: Option<String>,
    /// New status; empty clears it
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Add a thread; may be repeated
    #[arg(long, value_name = "THREAD")]
    pub(crate) add_thread: Vec<String>,
    /// Remove a thread; may be repeated
    #[arg(long, value_name = "THREAD")]
    pub(crate) remove_thread: Vec<String>,
    /// Add another name; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) add_alias: Vec<String>,
    /// Remove another name; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) remove_alias: Vec<String>,
}
