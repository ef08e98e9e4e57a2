//! One GET over HTTP/1.1: all that a peer needs of HTTP.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

use rustls::pki_types::ServerName;

use super::NetError;

/// An answer larger than this is not a relay's description.
const MAX_ANSWER: u64 = 64 * 1024;

/// Where to ask.
#[derive(Debug, Clone)]
pub(super) struct Target {
    tls: bool,
    pub(super) host: String,
    port: u16,
}

impl Target {
    /// From `http://host[:port][/…]` or `https://host[:port][/…]`.
    pub(super) fn parse(base: &str) -> Result<Self, NetError> {
        let wrong = || NetError::Address(base.to_owned());
        let (tls, rest) = if let Some(rest) = base.strip_prefix("https://") {
            (true, rest)
        } else if let Some(rest) = base.strip_prefix("http://") {
            (false, rest)
        } else {
            return Err(wrong());
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let default = if tls { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| wrong())?)
            }
            _ => (authority, default),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_');
        if host.is_empty() || !host.chars().all(plain) {
            return Err(wrong());
        }
        Ok(Self {
            tls,
            host: host.to_owned(),
            port,
        })
    }

    pub(super) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    pub(super) fn resolve(&self) -> Result<Vec<SocketAddr>, NetError> {
        match (self.host.as_str(), self.port).to_socket_addrs() {
            Ok(addresses) => Ok(addresses.collect()),
            Err(error) => Err(self.unreachable(&error)),
        }
    }

    fn unreachable(&self, error: &io::Error) -> NetError {
        NetError::Unreachable {
            host: self.authority(),
            reason: match error.kind() {
                io::ErrorKind::ConnectionRefused => "nothing listens there".into(),
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => "no answer in time".into(),
                _ => error.to_string(),
            },
        }
    }
}

/// The body of `path` at `target` (blocking).
pub(super) fn get(target: &Target, path: &str, timeout: Duration) -> Result<Vec<u8>, NetError> {
    exchange(target, path, timeout)
        .map_err(|error| target.unreachable(&error))?
        .ok_or_else(|| NetError::NotARelay(target.authority()))
}

fn exchange(target: &Target, path: &str, timeout: Duration) -> io::Result<Option<Vec<u8>>> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let addresses = (target.host.as_str(), target.port).to_socket_addrs()?;
    for address in addresses {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
                return if target.tls {
                    ask(tls(&target.host, stream)?, target, path)
                } else {
                    ask(stream, target, path)
                };
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// TLS as the operating system trusts it.
fn tls(
    host: &str,
    stream: TcpStream,
) -> io::Result<rustls::StreamOwned<rustls::ClientConnection, TcpStream>> {
    use rustls_platform_verifier::BuilderVerifierExt as _;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(rustls::ConfigBuilder::with_platform_verifier)
        .map_err(io::Error::other)?
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connection =
        rustls::ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(rustls::StreamOwned::new(connection, stream))
}

fn ask(mut stream: impl Read + Write, target: &Target, path: &str) -> io::Result<Option<Vec<u8>>> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {}\r\naccept: application/json\r\nconnection: close\r\n\r\n",
        target.authority()
    );
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let mut answer = Vec::new();
    match stream.take(MAX_ANSWER).read_to_end(&mut answer) {
        // Some servers end TLS without a farewell; what is incomplete does not parse.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        outcome => {
            outcome?;
        }
    }
    Ok(body(&answer))
}

/// The body of a complete 200 answer.
fn body(answer: &[u8]) -> Option<Vec<u8>> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?;
    if !status.starts_with("HTTP/1.") || status.split(' ').nth(1) != Some("200") {
        return None;
    }
    let chunked = lines.any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("transfer-encoding:") && line.contains("chunked")
    });
    let body = &answer[end + 4..];
    if chunked {
        unchunk(body)
    } else {
        Some(body.to_vec())
    }
}

/// A proxy in front of the relay may send the body in chunks (RFC 9112, 7.1).
fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&rest[..line]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        rest = rest.get(line + 2..)?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}
