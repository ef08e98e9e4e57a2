//! Response headers, and what of the `Host` header may be echoed.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The name under which a client reached us, reduced to what may be put into a header or JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Authority {
    /// A DNS name, an IPv4 address, or an IPv6 address in brackets.
    host: String,
    port: u16,
}

impl Authority {
    /// From the `Host` header; anything unusual is replaced by the address we listen on.
    pub(crate) fn of(headers: &HeaderMap, listening: SocketAddr) -> Self {
        headers
            .get(header::HOST)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| Self::parse(text, listening.port()))
            .unwrap_or_else(|| Self {
                host: literal(listening.ip()),
                port: listening.port(),
            })
    }

    fn parse(text: &str, default_port: u16) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            _ => (text, default_port),
        };
        let plain = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
        };
        let bracketed = host
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
        (host.len() <= 253 && (plain(host) || bracketed)).then(|| Self {
            host: host.to_owned(),
            port,
        })
    }

    /// Where WebTransport is reached from this client: the UDP port we listen on, under the
    /// same host. `localhost` becomes the loopback address that we do listen on, since a browser
    /// may try the other family only.
    pub(crate) fn web_transport(&self, listening: SocketAddr) -> String {
        let host = match (self.host.as_str(), listening.ip()) {
            ("localhost", IpAddr::V4(_)) => "127.0.0.1",
            ("localhost", IpAddr::V6(_)) => "[::1]",
            (host, _) => host,
        };
        format!("https://{host}:{}", listening.port())
    }

    fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

fn literal(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".into(),
        IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".into(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// Puts the security headers on every response.
pub(crate) fn secure(out: &mut HeaderMap, authority: &Authority, listening: SocketAddr) {
    let fixed = [
        // Own agent cluster: no synchronous reach from other origins of the same site.
        ("origin-agent-cluster", "?1"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        (
            "permissions-policy",
            "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), midi=(), browsing-topics=()",
        ),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        out.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    let here = authority.authority();
    let transport = authority.web_transport(listening);
    // Some browsers do not count ws: as 'self'. Inline styles stay allowed: the text editor puts its
    // theme into a style element. Scripts come from files only.
    let policy = format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
         style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; \
         connect-src 'self' {transport} ws://{here} wss://{here}; object-src 'none'; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    );
    if let Ok(value) = HeaderValue::from_str(&policy) {
        out.insert(header::CONTENT_SECURITY_POLICY, value);
    }
}
