//! The real `lore` program on two codexes, with a real relay between them.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use std::{
    path::PathBuf,
    process::{Command, Output},
    sync::mpsc,
};

use lore_relay::{Config, Limits, Relay};
use serde_json::Value;

/// A relay on a thread of its own, on one port and store across restarts.
struct RelayThread {
    url: String,
    listen: std::net::SocketAddr,
    data: PathBuf,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl RelayThread {
    fn start(data: PathBuf, listen: std::net::SocketAddr) -> Self {
        let (ready, address) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let config = Config {
            listen,
            data: data.clone(),
            web: None,
            limits: Limits::default(),
        };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async move {
                let relay = Relay::start(config).unwrap();
                ready.send(relay.address()).unwrap();
                let _ = stopped.await;
                relay.stop().await;
            });
        });
        let listen = address.recv().unwrap();
        Self {
            url: format!("http://{listen}"),
            listen,
            data,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    fn restart(&mut self) {
        self.stop();
        *self = Self::start(self.data.clone(), self.listen);
    }
}

impl Drop for RelayThread {
    fn drop(&mut self) {
        self.stop();
    }
}

struct World {
    directory: tempfile::TempDir,
    relay: RelayThread,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("relay");
        let relay = RelayThread::start(data, "127.0.0.1:0".parse().unwrap());
        Self { directory, relay }
    }

    fn codex(&self, name: &str) -> PathBuf {
        self.directory.path().join(format!("{name}.codex"))
    }

    fn lore(&self, who: &str, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_lore"))
            .env_remove("LORE_CAMPAIGN")
            .env("LORE_MODEL", "/nowhere/model.lore")
            .arg("--codex")
            .arg(self.codex(who))
            // Bounds a failure only: what is reachable answers at once.
            .args(["--wait", "20"])
            .args(arguments)
            .output()
            .unwrap()
    }

    /// A command that must succeed, its JSON.
    fn json(&self, who: &str, arguments: &[&str]) -> Value {
        let output = self.lore(who, &[&["--json"], arguments].concat());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        parse(&output)
    }

    /// A command with this exit code, its JSON.
    fn fails(&self, who: &str, code: i32, arguments: &[&str]) -> Value {
        let output = self.lore(who, &[&["--json"], arguments].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
        parse(&output)
    }

    /// Keeper "ada" and player "bo" at one table.
    fn table() -> Self {
        let world = Self::new();
        world.json("ada", &["create", "The Sallow Reach"]);
        let url = world.relay.url.clone();
        world.json("ada", &["open-table", "--relay", &url]);
        let link = world.json("ada", &["invite"])["link"].clone();
        let joined = world.json("bo", &["join", link.as_str().unwrap(), "--name", "Bo"]);
        assert_eq!(joined["name"], "The Sallow Reach");
        assert_eq!(joined["role"], "player");
        assert_eq!(joined["joining"], false);
        world
    }

    fn titles(&self, who: &str) -> Vec<String> {
        let list = self.json(who, &["list"]);
        let mut titles: Vec<_> = list["entries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| string(&entry["title"]))
            .collect();
        titles.sort();
        titles
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn parse(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn what_one_records_the_other_lists() {
    let world = World::table();
    let entry = world.json(
        "bo",
        &[
            "record",
            "Tainted wells",
            "--kind",
            "place",
            "--body",
            "Do not drink.",
            "--thread",
            "sickness",
            "--alias",
            "the wells",
            "--status",
            "unsafe",
        ],
    );
    // The shape of the engine contract.
    for key in [
        "id",
        "campaign",
        "audience",
        "revision",
        "kind",
        "title",
        "body",
        "threads",
        "aliases",
        "when",
        "status",
        "derivedFrom",
        "createdAt",
        "createdBy",
        "updatedAt",
        "updatedBy",
        "contested",
        "delivery",
    ] {
        assert!(entry.get(key).is_some(), "{key}");
    }
    assert_eq!(entry["delivery"]["state"], "relay");
    assert_eq!(entry["createdBy"]["self"], true);

    let list = world.json("ada", &["list", "--kind", "place"]);
    assert_eq!(list["total"], 1);
    let seen = &list["entries"][0];
    assert_eq!(seen["revision"], entry["revision"]);
    assert_eq!(seen["createdBy"]["name"], "Bo");
    assert_eq!(seen["createdBy"]["self"], false);
    assert_eq!(seen["delivery"]["state"], "received");
    assert_eq!(world.json("ada", &["list", "--kind", "npc"])["total"], 0);
    let shown = world.json("ada", &["show", entry["id"].as_str().unwrap()]);
    assert_eq!(shown["body"], "Do not drink.");
}

#[test]
fn recall_answers_by_words_without_the_model_and_says_so() {
    let world = World::table();
    world.json(
        "bo",
        &[
            "record",
            "Tainted wells",
            "--body",
            "# Low Mallow\n\nThe tannery's lye.",
        ],
    );
    let output = world.lore("ada", &["--json", "recall", "tannery"]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("by words only"));
    let recalled = parse(&output);
    assert_eq!(recalled["byMeaning"], false);
    assert_eq!(recalled["searched"], 1);
    let hit = &recalled["hits"][0];
    assert_eq!(hit["entry"]["title"], "Tainted wells");
    assert_eq!(hit["why"], "words");
    assert!(hit["startLine"].as_u64().unwrap() <= 3 && hit["endLine"].as_u64().unwrap() >= 3);
}

#[test]
fn a_stale_revision_is_refused_and_what_is_there_now_is_printed() {
    let world = World::table();
    let entry = world.json("ada", &["record", "The ferry", "--status", "running"]);
    let (id, old) = (string(&entry["id"]), string(&entry["revision"]));
    let revised = world.json(
        "bo",
        &["revise", &id, "--expected", &old, "--status", "sunk"],
    );
    assert_eq!(revised["outcome"], "done");
    assert_eq!(revised["entry"]["delivery"]["state"], "relay");

    let refused = world.fails(
        "ada",
        1,
        &["revise", &id, "--expected", &old, "--status", "late"],
    );
    assert_eq!(refused["outcome"], "stale");
    assert_eq!(refused["current"]["status"], "sunk");
    assert_eq!(refused["current"]["revision"], revised["entry"]["revision"]);
    assert_eq!(world.json("bo", &["show", &id])["status"], "sunk");
    let refused = world.fails("ada", 1, &["forget", &id, "--expected", &old]);
    assert_eq!(refused["outcome"], "stale");

    let plain = world.lore(
        "ada",
        &["revise", &id, "--expected", &old, "--status", "late"],
    );
    assert_eq!(plain.status.code(), Some(1));
    assert!(text(&plain.stdout).contains("sunk"));

    // An empty value clears.
    let now = string(&refused["current"]["revision"]);
    let cleared = world.json("ada", &["revise", &id, "--expected", &now, "--status", ""]);
    assert_eq!(cleared["entry"]["status"], Value::Null);
}

#[test]
fn what_is_forgotten_is_gone_everywhere() {
    let world = World::table();
    let entry = world.json("ada", &["record", "A mistake"]);
    let (id, revision) = (string(&entry["id"]), string(&entry["revision"]));
    assert_eq!(world.titles("bo"), ["A mistake"]);
    let outcome = world.json("bo", &["forget", &id, "--expected", &revision]);
    assert_eq!(outcome["outcome"], "forgotten");
    assert!(world.titles("ada").is_empty());
    assert_eq!(world.fails("ada", 1, &["show", &id])["code"], "no-entry");
    let again = world.fails(
        "ada",
        1,
        &["revise", &id, "--expected", &revision, "--title", "Back"],
    );
    assert!(again["outcome"] == "forgotten" || again["code"] == "no-entry");
}

#[test]
fn both_sides_work_offline_and_reconcile() {
    let mut world = World::table();
    world.json("ada", &["record", "Before"]);
    assert_eq!(world.titles("bo"), ["Before"]);
    world.relay.stop();

    let output = world.lore("bo", &["--wait", "1", "record", "Bo, away"]);
    assert!(output.status.success());
    assert!(
        text(&output.stderr).contains("offline"),
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stdout).contains("will be sent when the relay is reachable"));
    let entry = world.json("ada", &["--offline", "record", "Ada, away"]);
    assert_eq!(entry["delivery"]["state"], "here");
    assert_eq!(world.json("ada", &["--offline", "status"])["waiting"], 1);
    assert_eq!(world.fails("ada", 1, &["sync"])["code"], "offline");

    world.relay.restart();
    let synced = world.json("ada", &["sync"]);
    assert_eq!(
        (&synced["delivered"], &synced["waiting"]),
        (&true.into(), &0.into())
    );
    world.json("bo", &["sync"]);
    let all = ["Ada, away", "Before", "Bo, away"];
    assert_eq!(world.titles("bo"), all);
    assert_eq!(world.titles("ada"), all);
    // What was acknowledged stays known without the relay.
    let status = world.json("ada", &["--offline", "status"]);
    assert_eq!(status["waiting"], 0);
    assert_eq!(status["campaigns"][0]["state"], "offline");
}

#[test]
fn concurrent_plain_fields_are_contested_on_both_sides() {
    let world = World::table();
    let entry = world.json("ada", &["record", "The bridge", "--status", "whole"]);
    let (id, base) = (string(&entry["id"]), string(&entry["revision"]));
    world.json("bo", &["sync"]);
    world.json(
        "ada",
        &[
            "--offline",
            "revise",
            &id,
            "--expected",
            &base,
            "--status",
            "burnt",
        ],
    );
    world.json(
        "bo",
        &[
            "--offline",
            "revise",
            &id,
            "--expected",
            &base,
            "--status",
            "guarded",
        ],
    );
    world.json("ada", &["sync"]);
    world.json("bo", &["sync"]);
    world.json("ada", &["sync"]);
    for who in ["ada", "bo"] {
        let shown = world.json(who, &["--offline", "show", &id]);
        let contested = &shown["contested"][0];
        assert_eq!(contested["field"], "status", "{who}");
        let mut values: Vec<_> = contested["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|candidate| string(&candidate["value"]))
            .collect();
        values.sort();
        assert_eq!(values, ["burnt", "guarded"]);
    }
}

#[test]
fn the_keepers_entries_stay_with_the_keeper() {
    let world = World::table();
    world.json(
        "ada",
        &["record", "The mayor did it", "--audience", "keeper"],
    );
    assert_eq!(world.titles("ada"), ["The mayor did it"]);
    assert!(world.titles("bo").is_empty());
    let refused = world.fails("bo", 1, &["record", "Mine", "--audience", "keeper"]);
    assert_eq!(refused["code"], "forbidden");
}

#[test]
fn malformed_values_exit_with_two_and_say_what_to_do() {
    let world = World::new();
    world.json("ada", &["create", "Solo"]);
    for arguments in [
        &["show", "not-an-id"][..],
        &[
            "revise",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "--expected",
            "no",
            "--title",
            "x",
        ],
        &["record", ""],
        &["record", "x", "--kind", "Two Words"],
        &["record", "x", "--audience", "everyone"],
        &["join", "https://lore.example/j/nothing"],
        &["--campaign", "Another", "list"],
        &["--wait", "9999", "list"],
    ] {
        let failure = world.fails("ada", 2, arguments);
        assert!(!string(&failure["code"]).is_empty());
        assert!(string(&failure["message"]).len() > 10, "{failure}");
    }
    assert_eq!(world.lore("ada", &["revise"]).status.code(), Some(2));
    assert_eq!(world.fails("eve", 1, &["list"])["code"], "no-campaign");
    assert_eq!(world.fails("ada", 1, &["sync"])["code"], "solo");
    assert_eq!(world.fails("ada", 1, &["invite"])["code"], "solo");
}

#[test]
fn a_campaign_is_chosen_by_name_or_id() {
    let world = World::new();
    let first = world.json("ada", &["create", "First"]);
    world.json("ada", &["create", "Second"]);
    assert_eq!(world.fails("ada", 2, &["list"])["code"], "which-campaign");
    world.json("ada", &["--campaign", "first", "record", "Here"]);
    let id = string(&first["id"]);
    assert_eq!(world.json("ada", &["--campaign", &id, "list"])["total"], 1);
    assert_eq!(
        world.json("ada", &["--campaign", "Second", "list"])["total"],
        0
    );
}

#[test]
fn only_the_owner_reads_the_codex_file() {
    let world = World::new();
    world.json("ada", &["create", "Solo"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(world.codex("ada"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_file_that_is_no_codex_is_left_alone() {
    let world = World::new();
    let text = "a shopping list, by no means a database\n".repeat(40);
    std::fs::write(world.codex("ada"), &text).unwrap();
    let failure = world.fails("ada", 1, &["list"]);
    assert_eq!(failure["code"], "codex");
    assert_eq!(std::fs::read_to_string(world.codex("ada")).unwrap(), text);
}

#[test]
fn a_relay_with_another_certificate_is_not_spoken_to() {
    use std::time::Duration;
    let world = World::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let patience = Duration::from_secs(20);
        let mut endpoint = lore_peer::net::discover(&world.relay.url, patience)
            .await
            .unwrap();
        lore_peer::net::connect_to(&endpoint, patience)
            .await
            .unwrap();
        endpoint.certificate[0] ^= 1;
        assert!(
            lore_peer::net::connect_to(&endpoint, patience)
                .await
                .is_err()
        );
    });
}
