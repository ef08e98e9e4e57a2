//! The page's calls, by name: JSON in, JSON out. `web/src/engine/api.ts` is the contract.

use lore_codex::{Draft, EntryId, Patch, PlainField, Revision, Splice};
use lore_replica::{ListQuery, Replica, Sample, StoreError, TableError, WriteError, WriteOutcome};
use lore_seal::{Audience, CampaignId, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An error as the page gets it: `code` for the program, `message` for the person.
#[derive(Debug, Serialize)]
pub(crate) struct CallError {
    code: &'static str,
    message: String,
}

impl CallError {
    #[allow(clippy::needless_pass_by_value)] // so that errors can be handed over as they are
    pub(crate) fn new(code: &'static str, message: impl ToString) -> Self {
        Self {
            code,
            message: message.to_string(),
        }
    }
}

impl From<StoreError> for CallError {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NoCampaign(_) => "no-campaign",
            StoreError::Damaged(_) => "damaged",
            _ => "store",
        };
        Self::new(code, error)
    }
}

impl From<WriteError> for CallError {
    fn from(error: WriteError) -> Self {
        let code = match error {
            WriteError::Store(error) => return error.into(),
            WriteError::NoEntry(_) => "no-entry",
            WriteError::Invalid(_) => "invalid",
            WriteError::Forbidden { .. } => "forbidden",
            WriteError::TooLarge => "too-large",
            _ => "write",
        };
        Self::new(code, error)
    }
}

impl From<TableError> for CallError {
    fn from(error: TableError) -> Self {
        let code = match error {
            TableError::Store(error) => return error.into(),
            TableError::BadLink(_) => "bad-link",
            TableError::Refused(_) => "refused",
            TableError::KeeperOnly => "keeper-only",
            TableError::Solo => "solo",
            _ => "table",
        };
        Self::new(code, error)
    }
}

#[derive(Deserialize)]
struct OfCampaign {
    campaign: CampaignId,
}

#[derive(Deserialize)]
struct OfEntry {
    entry: EntryId,
}

#[derive(Deserialize)]
struct SetName {
    name: String,
}

#[derive(Deserialize)]
struct CreateCampaign {
    name: String,
    /// The sample's data, where the campaign is to be the sample.
    #[serde(default)]
    data: Option<String>,
}

#[derive(Deserialize)]
struct NameCampaign {
    campaign: CampaignId,
    name: String,
}

#[derive(Deserialize)]
struct OpenTable {
    campaign: CampaignId,
    relay: String,
}

#[derive(Deserialize)]
struct Invite {
    campaign: CampaignId,
    role: Role,
}

#[derive(Deserialize)]
struct Join {
    link: String,
    name: String,
}

#[derive(Deserialize)]
struct List {
    campaign: CampaignId,
    #[serde(flatten)]
    query: Listed,
}

/// `ListQuery` without its refusal of unknown fields, which `flatten` cannot keep.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Listed {
    kind: Option<String>,
    thread: Option<String>,
    contested: bool,
    audience: Option<String>,
    offset: u32,
    limit: u32,
}

#[derive(Deserialize)]
struct Record {
    campaign: CampaignId,
    #[serde(default)]
    audience: Option<Audience>,
    draft: Draft,
}

#[derive(Deserialize)]
struct Revise {
    entry: EntryId,
    expected: Revision,
    patch: Patch,
}

#[derive(Deserialize)]
struct SpliceBody {
    entry: EntryId,
    base: Revision,
    splices: Vec<Splice>,
}

#[derive(Deserialize)]
struct Settle {
    entry: EntryId,
    expected: Revision,
    field: PlainField,
    value: Option<String>,
}

#[derive(Deserialize)]
struct Forget {
    entry: EntryId,
    expected: Revision,
}

#[derive(Deserialize)]
struct StateAt {
    entry: EntryId,
    revision: Revision,
}

#[derive(Deserialize)]
struct Recall {
    campaign: CampaignId,
    queries: Vec<String>,
    #[serde(default)]
    vectors: Vec<Option<Vec<f32>>>,
    #[serde(default)]
    limit: u32,
}

fn parse<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T, CallError> {
    serde_json::from_value(params)
        .map_err(|error| CallError::new("malformed", format!("the call is malformed: {error}")))
}

fn answer<T: Serialize>(value: T) -> Result<Value, CallError> {
    serde_json::to_value(value).map_err(|error| CallError::new("internal", error))
}

