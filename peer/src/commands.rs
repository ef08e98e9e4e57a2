//! What each command does.

use std::{path::Path, time::Duration};

use lore_codex::{Draft, Patch};
use lore_replica::{CampaignView, Event as ReplicaEvent, ListQuery, Replica, WriteOutcome};
use lore_seal::{CampaignId, Role};
use serde_json::json;

use crate::{
    cli::{Cli, Command, List, Record, Revise},
    codex,
    failure::Failure,
    line::{Line, LineError},
    meaning, output,
    output::Output,
    status::{Embedding, Status, TableStatus},
    values::{audience, entry_id, kind, revision, text},
};

/// The longest wait that a command line may ask for, in seconds.
const MAX_WAIT: f64 = 3600.0;
/// Pauses between attempts of `sync --watch`, doubling.
const RETRY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(1);

/// Where a write has got to, for text output.
struct Session {
    replica: Replica,
    out: Output,
    wait: Duration,
    offline: bool,
    named: Option<String>,
}

/// A chosen campaign with, perhaps, a line to its table.
struct Table {
    id: CampaignId,
    view: CampaignView,
    line: Option<Line>,
}

/// Carries a command out. `Ok(false)`: refused, and the reason has been printed.
pub(crate) async fn run(cli: Cli) -> Result<bool, Failure> {
    if !(0.0..=MAX_WAIT).contains(&cli.wait) {
        return Err(Failure::malformed(
            "invalid",
            "--wait is a number of seconds from 0 to 3600",
        ));
    }
    let path = match &cli.codex {
        Some(path) => path.clone(),
        None => codex::default_path()?,
    };
    let mut session = Session {
        replica: codex::open(&path)?,
        out: Output { json: cli.json },
        wait: Duration::from_secs_f64(cli.wait),
        offline: cli.offline,
        named: cli.campaign,
    };
    match cli.command {
        Command::Join { invitation, name } => session.join(&invitation, name.as_deref()).await,
        Command::Create { name, sample } => session.create(&name, sample),
        Command::OpenTable { relay } => session.open_table(&relay).await,
        Command::Invite { role } => session.invite(&role).await,
        Command::Record(record) => session.record(record).await,
        Command::List(list) => session.list(list).await,
        Command::Show { entry } => session.show(&entry).await,
        Command::Recall { questions, limit } => session.recall(&questions, limit).await,
        Command::Revise(revise) => session.revise(revise).await,
        Command::Forget { entry, expected } => session.forget(&entry, &expected).await,
        Command::Status => session.status(&path).await,
        Command::Sync { watch } => session.sync(watch).await,
    }
}

impl Session {
    /// The campaign that is meant, after fetching what others wrote.
    async fn table(&mut self) -> Result<Table, Failure> {
        let (id, view) = codex::campaign(&mut self.replica, self.named.as_deref())?;
        self.seat(id, view).await
    }

    async fn seat(&mut self, id: CampaignId, view: CampaignView) -> Result<Table, Failure> {
        let mut table = Table {
            id,
            view,
            line: None,
        };
        if let Some(relay) = self.replica.relay(id)?
            && !self.offline
        {
            match Line::open(&mut self.replica, id, &relay, self.wait).await {
                Ok(open) => table.line = Some(open),
                Err(error) => Self::excuse(error)?,
            }
            table.view = self.replica.campaign_view(id)?;
        }
        Ok(table)
    }

