//! A server that lets in only who has logged in, and the authority that it trusts, on one port.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use reqwest::Url;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

use crate::script::Script;

/// The authority and its server. Dropping it closes everything.
pub(crate) struct Authority {
    pub(crate) origin: String,
    pub(crate) books: Arc<Mutex<Books>>,
    _task: AbortOnDropHandle<()>,
}

/// What the authority knows and has seen.
#[derive(Default)]
pub(crate) struct Books {
    script: Script,
    /// Scopes by token. A token that is not here is not good any more.
    pub(crate) tokens: HashMap<String, String>,
    /// Parameters of what was asked of it, in order.
    pub(crate) asked: Vec<HashMap<String, String>>,
    /// How long tokens are good, in seconds.
    pub(crate) lifetime: u64,
    /// The scope that calls of tools need besides `use`.
    pub(crate) for_calls: Option<&'static str>,
    /// Whether the server takes no token any more.
    pub(crate) revoked: bool,
    issued: usize,
}

impl Authority {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let books = Arc::new(Mutex::new(Books { lifetime: 3600, ..Books::default() }));
        let (here, seen) = (origin.clone(), Arc::clone(&books));
        let task = tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(serve(stream, here.clone(), Arc::clone(&seen)));
            }
        });
        Self { origin, books, _task: AbortOnDropHandle::new(task) }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// A user who agrees to everything: where the browser ends up.
    pub(crate) async fn agree(&self, page: &str) -> String {
        let stay = reqwest::redirect::Policy::none();
        let browser = reqwest::Client::builder().tls_certs_only([]).redirect(stay);
        let answer = browser.build().unwrap().get(page).send().await.unwrap();
        answer.headers()["location"].to_str().unwrap().to_owned()
    }

    /// How often tokens were given for this kind of proof.
    pub(crate) fn grants(&self, kind: &str) -> usize {
        let books = self.books.lock().unwrap();
        let grants = books.asked.iter().filter_map(|asked| asked.get("grant_type"));
        grants.filter(|grant| *grant == kind).count()
    }
}

/// Answers one request and closes.
async fn serve(stream: TcpStream, origin: String, books: Arc<Mutex<Books>>) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    };
    let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).await.unwrap();
    let mut request = head.split(' ');
    let (method, target) = (request.next().unwrap(), request.next().unwrap());
    let url = Url::parse(&origin).unwrap().join(target).unwrap();
    let answer = match (method, url.path()) {
        ("GET", "/.well-known/oauth-protected-resource/mcp") => found(json!({
            "resource": format!("{origin}/mcp"), "authorization_servers": [origin],
            "scopes_supported": ["use", "admin"],
        })),
        ("GET", "/.well-known/oauth-authorization-server") => found(json!({
            "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        })),
        ("POST", "/register") => {
            let asked: Value = serde_json::from_slice(&body).unwrap();
            let uris = &asked["redirect_uris"];
            found(json!({"client_id": "c1", "client_secret": "s1", "redirect_uris": uris}))
        }
        ("GET", "/authorize") => books.lock().unwrap().authorize(&url),
        ("POST", "/token") => {
            let form = String::from_utf8(body).unwrap();
            let asked = Url::parse(&format!("{origin}/?{form}")).unwrap();
            books.lock().unwrap().token(parameters(&asked), header("authorization"))
        }
        ("POST", "/mcp") => {
            let message = serde_json::from_slice(&body).unwrap();
            books.lock().unwrap().mcp(&message, header("authorization"), &origin)
        }
        _ => reply("404 Not Found", ""),
    };
    let _ = stream.write_all(answer.as_bytes()).await;
}

impl Books {
    fn authorize(&mut self, url: &Url) -> String {
        let asked = parameters(url);
        let back = format!("{}?code=42&state={}", asked["redirect_uri"], asked["state"]);
        self.asked.push(asked);
        reply(&format!("302 Found\r\nlocation: {back}"), "")
    }

    fn token(&mut self, mut asked: HashMap<String, String>, proof: Option<&str>) -> String {
        let user_agreed = self.asked.iter().rfind(|asked| asked.contains_key("redirect_uri"));
        let scope = asked.get("scope").or(user_agreed.and_then(|asked| asked.get("scope")));
        let scope = scope.cloned().unwrap_or_default();
        asked.insert("proof".to_owned(), proof.unwrap_or_default().to_owned());
        self.asked.push(asked);
        self.issued += 1;
        let token = format!("t{}", self.issued);
        self.tokens.insert(token.clone(), scope.clone());
        found(json!({
            "access_token": token, "token_type": "Bearer", "expires_in": self.lifetime,
            "refresh_token": format!("r{}", self.issued), "scope": scope,
        }))
    }

    fn mcp(&mut self, message: &Value, proof: Option<&str>, origin: &str) -> String {
        let refuse = |status: &str, more: &str| {
            let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
            let header = format!("Bearer resource_metadata=\"{metadata}\", {more}");
            reply(&format!("{status}\r\nwww-authenticate: {header}"), "{}")
        };
        let token = proof.and_then(|proof| proof.strip_prefix("Bearer ")).filter(|_| !self.revoked);
        let Some(scopes) = token.and_then(|token| self.tokens.get(token)) else {
            return refuse("401 Unauthorized", "scope=\"use\"");
        };
        if message["method"] == "tools/call"
            && let Some(wanted) = self.for_calls
            && !scopes.split(' ').any(|scope| scope == wanted)
        {
            let more = format!("error=\"insufficient_scope\", scope=\"{wanted}\"");
            return refuse("403 Forbidden", &more);
        }
        let act = self.script.hear(message);
        let answers = act.perform(&mut io::sink(), &mut io::sink()).unwrap().unwrap_or_default();
        match answers.last() {
            Some(answer) => found(answer.clone()),
            None => reply("202 Accepted", ""),
        }
    }
}

fn parameters(url: &Url) -> HashMap<String, String> {
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

fn found(body: Value) -> String {
    reply("200 OK", &body.to_string())
}

fn reply(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
}