/// Carries one call out. `op` names it, so that a write sent again is done once.
pub(crate) fn call(
    replica: &mut Replica,
    method: &str,
    params: Value,
    op: &str,
) -> Result<Value, CallError> {
    if let Some(done) = repeated(replica, method, op)? {
        return Ok(done);
    }
    replica.begin_operation(op);
    let result = dispatch(replica, method, params);
    replica.begin_operation("");
    result
}

/// The answer to a write that was carried out before its answer got lost.
fn repeated(replica: &mut Replica, method: &str, op: &str) -> Result<Option<Value>, CallError> {
    if !matches!(method, "record" | "revise" | "splice" | "settle" | "forget") {
        return Ok(None);
    }
    let Some(id) = replica.operation_done(op)? else {
        return Ok(None);
    };
    let Some(entry) = replica.entry(id)? else {
        return Ok(Some(json!({ "outcome": "forgotten" })));
    };
    let entry = Box::new(entry);
    match method {
        "record" => answer(entry),
        "splice" => {
            Ok(json!({ "outcome": "done", "revision": entry.revision, "body": entry.body }))
        }
        _ => answer(WriteOutcome::Done { entry }),
    }
    .map(Some)
}

#[allow(clippy::too_many_lines)] // one table of calls, a few lines each
fn dispatch(replica: &mut Replica, method: &str, params: Value) -> Result<Value, CallError> {
    match method {
        "campaigns" => answer(replica.campaigns()?),
        "setName" => {
            let SetName { name } = parse(params)?;
            answer(replica.set_name(&name)?)
        }
        "createCampaign" => {
            let CreateCampaign { name, data } = parse(params)?;
            let id = if let Some(data) = data {
                let sample =
                    Sample::parse(&data).map_err(|error| CallError::new("sample", error))?;
                replica.create_sample(&sample)?
            } else {
                replica.create_campaign(&name)?
            };
            answer(replica.campaign_view(id)?)
        }
        "clearSample" => {
            let NameCampaign { campaign, name } = parse(params)?;
            let id = replica.clear_sample(campaign, &name)?;
            answer(replica.campaign_view(id)?)
        }
        "openTable" => {
            let OpenTable { campaign, relay } = parse(params)?;
            replica.open_table(campaign, &relay)?;
            answer(replica.campaign_view(campaign)?)
        }
        "invite" => {
            let Invite { campaign, role } = parse(params)?;
            Ok(json!({ "link": replica.invite(campaign, role)?.to_string() }))
        }
        "join" => {
            let Join { link, name } = parse(params)?;
            if !name.trim().is_empty() {
                replica.set_name(&name)?;
            }
            let id = replica.join(&link)?;
            answer(replica.campaign_view(id)?)
        }
        "list" => {
            let List { campaign, query } = parse(params)?;
            let query = ListQuery {
                kind: query.kind,
                thread: query.thread,
                contested: query.contested,
                audience: query.audience,
                offset: query.offset,
                limit: query.limit,
            };
            answer(replica.list(campaign, &query)?)
        }
        "facets" => answer(replica.facets(parse::<OfCampaign>(params)?.campaign)?),
        "get" => answer(replica.entry(parse::<OfEntry>(params)?.entry)?),
        "record" => {
            let Record {
                campaign,
                audience,
                draft,
            } = parse(params)?;
            answer(replica.record(campaign, audience.unwrap_or(Audience::Table), &draft)?)
        }
        "revise" => {
            let Revise {
                entry,
                expected,
                patch,
            } = parse(params)?;
            answer(replica.revise(entry, &expected, &patch)?)
        }
        "splice" => {
            let SpliceBody {
                entry,
                base,
                splices,
            } = parse(params)?;
            answer(replica.splice(entry, &base, &splices)?)
        }
        "settle" => {
            let Settle {
                entry,
                expected,
                field,
                value,
            } = parse(params)?;
            answer(replica.settle(entry, &expected, field, value.as_deref())?)
        }
        "forget" => {
            let Forget { entry, expected } = parse(params)?;
            answer(replica.forget(entry, &expected)?)
        }
        "history" => answer(
            replica
                .history(parse::<OfEntry>(params)?.entry)?
                .unwrap_or_default(),
        ),
        "stateAt" => {
            let StateAt { entry, revision } = parse(params)?;
            answer(replica.state_at(entry, &revision)?)
        }
        "recall" => {
            let Recall {
                campaign,
                queries,
                vectors,
                limit,
            } = parse(params)?;
            answer(replica.recall(campaign, &queries, &vectors, limit)?)
        }
        _ => Err(CallError::new(
            "unknown-call",
            format!("there is no call `{method}`"),
        )),
    }
}