    /// Being offline is said and changes nothing else.
    fn excuse(error: LineError) -> Result<(), Failure> {
        match error {
            LineError::Offline(reason) => output::note(&format!("offline: {reason}")),
            LineError::Refused(message) => output::note(&format!("not at the table: {message}")),
            LineError::Store(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Sends what is new and says goodbye. Returns whether the relay has all of it durably.
    async fn deliver(&mut self, table: &mut Table) -> Result<bool, Failure> {
        let Some(mut line) = table.line.take() else {
            return Ok(false);
        };
        let delivered = match line.push(&mut self.replica, self.wait).await {
            Ok(delivered) => delivered,
            Err(error) => {
                Self::excuse(error)?;
                false
            }
        };
        line.close().await;
        Ok(delivered)
    }

    async fn leave(table: Table) {
        if let Some(line) = table.line {
            line.close().await;
        }
    }

    async fn join(&mut self, link: &str, name: Option<&str>) -> Result<bool, Failure> {
        if let Some(name) = name {
            self.replica.set_name(name)?;
        }
        let id = self.replica.join(link.trim())?;
        let view = self.replica.campaign_view(id)?;
        let Some(relay) = self.replica.relay(id)? else {
            return Err(Failure::refused("solo", "the invitation names no relay"));
        };
        let mut table = Table {
            id,
            view,
            line: None,
        };
        if !self.offline {
            match Line::open(&mut self.replica, id, &relay, self.wait).await {
                Ok(open) => table.line = Some(open),
                // Unlike any other command, joining means nothing when it is turned away.
                Err(LineError::Refused(message)) => {
                    return Err(Failure::refused("not-admitted", message));
                }
                Err(error) => Self::excuse(error)?,
            }
        }
        self.deliver(&mut table).await?;
        let view = self.replica.campaign_view(id)?;
        self.out.result(&view, || {
            if view.joining {
                format!(
                    "joined, but nothing has arrived yet; `lore sync` fetches it when {relay} is reachable"
                )
            } else {
                format!("joined\n{}", output::campaign(&view))
            }
        });
        Ok(true)
    }

    fn create(&mut self, name: &str, sample: bool) -> Result<bool, Failure> {
        let id = if sample {
            let id = self.replica.create_sample(&lore_sample::sample()?)?;
            self.replica.rename_campaign(id, name)?;
            id
        } else {
            self.replica.create_campaign(name)?
        };
        let view = self.replica.campaign_view(id)?;
        self.out
            .result(&view, || format!("founded\n{}", output::campaign(&view)));
        Ok(true)
    }

    async fn open_table(&mut self, relay: &str) -> Result<bool, Failure> {
        let (id, view) = codex::campaign(&mut self.replica, self.named.as_deref())?;
        self.replica.open_table(id, relay)?;
        let mut table = self.seat(id, view).await?;
        let delivered = self.deliver(&mut table).await?;
        let view = self.replica.campaign_view(id)?;
        self.out.result(&view, || {
            let state = if delivered {
                "open: everything is at the relay"
            } else {
                "open on this device; it is registered when the relay is reachable"
            };
            format!("{state}\n{}", output::campaign(&view))
        });
        Ok(true)
    }

    async fn invite(&mut self, role: &str) -> Result<bool, Failure> {
        let role: Role = role
            .parse()
            .ok()
            .filter(|role| *role != Role::Keeper)
            .ok_or_else(|| {
                Failure::malformed("invalid", "--role is player, co-keeper, watcher or scribe")
            })?;
        let mut table = self.table().await?;
        let invitation = self.replica.invite(table.id, role)?;
        let delivered = self.deliver(&mut table).await?;
        if !delivered {
            output::note(
                "the invitation works once this device has reached the relay: `lore sync`",
            );
        }
        let link = invitation.to_string();
        self.out.result(&json!({ "link": link }), || link.clone());
        Ok(true)
    }

    async fn record(&mut self, record: Record) -> Result<bool, Failure> {
        let mut draft = Draft::new(kind(&record.kind)?, record.title);
        draft.body = text(record.body, record.body_file.as_deref())?.unwrap_or_default();
        draft.threads = record.threads.into_iter().collect();
        draft.aliases = record.aliases.into_iter().collect();
        draft.when = record.when;
        draft.status = record.status;
        draft
            .check()
            .map_err(|error| Failure::malformed("invalid", error.to_string()))?;
        let audience = audience(&record.audience)?;
        let mut table = self.table().await?;
        let entry = self.replica.record(table.id, audience, &draft)?;
        self.deliver(&mut table).await?;
        self.written(&table, &entry.id, "recorded")
    }

    /// Prints an entry that was just written, as it is now.
    fn written(&mut self, table: &Table, id: &str, what: &str) -> Result<bool, Failure> {
        let Some(view) = self.replica.entry(entry_id(id)?)? else {
            return Err(Failure::refused(
                "no-entry",
                "the entry has been forgotten meanwhile",
            ));
        };
        self.out.result(&view, || {
            format!(
                "{what} {} at revision {}\n{}",
                view.id,
                view.revision,
                output::delivery(&view, table.view.table)
            )
        });
        Ok(true)
    }

    async fn list(&mut self, list: List) -> Result<bool, Failure> {
        if let Some(kind_named) = &list.kind {
            kind(kind_named)?;
        }
        if let Some(audience_named) = &list.audience {
            audience(audience_named)?;
        }
        let table = self.table().await?;
        let view = self.replica.list(
            table.id,
            &ListQuery {
                kind: list.kind,
                thread: list.thread,
                contested: list.contested,
                audience: list.audience,
                offset: list.offset,
                limit: list.limit,
            },
        )?;
        self.out.result(&view, || output::list(&view));
        Self::leave(table).await;
        Ok(true)
    }

    async fn show(&mut self, entry: &str) -> Result<bool, Failure> {
        let id = entry_id(entry)?;
        let table = self.table().await?;
        let view = self.replica.entry(id)?.ok_or_else(|| {
            Failure::refused(
                "no-entry",
                format!("entry {id} is not here, or was forgotten"),
            )
        })?;
        self.out.result(&view, || output::entry(&view));
        Self::leave(table).await;
        Ok(true)
    }

    async fn recall(&mut self, questions: &[String], limit: u32) -> Result<bool, Failure> {
        let table = self.table().await?;
        let mut vectors = Vec::new();
        match meaning::load() {
            Ok(model) => {
                let waiting = meaning::catch_up(&mut self.replica, &model, |done, total| {
                    output::progress(&format!("embedding {done} of {total}"));
                })?;
                output::progress_end();
                if waiting > 0 {
                    output::note(&format!(
                        "{waiting} passages are not embedded yet and were found by words only; the next recall goes on"
                    ));
                }
                vectors.extend(
                    questions
                        .iter()
                        .map(|question| Some(model.embed(question).to_vec())),
                );
            }
            Err(reason) => output::note(&format!("by words only: {reason}")),
        }
        while !self.replica.load_index(table.id)? {}
        let view = self.replica.recall(table.id, questions, &vectors, limit)?;
        self.out.result(&view, || output::recall(&view));
        Self::leave(table).await;
        Ok(true)
    }

    async fn revise(&mut self, revise: Revise) -> Result<bool, Failure> {
        let id = entry_id(&revise.entry)?;
        let expected = revision(&revise.expected)?;
        let clearable = |value: Option<String>| value.map(|v| (!v.is_empty()).then_some(v));
        let patch = Patch {
            kind: revise.kind.as_deref().map(kind).transpose()?,
            title: revise.title,
            body: text(revise.body, revise.body_file.as_deref())?,
            when: clearable(revise.when),
            status: clearable(revise.status),
            add_threads: revise.add_thread.into_iter().collect(),
            remove_threads: revise.remove_thread.into_iter().collect(),
            add_aliases: revise.add_alias.into_iter().collect(),
            remove_aliases: revise.remove_alias.into_iter().collect(),
        };
        if patch == Patch::default() {
            return Err(Failure::malformed(
                "invalid",
                "nothing to revise: name at least one field",
            ));
        }
        patch
            .check()
            .map_err(|error| Failure::malformed("invalid", error.to_string()))?;
        let mut table = self.table().await?;
        let outcome = self.replica.revise(id, &expected, &patch)?;
        self.deliver(&mut table).await?;
        match outcome {
            WriteOutcome::Done { .. } => {
                let view = self.replica.entry(id)?.ok_or_else(|| {
                    Failure::refused("no-entry", "the entry has been forgotten meanwhile")
                })?;
                let text = format!(
                    "revised {} to revision {}\n{}",
                    view.id,
                    view.revision,
                    output::delivery(&view, table.view.table)
                );
                let done = WriteOutcome::Done {
                    entry: Box::new(view),
                };
                self.out.result(&done, || text);
                Ok(true)
            }
            outcome => Ok(self.refused(&outcome)),
        }
    }

    /// Prints what a conditional write met instead; always `false`.
    fn refused(&self, outcome: &WriteOutcome) -> bool {
        self.out.result(outcome, || match outcome {
            WriteOutcome::Stale { current } => format!(
                "refused: the entry has changed since revision you gave; nothing was done. It is now:\n{}",
                output::entry(current)
            ),
            _ => "refused: the entry has been forgotten".into(),
        });
        false
    }

    async fn forget(&mut self, entry: &str, expected: &str) -> Result<bool, Failure> {
        let id = entry_id(entry)?;
        let expected = revision(expected)?;
        let mut table = self.table().await?;
        let outcome = self.replica.forget(id, &expected)?;
        let delivered = self.deliver(&mut table).await?;
        if let WriteOutcome::Stale { .. } = outcome {
            return Ok(self.refused(&outcome));
        }
        self.out.result(&outcome, || {
            let place = match (delivered, table.view.table) {
                (true, _) => "forgotten here, at the relay",
                (false, true) => "forgotten here; will be sent when the relay is reachable",
                (false, false) => "forgotten",
            };
            place.into()
        });
        Ok(true)
    }

    async fn status(&mut self, path: &Path) -> Result<bool, Failure> {
        let mut tables = Vec::new();
        let campaigns = self.replica.campaigns()?;
        for view in campaigns {
            let id = campaign_id(&view)?;
            let relay = self.replica.relay(id)?;
            let mut state = if relay.is_some() { "offline" } else { "solo" };
            let mut note = None;
            if let Some(relay) = &relay
                && !self.offline
            {
                match Line::open(&mut self.replica, id, relay, self.wait).await {
                    Ok(mut line) => {
                        state = "live";
                        // What waited is sent: status is a visit like any other.
                        if let Err(error) = line.push(&mut self.replica, self.wait).await {
                            state = "offline";
                            note = Some(reason(error)?);
                        }
                        line.close().await;
                    }
                    Err(error) => {
                        if matches!(error, LineError::Refused(_)) {
                            state = "refused";
                        }
                        note = Some(reason(error)?);
                    }
                }
            }
            tables.push(TableStatus {
                campaign: self.replica.campaign_view(id)?,
                relay,
                state,
                note,
            });
        }
        let progress = self.replica.embedding_progress()?;
        let status = Status {
            codex: path.display().to_string(),
            device: self.replica.device().to_string(),
            name: self.replica.name().to_owned(),
            waiting: self.replica.waiting()?,
            embedding: Embedding {
                done: progress.done,
                total: progress.total,
            },
            campaigns: tables,
        };
        self.out.result(&status, || status.text());
        Ok(true)
    }

    async fn sync(&mut self, watch: bool) -> Result<bool, Failure> {
        let (id, view) = codex::campaign(&mut self.replica, self.named.as_deref())?;
        let Some(relay) = self.replica.relay(id)? else {
            return Err(Failure::refused(
                "solo",
                "this campaign is on this device only; `lore open-table --relay URL` first",
            ));
        };
        if watch {
            return self.watch(id, &relay).await;
        }
        let mut table = Table {
            id,
            view,
            line: None,
        };
        match Line::open(&mut self.replica, id, &relay, self.wait).await {
            Ok(open) => table.line = Some(open),
            Err(LineError::Refused(message)) => {
                return Err(Failure::refused("refused", message));
            }
            Err(error) => {
                return Err(Failure::refused(
                    "offline",
                    format!("offline: {}", reason(error)?),
                ));
            }
        }
        let delivered = self.deliver(&mut table).await?;
        let view = self.replica.campaign_view(id)?;
        let waiting = self.replica.waiting()?;
        self.out.result(
            &json!({ "campaign": view, "delivered": delivered, "waiting": waiting }),
            || {
                let state = if delivered {
                    "everything is here and at the relay".to_owned()
                } else {
                    format!("{waiting} changes still wait to be sent")
                };
                format!("{state}\n{}", output::campaign(&view))
            },
        );
        Ok(delivered)
    }

    /// Stays at the table until interrupted, coming back after every break.
    async fn watch(&mut self, id: CampaignId, relay: &str) -> Result<bool, Failure> {
        let mut pause = RETRY;
        let interrupted = tokio::signal::ctrl_c();
        tokio::pin!(interrupted);
        loop {
            let out = self.out;
            let attempt = async {
                let mut line =
                    Line::open(&mut self.replica, id, relay, self.wait.max(RETRY)).await?;
                output::note("at the table");
                line.watch(&mut self.replica, |_, replica| {
                    for event in replica.take_events() {
                        announce(out, replica, &event);
                    }
                })
                .await
            };
            let ended = tokio::select! {
                ended = attempt => ended,
                _ = &mut interrupted => return Ok(true),
            };
            match ended {
                Ok(()) => pause = RETRY,
                Err(LineError::Refused(message)) => {
                    return Err(Failure::refused("refused", message));
                }
                Err(error) => Self::excuse(error)?,
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(RETRY_MAX),
                _ = &mut interrupted => return Ok(true),
            }
        }
    }
}

/// One line per change that arrives.
fn announce(out: Output, replica: &mut Replica, event: &ReplicaEvent) {
    let ReplicaEvent::Changed {
        entries,
        forgotten,
        remote: true,
        ..
    } = event
    else {
        return;
    };
    for id in entries {
        if let Ok(Some(entry)) = replica.entry(*id) {
            out.result(&json!({ "type": "changed", "entry": entry }), || {
                format!("[{}] {}  {}", entry.kind, entry.title, entry.id)
            });
        }
    }
    for id in forgotten {
        out.result(
            &json!({ "type": "forgotten", "entry": id.to_string() }),
            || format!("forgotten  {id}"),
        );
    }
}

fn reason(error: LineError) -> Result<String, Failure> {
    match error {
        LineError::Offline(reason) => Ok(reason),
        LineError::Refused(message) => Ok(message),
        LineError::Store(failure) => Err(failure),
    }
}

fn campaign_id(view: &CampaignView) -> Result<CampaignId, Failure> {
    view.id
        .parse()
        .map_err(|_| Failure::refused("store", "the codex holds a damaged campaign id"))
}
