//! Address filter of WebFetch: public hosts, but not this machine and private networks.

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

/// Longer addresses are mistakes, or carry data out.
const MAX_URL_CHARS: usize = 2000;

/// Parses an address as the model wrote it.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    let invalid = || "Invalid URL".to_owned();
    if text.len() > MAX_URL_CHARS {
        return Err(invalid());
    }
    let url = Url::parse(text).map_err(|_| invalid())?;
    match url.scheme() {
        "http" | "https" => {}
        "file" => return Err(invalid()),
        other => return Err(format!("Unsupported protocol {other}:")),
    }
    if url.host_str().is_none() || !url.username().is_empty() || url.password().is_some() {
        return Err(invalid());
    }
    Ok(url)
}

/// Whether the address names a host on this machine or its network, as far as its name shows.
pub(super) fn is_private(url: &Url) -> bool {
    match literal(url) {
        Some(address) => !is_public(address),
        None => {
            let host = host(url);
            !host.trim_end_matches('.').contains('.') || host.ends_with(".localhost")
        }
    }
}

/// The address as it is fetched: encrypted, except on private networks, where certificates are
/// rare.
pub(super) fn upgraded(url: &Url) -> Url {
    let mut url = url.clone();
    if url.scheme() == "http" && !is_private(&url) {
        // Only impossible for addresses without a host, and this one has one.
        let _ = url.set_scheme("https");
    }
    url
}

/// Whether both are the same site; a leading `www.` makes no difference.
pub(super) fn same_site(a: &Url, b: &Url) -> bool {
    let bare = |url: &Url| host(url).trim_start_matches("www.").to_owned();
    bare(a) == bare(b) && a.port_or_known_default() == b.port_or_known_default()
}

/// The host in lower case.
pub(super) fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_ascii_lowercase()
}

fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether an address is on the open net.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b)))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, _, _, _, seventh, eighth] = address.segments();
    let embedded = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    if let Some(mapped) = address.to_ipv4() {
        return is_public_v4(mapped);
    }
    match first {
        // Ways of writing an IPv4 address for a translator.
        0x64 if second == 0xff9b => is_public_v4(embedded(seventh, eighth)),
        0x2002 => is_public_v4(embedded(second, third)),
        _ => {
            !(address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_multicast()
                || (first == 0x2001 && second == 0xdb8))
        }
    }
}

/// Looks names up and drops private addresses, at the moment of connecting, so that a name
/// cannot mean one thing when it is checked and another when it is used.
#[derive(Debug)]
pub(super) struct PublicOnly {
    /// Proxies may be private: they are the user's own choice.
    proxies: HashSet<String>,
}

impl PublicOnly {
    #[expect(
        clippy::disallowed_methods,
        reason = "the HTTP client reads its proxies from these variables"
    )]
    pub(super) fn new() -> Self {
        let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
        let values = names
            .iter()
            .flat_map(|name| [std::env::var(name), std::env::var(name.to_ascii_lowercase())]);
        let urls = values.flatten().filter_map(|value| Url::parse(&value).ok());
        Self { proxies: urls.map(|url| host(&url)).collect() }
    }
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().to_ascii_lowercase();
        let is_proxy = self.proxies.contains(&name);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                found.filter(|address| is_proxy || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err(private(&name).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Error text for an address that is not fetched.
pub(super) fn private(host: &str) -> String {
    format!(
        "WebFetch cannot fetch {host}: it is on this machine or on a private network. Use curl in \
         Bash if the user wants that."
    )
}

#[cfg(test)]
mod tests {
    use super::{is_private, parse, same_site, upgraded};

    #[test]
    fn private_addresses_are_recognized_in_every_spelling() {
        for private in [
            "http://localhost/",
            "http://localhost./",
            "http://a.localhost/",
            "http://intranet/",
            "http://127.0.0.1:8080/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://[::1]/",
            "http://[::]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
        ] {
            assert!(is_private(&parse(private).unwrap()), "{private}");
        }
        for public in ["https://example.com/", "http://8.8.8.8/", "http://[2606:4700::1111]/"] {
            assert!(!is_private(&parse(public).unwrap()), "{public}");
        }
    }

    #[test]
    fn invalid_urls_are_refused() {
        let long = format!("https://example.com/{}", "a".repeat(2000));
        for bad in ["nonsense", "file:///etc/passwd", "https://user:pw@example.com/", &long] {
            assert_eq!(parse(bad).unwrap_err(), "Invalid URL", "{bad}");
        }
        assert_eq!(parse("ftp://example.com/").unwrap_err(), "Unsupported protocol ftp:");
    }

    #[test]
    fn open_addresses_are_encrypted_and_sites_compared() {
        let url = |text: &str| parse(text).unwrap();
        assert_eq!(upgraded(&url("http://example.com/a")).as_str(), "https://example.com/a");
        assert_eq!(upgraded(&url("http://127.0.0.1:1/")).as_str(), "http://127.0.0.1:1/");
        assert!(same_site(&url("https://www.example.com/a"), &url("https://example.com/b")));
        assert!(!same_site(&url("https://example.com/"), &url("https://example.org/")));
        assert!(!same_site(&url("https://example.com/"), &url("https://example.com:8443/")));
    }
}
