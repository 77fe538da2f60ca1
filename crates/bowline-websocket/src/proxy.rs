//! Proxies between us and a host: which one, and how to get through it.

use std::{fmt, io, net::IpAddr};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::http::Uri;

use crate::{address::Address, dial::DialError, socket::Wire};

/// The longest answer of a proxy, which says little more than yes or no.
const LONGEST_ANSWER: usize = 16 * 1024;

/// Which proxies there are, in the words of the usual environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proxies {
    /// For `ws:` (`http_proxy`).
    pub http: Option<String>,
    /// For `wss:` (`https_proxy`).
    pub https: Option<String>,
    /// For both, if nothing else is said (`all_proxy`).
    pub all: Option<String>,
    /// For whom there is none (`no_proxy`): names, domains, addresses and networks with commas in
    /// between, or `*`.
    pub none: Option<String>,
}

impl Proxies {
    /// The proxy on the way to an address. There is none on the way to this machine.
    pub fn on_the_way_to(&self, address: &Address) -> Result<Option<Proxy>, ProxyError> {
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

/// A proxy, which connects us to a host if we ask it to.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether it is itself spoken to over TLS.
    pub(crate) secure: bool,
    /// By what it knows us, encoded as it wants it.
    credentials: Option<String>,
}

/// What is wrong with the address of a proxy. It is not repeated: there may be a password in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// It is no URL.
    #[error("the address of the proxy is not a URL")]
    NotAUrl,
    /// It is a proxy of another kind, such as SOCKS.
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
            STANDARD.encode(decoded(&user))
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
    /// Says that it is the proxy that cannot be reached, not the host.
    pub(crate) fn blame(&self, error: DialError) -> DialError {
        match error {
            DialError::Unreachable(why) => {
                let named = format!("the proxy {self}: {why}");
                DialError::Unreachable(io::Error::new(why.kind(), named))
            }
            other => other,
        }
    }

    /// Has the proxy connect us to an address. From then on the wire leads there.
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
        match status(&answer(wire).await?) {
            Some(200..300) => Ok(()),
            status => Err(DialError::Proxy { proxy: self.to_string(), status }),
        }
    }
}

/// What the proxy answers. It is read byte by byte: what follows is no longer the proxy's.
async fn answer(wire: &mut (impl Wire + ?Sized)) -> Result<Vec<u8>, DialError> {
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < LONGEST_ANSWER {
        answer.push(wire.read_u8().await.map_err(DialError::Unreachable)?);
    }
    Ok(answer)
}

/// The status that an answer begins with.
fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\r').next()?;
    let mut words = str::from_utf8(line).ok()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

/// With characters instead of their codes (`%40`).
fn decoded(text: &str) -> Vec<u8> {
    let mut rest = text;
    let mut decoded = Vec::new();
    while let Some((before, behind)) = rest.split_once('%') {
        decoded.extend(before.bytes());
        match behind.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                decoded.push(code);
                rest = &behind[2..];
            }
            None => {
                decoded.push(b'%');
                rest = behind;
            }
        }
    }
    decoded.extend(rest.bytes());
    decoded
}

#[cfg(test)]
mod tests;
