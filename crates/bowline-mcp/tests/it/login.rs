//! Logging in to servers, with an authority on a real socket.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use bowline_mcp::{LoginError, McpError};
use bowline_protocol::McpServerStatus;
use ring::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
        UnparsedPublicKey,
    },
};
use serde_json::{Value, json};

use crate::{
    authority::Authority,
    rig::{Rig, program},
};

/// A session with one server called `net`, whose logins are kept in `home`.
async fn session(config: Value, home: &Path) -> Rig {
    let folder: PathBuf = home.join("logins");
    let rig = Rig::with(|setup| {
        setup.logins = Some(folder);
        setup.options.backoff.attempts = 0;
    });
    rig.add("net", config);
    rig.start().await
}

fn at(authority: &Authority) -> Value {
    json!({"type": "http", "url": authority.url()})
}

/// Logs in the way a user does, whose browser comes back to our port.
async fn log_in(rig: &Rig, authority: &Authority) {
    let page = rig.servers.begin_login("net", None).await.unwrap();
    let back = authority.agree(&page.url).await;
    assert!(back.starts_with(&format!("http://localhost:{}/", page.callback_port.unwrap())));
    let here = back.replace("localhost", "127.0.0.1");
    let browser = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    let shown = browser.get(here).send().await.unwrap();
    assert_eq!(shown.status(), 200);
    rig.servers.login_over("net").await.unwrap();
}

#[tokio::test]
async fn a_login_counts_for_this_session_and_those_to_come() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let rig = session(at(&authority), home.path()).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::NeedsAuth, "{:?}", rig.servers.status());
    log_in(&rig, &authority).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
    let asked = authority.books.lock().unwrap().asked[0].clone();
    assert_eq!(asked["scope"], "use", "what the server names counts, not all that it knows");
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["resource"], authority.url());
    let file = home.path().join("logins/net.json");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);

    let later = session(at(&authority), home.path()).await;
    assert_eq!(later.status_of("net"), McpServerStatus::Connected, "{:?}", later.servers.status());
    assert_eq!(authority.grants("authorization_code"), 1);

    later.servers.clear_login("net").await.unwrap();
    assert_eq!(later.status_of("net"), McpServerStatus::NeedsAuth);
    let last = session(at(&authority), home.path()).await;
    assert_eq!(last.status_of("net"), McpServerStatus::NeedsAuth);
}

#[tokio::test]
async fn sse_servers_have_logins() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let config = json!({"type": "sse", "url": authority.events_url()});
    let rig = session(config.clone(), home.path()).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::NeedsAuth, "{:?}", rig.servers.status());
    log_in(&rig, &authority).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");

    let later = session(config, home.path()).await;
    assert_eq!(later.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
    assert_eq!(authority.grants("authorization_code"), 1);
    authority.books.lock().unwrap().revoked = true;
    let failure = later.call("mcp__net__echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(failure.content, "the server requires a login: `bowline mcp login net`");
}

#[tokio::test]
async fn an_authority_of_the_first_version_may_have_a_path_in_its_name() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    authority.books.lock().unwrap().own_path = "/oauth";
    let rig = session(at(&authority), home.path()).await;
    // A server that says who its authority is must be right about it.
    let failed = rig.servers.begin_login("net", None).await.unwrap_err().to_string();
    assert!(failed.contains("issuer mismatch"), "{failed}");

    authority.books.lock().unwrap().silent = true;
    let rig = session(at(&authority), home.path()).await;
    log_in(&rig, &authority).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
}

#[tokio::test]
async fn a_token_that_is_about_to_expire_is_refreshed_by_the_client_that_got_it() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    authority.books.lock().unwrap().lifetime = 5;
    let rig = session(at(&authority), home.path()).await;
    log_in(&rig, &authority).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert!(authority.grants("refresh_token") > 0);
    let asked = authority.books.lock().unwrap().asked.clone();
    let refresh = asked.iter().find(|asked| asked.contains_key("refresh_token")).unwrap();
    assert_eq!(refresh["refresh_token"], "r1");
    // c1:s1, as it was registered.
    assert_eq!(refresh["proof"], "Basic YzE6czE=");
}

#[tokio::test]
async fn a_login_that_is_taken_back_ends_the_connection() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let rig = session(at(&authority), home.path()).await;
    log_in(&rig, &authority).await;
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
    authority.books.lock().unwrap().revoked = true;
    let failure = rig.call("mcp__net__echo", json!({"text": "hi"})).await.unwrap_err();
    assert_eq!(failure.content, "the server requires a login: `bowline mcp login net`");
    rig.log.wait_for("net is needs-auth", 2).await;
}

#[tokio::test]
async fn a_call_that_needs_more_rights_says_so_and_the_next_login_asks_for_them() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    authority.books.lock().unwrap().for_calls = Some("admin");
    let rig = session(at(&authority), home.path()).await;
    log_in(&rig, &authority).await;
    let failure = rig.call("mcp__net__echo", json!({"text": "hi"})).await.unwrap_err();
    let said = "the server requires a login with more scopes (admin): `bowline mcp login net`";
    assert_eq!(failure.content, said);
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "its other tools still work");

    // Another session, perhaps days later.
    let later = session(at(&authority), home.path()).await;
    log_in(&later, &authority).await;
    assert_eq!(later.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");
    let asked = authority.books.lock().unwrap().asked.clone();
    let pages = asked.iter().filter_map(|asked| Some((asked.get("code_challenge")?, asked)));
    let scopes: Vec<_> = pages.map(|(_, asked)| asked["scope"].as_str()).collect();
    assert_eq!(scopes, ["use", "use admin"]);
}

