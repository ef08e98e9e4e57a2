//! The static web app: files of one directory, precompressed variants, caching.

use std::{
    io,
    path::{Component, Path, PathBuf},
    time::UNIX_EPOCH,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use tokio::io::AsyncReadExt as _;

/// Read from a file at a time.
const CHUNK: usize = 128 * 1024;

/// A directory that holds a built web app.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    root: PathBuf,
}

/// A file that was found, in the representation that the client takes.
struct Found {
    file: tokio::fs::File,
    length: u64,
    tag: String,
    encoding: Option<&'static str>,
}

impl Files {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Answers GET and HEAD for `path` (percent-encoded, starting with a slash). Paths of the
    /// app itself (`/`, `/j/<campaign>`) and everything else without a file extension get
    /// `index.html`.
    pub(crate) async fn respond(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Response {
        if method != Method::GET && method != Method::HEAD {
            return StatusCode::METHOD_NOT_ALLOWED.into_response();
        }
        let Some(relative) = relative(path) else {
            return not_found();
        };
        let is_page = relative.extension().is_none();
        let relative = if is_page {
            PathBuf::from("index.html")
        } else {
            relative
        };
        match self.find(&relative, headers).await {
            Ok(found) => respond_with(found, &relative, method, headers),
            Err(error) if error.kind() == io::ErrorKind::NotFound => not_found(),
            Err(error) => {
                tracing::warn!(%error, path = %relative.display(), "reading a file of the web app");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    async fn find(&self, relative: &Path, headers: &HeaderMap) -> io::Result<Found> {
        let plain = self.root.join(relative);
        for (encoding, suffix) in [("br", ".br"), ("gzip", ".gz")] {
            if accepts(headers, encoding) {
                let mut variant = plain.clone().into_os_string();
                variant.push(suffix);
                match open(Path::new(&variant), Some(encoding)).await {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    found => return found,
                }
            }
        }
        open(&plain, None).await
    }
}

async fn open(path: &Path, encoding: Option<&'static str>) -> io::Result<Found> {
    let file = tokio::fs::File::open(path).await?;
    let metadata = file.metadata().await?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |age| age.as_nanos());
    Ok(Found {
        file,
        length: metadata.len(),
        tag: format!(
            "\"{:x}-{modified:x}{}\"",
            metadata.len(),
            encoding.unwrap_or_default()
        ),
        encoding,
    })
}

fn respond_with(found: Found, relative: &Path, method: &Method, headers: &HeaderMap) -> Response {
    let known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|tag| tag.trim().trim_start_matches("W/") == found.tag);
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else if method == Method::HEAD {
        Body::empty().into_response()
    } else {
        stream(found.file).into_response()
    };
    let out = response.headers_mut();
    out.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(content_type(relative)),
    );
    out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    out.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static(if is_hashed(relative) {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        }),
    );
    if let Ok(tag) = HeaderValue::from_str(&found.tag) {
        out.insert(header::ETAG, tag);
    }
    if !known {
        out.insert(header::CONTENT_LENGTH, found.length.into());
        if let Some(encoding) = found.encoding {
            out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
    }
    response
}

fn stream(file: tokio::fs::File) -> Body {
    Body::from_stream(futures_util::stream::try_unfold(
        file,
        |mut file| async move {
            let mut chunk = Vec::with_capacity(CHUNK);
            (&mut file)
                .take(CHUNK as u64)
                .read_to_end(&mut chunk)
                .await?;
            Ok::<_, io::Error>((!chunk.is_empty()).then(|| (Bytes::from(chunk), file)))
        },
    ))
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response()
}

/// The path below the root; `None` for anything that could leave it or name a hidden file.
fn relative(path: &str) -> Option<PathBuf> {
    let decoded = percent_decode(path)?;
    let mut relative = PathBuf::new();
    for component in Path::new(decoded.trim_start_matches('/')).components() {
        match component {
            Component::Normal(part) => {
                let text = part.to_str()?;
                if text.starts_with('.') || text.contains(['\\', ':', '\0']) {
                    return None;
                }
                relative.push(part);
            }
            _ => return None,
        }
    }
    Some(relative)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let (digits, after) = tail.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            // `from_str_radix` would take a sign.
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// Whether `Accept-Encoding` names `encoding` with a weight above zero.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| {
            let mut parts = item.split(';').map(str::trim);
            let named = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case(encoding));
            let refused = parts
                .filter_map(|part| part.strip_prefix("q="))
                .any(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0));
            named && !refused
        })
}

/// Bundlers end the names below `assets/` with a hash of the content, eight characters of
/// base64url after a dash: `index-DiwrgTda.js`. Such a file never changes.
fn is_hashed(relative: &Path) -> bool {
    let stem = relative
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.split('.').next())
        .unwrap_or_default()
        .as_bytes();
    relative.starts_with("assets") && stem.len() > 9 && stem[stem.len() - 9] == b'-'
}

fn content_type(path: &Path) -> &'static str {
    match path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
    {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
