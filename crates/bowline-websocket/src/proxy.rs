//! HTTP proxies: selection from the environment's variables, and `CONNECT`.

use std::{fmt, io, net::IpAddr};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::http::Uri;

use crate::{address::Address, dial_error::DialError, socket::Wire};

/// The longest response head of a proxy.
const MAX_RESPONSE: usize = 16 * 1024;

/// Proxy settings, as in the usual environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proxies {
    /// For `ws:` (`http_proxy`).
    pub http: Option<String>,
    /// For `wss:` (`https_proxy`).
    pub https: Option<String>,
    /// Fallback for both (`all_proxy`).
    pub all: Option<String>,
    /// Hosts without a proxy (`no_proxy`): names, domains, addresses and networks, separated by
    /// commas, or `*`.
    pub none: Option<String>,
}

impl Proxies {
    /// The proxy for an address. Loopback addresses have none.
    pub fn proxy_for(&self, address: &Address) -> Result<Option<Proxy>, ProxyError> {
        let own = if address.secure { &self.https } else { &self.http };
        let named = own.as_ref().or(self.all.as_ref()).filter(|named| !named.trim().is_empty());
        match named {
            Some(named) if !self.is_bypassed(address) => named.trim().parse().map(Some),
            _ => Ok(None),
        }
    }

    fn is_bypassed(&self, address: &Address) -> bool {
        let host = address.host.to_ascii_lowercase();
        let ip = host.parse::<IpAddr>().ok();
        let exceptions = self.none.as_deref().unwrap_or_default().split(',').map(str::trim);
        host == "localhost"
            || ip.is_some_and(|ip| ip.is_loopback())
            || exceptions.filter(|it| !it.is_empty()).any(|it| covers(it, &host, ip, address.port))
    }
}

/// Whether an entry of `no_proxy` covers a host.
fn covers(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some(ip) = ip {
        if let Some((network, bits)) = entry.split_once('/') {
            return network.parse().is_ok_and(|network| is_within(ip, network, bits));
        }
        if let Ok(same) = entry.parse::<IpAddr>() {
            return same == ip;
        }
    }
    let (name, entry_port) = match entry.rsplit_once(':') {
        Some((name, digits)) if digits.parse::<u16>().is_ok() => (name, digits.parse().ok()),
        _ => (entry, None),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let name = name.trim_start_matches("*.").trim_start_matches('.');
    let is_name = host.strip_suffix(name).is_some_and(|rest| {
        !name.is_empty() && (rest.is_empty() || (ip.is_none() && rest.ends_with('.')))
    });
    is_name && entry_port.is_none_or(|entry_port: u16| entry_port == port)
}

/// Whether an address is in a network, of which the first `bits` bits are given.
fn is_within(ip: IpAddr, network: IpAddr, bits: &str) -> bool {
    let Ok(bits) = bits.parse::<u32>() else { return false };
    let same = |ip: u128, network: u128, width: u32| {
        bits == 0 || (bits <= width && (ip ^ network) >> (width - bits) == 0)
    };
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => {
            same(ip.to_bits().into(), network.to_bits().into(), 32)
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) => same(ip.to_bits(), network.to_bits(), 128),
        _ => false,
    }
}

/// An HTTP proxy that supports `CONNECT`.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether the connection to the proxy itself uses TLS.
    pub(crate) secure: bool,
    /// Basic credentials, base64-encoded.
    credentials: Option<String>,
}

/// Why the URL of a proxy is invalid. It is not quoted: there may be a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Not a URL.
    #[error("the address of the proxy is not a URL")]
    NotAUrl,
    /// A proxy of another kind, such as SOCKS.
    #[error("the address of the proxy does not begin with http:// or https://")]
    NotHttp,
}

impl std::str::FromStr for Proxy {
    type Err = ProxyError;

    /// Reads `http://[user:password@]host[:port]`; `http://` may be left out.
    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = url.parse().map_err(|_| ProxyError::NotAUrl)?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(ProxyError::NotHttp),
        };
        let authority = uri.authority().ok_or(ProxyError::NotAUrl)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(ProxyError::NotAUrl);
        }
        let credentials = authority.as_str().rsplit_once('@').map(|(user, _)| {
            let user = if user.contains(':') { user.to_owned() } else { format!("{user}:") };
            STANDARD.encode(percent_decode(&user))
        });
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self { host, port, secure, credentials })
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.to_string()).finish()
    }
}

/// Without the password.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

impl Proxy {
    /// Attributes a connection error to the proxy instead of the host.
    pub(crate) fn attribute(&self, error: DialError) -> DialError {
        match error {
            DialError::Unreachable(why) => {
                let named = format!("the proxy {self}: {why}");
                DialError::Unreachable(io::Error::new(why.kind(), named))
            }
            other => other,
        }
    }

    /// Has the proxy connect to an address. From then on the stream leads there.
    pub(crate) async fn connect(
        &self,
        wire: &mut (impl Wire + ?Sized),
        address: &Address,
    ) -> Result<(), DialError> {
        let target = match address.host.contains(':') {
            true => format!("[{}]:{}", address.host, address.port),
            false => format!("{}:{}", address.host, address.port),
        };
        let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(credentials) = &self.credentials {
            request.push_str(&format!("Proxy-Authorization: Basic {credentials}\r\n"));
        }
        request.push_str("\r\n");
        wire.write_all(request.as_bytes()).await.map_err(DialError::Unreachable)?;
        wire.flush().await.map_err(DialError::Unreachable)?;
        match status(&read_response(wire).await?) {
            Some(200..300) => Ok(()),
            status => Err(DialError::Proxy { proxy: self.to_string(), status }),
        }
    }
}

/// Reads the proxy's response head, byte by byte: what follows is no longer the proxy's.
async fn read_response(wire: &mut (impl Wire + ?Sized)) -> Result<Vec<u8>, DialError> {
    let mut response = Vec::new();
    while !response.ends_with(b"\r\n\r\n") && response.len() < MAX_RESPONSE {
        response.push(wire.read_u8().await.map_err(DialError::Unreachable)?);
    }
    Ok(response)
}

/// The status code of a response head.
fn status(response: &[u8]) -> Option<u16> {
    let line = response.split(|byte| *byte == b'\r').next()?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

/// Decodes percent-encoding (`%40`).
fn percent_decode(text: &str) -> Vec<u8> {
    let mut rest = text;
    let mut decoded = Vec::new();
    while let Some((before, after)) = rest.split_once('%') {
        decoded.extend(before.bytes());
        match after.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                decoded.push(code);
                rest = &after[2..];
            }
            None => {
                decoded.push(b'%');
                rest = after;
            }
        }
    }
    decoded.extend(rest.bytes());
    decoded
}

#[cfg(test)]
mod tests;