#[tokio::test]
async fn a_host_can_hand_in_where_the_browser_ended_up() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let rig = session(at(&authority), home.path()).await;
    let early = rig.servers.finish_login("net", "http://x/cb?code=1&state=2").await;
    assert_eq!(early, Err(LoginError::NotBegun("net".to_owned()).into()));

    let page = rig.servers.begin_login("net", Some("https://app.example/cb")).await.unwrap();
    assert_eq!(page.callback_port, None);
    let back = authority.agree(&page.url).await;
    assert!(back.starts_with("https://app.example/cb?"), "{back}");
    for (url, expected) in [
        ("https://app.example/cb".to_owned(), LoginError::NoCode),
        (back.replace(&page.state, "other"), LoginError::OtherLogin),
    ] {
        assert_eq!(rig.servers.finish_login("net", &url).await, Err(expected.into()), "{url}");
    }
    rig.servers.finish_login("net", &back).await.unwrap();
    rig.servers.login_over("net").await.unwrap();
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
}

#[tokio::test]
async fn a_user_who_says_no_is_heard() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let rig = session(at(&authority), home.path()).await;
    let page = rig.servers.begin_login("net", Some("https://app.example/cb")).await.unwrap();
    let no = format!("https://app.example/cb?error=access_denied&state={}", page.state);
    let refused = LoginError::Refused("access_denied".to_owned());
    assert_eq!(rig.servers.finish_login("net", &no).await, Err(refused.into()));
    assert_eq!(rig.status_of("net"), McpServerStatus::NeedsAuth);
}

#[tokio::test]
async fn a_client_can_log_in_as_itself() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let mut config = at(&authority);
    config["oauth"] = json!({
        "grantType": "client_credentials", "clientId": "me", "clientSecret": "mine", "scopes": "use",
    });
    let rig = session(config, home.path()).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(authority.grants("client_credentials"), 1);
    assert_eq!(authority.books.lock().unwrap().asked[0]["proof"], "Basic bWU6bWluZQ==");
    assert!(!home.path().join("logins").exists(), "there is nothing to keep");
}

#[tokio::test]
async fn a_client_can_log_in_with_its_key() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let key = EcdsaKeyPair::generate_pkcs8(kind, &SystemRandom::new()).unwrap();
    let text = STANDARD.encode(&key);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
    let mut config = at(&authority);
    config["oauth"] = json!({
        "grantType": "client_credentials", "clientId": "me", "clientPrivateKey": pem,
    });
    let rig = session(config.clone(), home.path()).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    assert_eq!(rig.text("mcp__net__echo", json!({"text": "hi"})).await, "echo: hi");

    let asked = authority.books.lock().unwrap().asked[0].clone();
    assert_eq!(asked["grant_type"], "client_credentials");
    assert_eq!(asked["resource"], authority.url());
    let (said, signature) = asked["client_assertion"].rsplit_once('.').unwrap();
    let key = EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &SystemRandom::new()).unwrap();
    let known = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key());
    known.verify(said.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(said.split_once('.').unwrap().1).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["iss"], &claims["sub"]), (&json!("me"), &json!("me")));
    assert_eq!(claims["aud"], authority.origin);

    config["oauth"]["clientPrivateKey"] = json!("not a key");
    let rig = session(config, home.path()).await;
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    let why = "Client credentials error: clientPrivateKey is no private key in PEM";
    assert_eq!(status[0]["error"], why);
}

#[tokio::test]
async fn an_identity_provider_can_vouch_for_the_user() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let provider = Authority::start().await;
    let mut config = at(&authority);
    config["oauth"] = json!({
        "grantType": "jwt_bearer", "clientId": "app", "clientSecret": "s",
        "identityProvider": {
            "issuer": provider.origin, "tokenEndpoint": format!("{}/token", provider.origin),
            "clientId": "idp", "idToken": "ada's",
        },
    });
    let rig = session(config.clone(), home.path()).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Connected, "{:?}", rig.servers.status());
    let exchanged = provider.books.lock().unwrap().asked[0].clone();
    assert_eq!(exchanged["subject_token"], "ada's");
    assert_eq!(
        (&exchanged["audience"], &exchanged["resource"]),
        (&authority.origin, &authority.url())
    );
    let redeemed = authority.books.lock().unwrap().asked[0].clone();
    assert_eq!(redeemed["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    assert_eq!(redeemed["proof"], "Basic YXBwOnM=", "app:s");

    config["oauth"].as_object_mut().unwrap().remove("identityProvider");
    let rig = session(config, home.path()).await;
    assert_eq!(rig.status_of("net"), McpServerStatus::Failed);
}

#[tokio::test]
async fn servers_that_have_no_logins_say_why() {
    let (authority, home) = (Authority::start().await, tempfile::tempdir().unwrap());
    let mut config = at(&authority);
    config["headers"] = json!({"authorization": "Bearer old"});
    let rig = session(config, home.path()).await;
    rig.add("std", program(""));
    let begin = async |name| rig.servers.begin_login(name, None).await.unwrap_err();
    assert_eq!(begin("net").await, LoginError::HasHeader.into());
    assert_eq!(begin("std").await, LoginError::WrongKind("stdio").into());
    assert_eq!(begin("none").await, McpError::NotFound("none".to_owned()));
}
