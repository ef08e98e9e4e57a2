//! The TCP entrance: the web app, `/relay.json`, `/health` and the WebSocket fallback `/ws`.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::{Request, State, WebSocketUpgrade},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::get,
};
use data_encoding::HEXLOWER;
use serde::Serialize;

use super::{Entrance, files::Files, headers, headers::Authority, session::Session};
use crate::{
    NATIVE_ALPN, PROTOCOL, WEB_SOCKET_PATH, WEB_TRANSPORT_PATH, certificates::Certificates,
};

/// A WebSocket message is one frame.
const MAX_MESSAGE: usize = lore_sync::MAX_FRAME;

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Web {
    pub(crate) entrance: Entrance,
    pub(crate) certificates: Arc<Certificates>,
    pub(crate) files: Option<Files>,
    pub(crate) listening: SocketAddr,
}

/// `/relay.json`: how to reach the relay from where this answer was fetched.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    /// Version of the frames.
    protocol: u16,
    webtransport: WebTransport,
    websocket: Path,
    quic: Quic,
}

#[derive(Serialize)]
struct WebTransport {
    url: String,
    port: u16,
    path: &'static str,
    hashes: Hashes,
}

/// SHA-256 of the DER certificates, hexadecimal.
#[derive(Serialize)]
struct Hashes {
    now: String,
    next: String,
}

#[derive(Serialize)]
struct Path {
    path: &'static str,
}

#[derive(Serialize)]
struct Quic {
    port: u16,
    alpn: String,
    /// SHA-256 of the DER certificate, hexadecimal.
    hash: String,
}

/// The routes.
pub(crate) fn router(web: Web) -> Router {
    Router::new()
        .route("/relay.json", get(describe))
        .route("/health", get(health))
        .route(WEB_SOCKET_PATH, get(upgrade))
        .fallback(serve_file)
        .layer(middleware::from_fn_with_state(web.clone(), secure))
        .with_state(web)
}

async fn secure(State(web): State<Web>, request: Request, next: Next) -> Response {
    let authority = Authority::of(request.headers(), web.listening);
    let mut response = next.run(request).await;
    headers::secure(response.headers_mut(), &authority, web.listening);
    response
}

async fn describe(State(web): State<Web>, request: Request) -> Response {
    let authority = Authority::of(request.headers(), web.listening);
    let published = web.certificates.published();
    let port = web.listening.port();
    let description = Description {
        protocol: PROTOCOL,
        webtransport: WebTransport {
            url: authority.web_transport(web.listening) + WEB_TRANSPORT_PATH,
            port,
            path: WEB_TRANSPORT_PATH,
            hashes: Hashes {
                now: HEXLOWER.encode(&published.now),
                next: HEXLOWER.encode(&published.next),
            },
        },
        websocket: Path {
            path: WEB_SOCKET_PATH,
        },
        quic: Quic {
            port,
            alpn: String::from_utf8_lossy(NATIVE_ALPN).into_owned(),
            hash: HEXLOWER.encode(&published.native),
        },
    };
    let mut response = Json(description).into_response();
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn health(State(web): State<Web>) -> Response {
    if web.entrance.is_stopping() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response()
    } else {
        "ok\n".into_response()
    }
}

async fn upgrade(State(web): State<Web>, upgrade: WebSocketUpgrade) -> Response {
    let Some(place) = web.entrance.place() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "The relay is full.\n").into_response();
    };
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .on_upgrade(async move |socket| {
            web.entrance
                .serve(Session::over_socket(socket), place)
                .await;
        })
}

async fn serve_file(State(web): State<Web>, request: Request) -> Response {
    match &web.files {
        Some(files) => {
            files
                .respond(request.method(), request.uri().path(), request.headers())
                .await
        }
        None => (
            StatusCode::NOT_FOUND,
            "This relay serves no web app (start it with --web DIR).\n",
        )
            .into_response(),
    }
}
