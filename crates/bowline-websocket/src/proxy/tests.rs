use super::*;

fn proxies(none: &str) -> Proxies {
    Proxies {
        http: Some("http://plain:3128".to_owned()),
        https: Some("secure:3129".to_owned()),
        all: None,
        none: Some(none.to_owned()),
    }
}

/// The proxy for a URL, as text.
fn route(proxies: &Proxies, url: &str) -> String {
    match proxies.proxy_for(&url.parse().unwrap()) {
        Ok(Some(proxy)) => proxy.to_string(),
        Ok(None) => "direct".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn proxy_follows_the_scheme_of_the_address() {
    let proxies = proxies("");
    assert_eq!(route(&proxies, "ws://hub.example/"), "http://plain:3128");
    assert_eq!(route(&proxies, "wss://hub.example/"), "http://secure:3129");
    for own in ["ws://localhost/", "ws://127.0.0.1:8765/", "wss://[::1]/"] {
        assert_eq!(route(&proxies, own), "direct", "{own}");
    }
    let all = Proxies { all: Some("https://every.where".to_owned()), ..Proxies::default() };
    assert_eq!(route(&all, "ws://hub.example/"), "https://every.where:443");
    assert_eq!(route(&Proxies::default(), "ws://hub.example/"), "direct");
    let socks = Proxies { all: Some("socks5://x:1080".to_owned()), ..Proxies::default() };
    assert!(
        route(&socks, "ws://hub.example/").ends_with("does not begin with http:// or https://")
    );
    assert_eq!(route(&socks, "ws://127.0.0.1/"), "direct");
}

#[test]
fn no_proxy_entries_bypass_the_proxy() {
    let cases = [
        ("hub.example", "ws://hub.example/", true),
        ("example", "ws://hub.example/", true),
        (".example", "ws://hub.example/", true),
        ("*.example", "ws://hub.example/", true),
        ("b.example", "ws://hub.example/", false),
        ("other, HUB.example ", "ws://Hub.Example/", true),
        ("hub.example:80", "ws://hub.example/", true),
        ("hub.example:81", "ws://hub.example/", false),
        ("*", "ws://hub.example/", true),
        ("10.1.2.3", "ws://10.1.2.3/", true),
        ("10.1.2.3", "ws://10.1.2.30/", false),
        ("2.3", "ws://10.1.2.3/", false),
        ("10.0.0.0/8", "ws://10.1.2.3/", true),
        ("10.0.0.0/8", "ws://11.1.2.3/", false),
        ("0.0.0.0/0", "ws://11.1.2.3/", true),
        ("10.0.0.0/99", "ws://10.1.2.3/", false),
        ("fd00::/8", "ws://[fd00::1]/", true),
        ("[fd00::1]:80", "ws://[fd00::1]/", true),
        (",", "ws://hub.example/", false),
    ];
    for (none, url, direct) in cases {
        assert_eq!(route(&proxies(none), url) == "direct", direct, "{none} for {url}");
    }
}

#[test]
fn password_is_sent_and_not_displayed() {
    let proxy: Proxy = "http://me:p%40ss@gate:1".parse().unwrap();
    assert_eq!(proxy.credentials.as_deref(), Some(&*STANDARD.encode("me:p@ss")));
    assert_eq!(format!("{proxy} {proxy:?}"), "http://gate:1 Proxy(\"http://gate:1\")");
    assert_eq!(percent_decode("100%"), b"100%");
    assert_eq!("http://".parse::<Proxy>(), Err(ProxyError::NotAUrl));
}

#[test]
fn status_of_a_proxy_response_is_parsed() {
    assert_eq!(status(b"HTTP/1.1 200 Connection established\r\n\r\n"), Some(200));
    assert_eq!(status(b"HTTP/1.0 407 Proxy Authentication Required\r\n"), Some(407));
    assert_eq!(status(b"SSH-2.0-OpenSSH_9.6\r\n"), None);
}
