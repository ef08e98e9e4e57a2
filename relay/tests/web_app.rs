//! What the TCP side serves besides the WebSocket.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::fs;

use common::{RelayProcess, get, request};

fn app() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir(root.join("assets")).unwrap();
    fs::write(root.join("index.html"), "<!doctype html>app").unwrap();
    fs::write(root.join("assets/index-AbCd_-12.js"), "plain").unwrap();
    fs::write(root.join("assets/index-AbCd_-12.js.br"), "brotli").unwrap();
    fs::write(root.join("assets/index-AbCd_-12.js.gz"), "gzip").unwrap();
    fs::write(root.join("manifest.webmanifest"), "{}").unwrap();
    fs::write(root.join(".secret"), "hidden").unwrap();
    fs::write(root.join("big.bin"), vec![7_u8; 700_000]).unwrap();
    dir
}

fn started() -> (tempfile::TempDir, tempfile::TempDir, RelayProcess) {
    let app = app();
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start_with(data.path(), &["--web", app.path().to_str().unwrap()]);
    (app, data, relay)
}

#[test]
fn serves_the_smallest_representation_that_the_client_takes() {
    let (_app, _data, relay) = started();
    let path = "/assets/index-AbCd_-12.js";
    for (accepted, body, encoding) in [
        ("gzip, deflate, br", "brotli", Some("br")),
        ("gzip", "gzip", Some("gzip")),
        ("br;q=0, gzip;q=0.5", "gzip", Some("gzip")),
        ("identity", "plain", None),
    ] {
        let response = get(relay.address, path, &[("accept-encoding", accepted)]);
        assert_eq!(response.status, 200);
        assert_eq!(response.body, body.as_bytes(), "{accepted}");
        assert_eq!(response.header("content-encoding"), encoding);
        assert_eq!(response.header("vary"), Some("accept-encoding"));
        assert_eq!(
            response.header("content-type"),
            Some("text/javascript; charset=utf-8")
        );
        assert_eq!(
            response.header("cache-control"),
            Some("public, max-age=31536000, immutable")
        );
    }
    let big = get(relay.address, "/big.bin", &[]);
    assert_eq!(big.body.len(), 700_000);
    assert_eq!(big.header("content-length"), Some("700000"));
}

#[test]
fn pages_fall_back_to_the_app_and_are_revalidated() {
    let (_app, _data, relay) = started();
    for path in ["/", "/j/ABCDEF", "/c/x/y"] {
        let page = get(relay.address, path, &[]);
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.body, b"<!doctype html>app");
        assert_eq!(page.header("cache-control"), Some("no-cache"));
    }
    let tag = get(relay.address, "/", &[])
        .header("etag")
        .unwrap()
        .to_owned();
    let again = get(relay.address, "/", &[("if-none-match", &tag)]);
    assert_eq!((again.status, again.body.len()), (304, 0));
    let head = request(relay.address, "HEAD", "/", &[]);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some("18"));
    assert_eq!(
        get(relay.address, "/assets/missing-12345678.js", &[]).status,
        404
    );
    assert_eq!(request(relay.address, "POST", "/", &[]).status, 405);
}

#[test]
fn nothing_outside_the_app_is_served() {
    let (app, _data, relay) = started();
    let outside = app.path().parent().unwrap().join("outside-of-the-app.txt");
    fs::write(&outside, "outside").unwrap();
    for path in [
        "/../outside-of-the-app.txt",
        "/%2e%2e/outside-of-the-app.txt",
        "/assets/..%2f..%2foutside-of-the-app.txt",
        "/..%5coutside-of-the-app.txt",
        "/.secret",
        "/%2Fetc/hosts.txt",
        "/%00.txt",
        "/%zz.txt",
        "/%",
    ] {
        let response = get(relay.address, path, &[]);
        assert_eq!(response.status, 404, "{path}");
        assert!(!String::from_utf8_lossy(&response.body).contains("outside"));
    }
    fs::remove_file(outside).unwrap();
}

#[test]
fn every_response_carries_the_security_headers() {
    let (_app, _data, relay) = started();
    for path in ["/", "/relay.json", "/health", "/nothing.txt"] {
        let response = get(relay.address, path, &[]);
        assert_eq!(
            response.header("origin-agent-cluster"),
            Some("?1"),
            "{path}"
        );
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert!(response.header("permissions-policy").is_some());
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'self'"));
        assert!(policy.contains("'wasm-unsafe-eval'"));
        // Styles may be inline; scripts may not.
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval';"));
        assert!(!policy.contains("'unsafe-eval'"));
        let transport = format!("https://127.0.0.1:{}", relay.address.port());
        assert!(policy.contains(&transport), "{policy}");
    }
}

#[test]
fn only_plain_host_names_are_echoed() {
    let (_app, _data, relay) = started();
    let port = relay.address.port();
    let url = |host: &str| {
        let response = get(relay.address, "/relay.json", &[("host", host)]);
        let json: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
        json["webtransport"]["url"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        url("lore.example:80"),
        format!("https://lore.example:{port}/sync")
    );
    assert_eq!(
        url("lore.example"),
        format!("https://lore.example:{port}/sync")
    );
    assert_eq!(url("[::1]:80"), format!("https://[::1]:{port}/sync"));
    // A browser might try ::1 for this name, where this relay does not listen.
    assert_eq!(
        url("localhost:80"),
        format!("https://127.0.0.1:{port}/sync")
    );
    for hostile in ["a;script-src *", "a'b", "[x]", "a:99999", "a,b"] {
        assert_eq!(
            url(hostile),
            format!("https://127.0.0.1:{port}/sync"),
            "{hostile}"
        );
    }
}

#[test]
fn describes_itself() {
    let (_app, _data, relay) = started();
    let json = relay.json();
    assert_eq!(json["protocol"], 1);
    assert_eq!(json["websocket"]["path"], "/ws");
    assert_eq!(json["quic"]["alpn"], "lore/1");
    assert_eq!(json["quic"]["port"], relay.address.port());
    for hash in [
        &json["webtransport"]["hashes"]["now"],
        &json["webtransport"]["hashes"]["next"],
        &json["quic"]["hash"],
    ] {
        assert_eq!(hash.as_str().unwrap().len(), 64);
    }
    assert_eq!(get(relay.address, "/health", &[]).body, b"ok\n");
}

#[test]
fn certificates_survive_a_restart_and_only_the_owner_reads_them() {
    let data = tempfile::tempdir().unwrap();
    let relay = RelayProcess::start(data.path());
    let before = relay.json();
    assert!(relay.terminate().success());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(data.path().join("certificates.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let relay = RelayProcess::start(data.path());
    assert_eq!(before["quic"]["hash"], relay.json()["quic"]["hash"]);
    assert_eq!(
        before["webtransport"]["hashes"],
        relay.json()["webtransport"]["hashes"]
    );
}
