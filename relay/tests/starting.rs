//! What an operator sees when the relay cannot start, and the certificates' calendar.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::{fs, path::Path};

use common::{RelayProcess, command};
use lore_relay::certificates::{CertificateError, Certificates, ROTATION_MS};

/// Exit code and standard error of a relay that refuses to start.
fn refusal(data: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = command(data, more).output().unwrap();
    assert!(output.stdout.is_empty());
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn sqlite(path: &Path, sql: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let data = tempfile::tempdir().unwrap();
    assert!(RelayProcess::start(data.path()).terminate().success());
    let store = data.path().join("relay.db");
    sqlite(
        &store,
        "PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE);",
    );
    let before = fs::read(&store).unwrap();
    let (code, message) = refusal(data.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("schema version 99"), "{message}");
    assert!(message.contains("newer relay"), "{message}");
    assert_eq!(fs::read(&store).unwrap(), before);
}

#[test]
fn foreign_files_are_refused_and_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let store = data.path().join("relay.db");
    sqlite(&store, "CREATE TABLE recipes (title TEXT);");
    let before = fs::read(&store).unwrap();
    let (code, message) = refusal(data.path(), &[]);
    assert_eq!(code, Some(1));
    assert!(message.contains("not a relay's store"), "{message}");
    assert_eq!(fs::read(&store).unwrap(), before);

    fs::write(
        &store,
        "no database at all, but long enough to be taken for one".repeat(40),
    )
    .unwrap();
    let (_, message) = refusal(data.path(), &[]);
    assert!(message.contains("not a relay's store"), "{message}");
}

#[test]
fn two_relays_do_not_share_a_store_or_a_port() {
    let data = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(data.path());
    let (_, message) = refusal(data.path(), &[]);
    assert!(message.contains("another relay is using"), "{message}");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lore-relay"))
        .args(["--listen", &relay.address.to_string(), "--data"])
        .arg(other.path())
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("is in use"), "{message}");
}

#[test]
fn a_missing_web_app_is_named() {
    let data = tempfile::tempdir().unwrap();
    let (code, message) = refusal(data.path(), &["--web", data.path().to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(message.contains("index.html"), "{message}");
}

#[test]
fn browser_certificates_move_on_weekly_and_next_becomes_now() {
    let directory = tempfile::tempdir().unwrap();
    let start = 1_800_000_000_000;
    let certificates = Certificates::open(directory.path(), start).unwrap();
    let first = certificates.published();
    assert!(!certificates.rotate(start + ROTATION_MS - 1).unwrap());
    assert_eq!(certificates.published(), first);
    assert!(certificates.rotate(start + ROTATION_MS).unwrap());
    let second = certificates.published();
    assert_eq!(second.now, first.next);
    assert_ne!(second.next, first.next);
    assert_eq!(second.native, first.native);
    // A restart reads what was written.
    let again = Certificates::open(directory.path(), start + ROTATION_MS + 1).unwrap();
    assert_eq!(again.published(), second);
    // A relay that rested for a month starts with a certificate that is valid.
    let later = start + 30 * 24 * 3_600_000;
    let rested = Certificates::open(directory.path(), later).unwrap();
    let third = rested.published();
    assert!(third.now != second.now && third.now != second.next);
    assert_eq!(third.native, first.native);
}

#[test]
fn damaged_or_newer_certificates_are_refused_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("certificates.json");
    fs::write(&path, "{").unwrap();
    let error = Certificates::open(directory.path(), 0).unwrap_err();
    assert!(matches!(error, CertificateError::Damaged { .. }));
    assert!(error.to_string().contains("move it away"));
    fs::write(&path, r#"{"version":2,"more":[]}"#).unwrap();
    let error = Certificates::open(directory.path(), 0).unwrap_err();
    assert!(matches!(error, CertificateError::Newer { found: 2, .. }));
}
