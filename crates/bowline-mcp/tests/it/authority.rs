//! A server that lets in only who has logged in, and the authority that it trusts, on one port.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::mpsc,
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
    /// What the authority calls itself and its pages: a path behind the address of the server.
    pub(crate) own_path: &'static str,
    /// Whether the server says nothing about its authority, as in the protocol's first version.
    pub(crate) silent: bool,
    /// Where events go, if somebody listens.
    events: Option<mpsc::UnboundedSender<String>>,
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

    /// Where the server is spoken to over HTTP.
    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Where its events come from, the older way.
    pub(crate) fn events_url(&self) -> String {
        format!("{}/sse", self.origin)
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
    let proof = header("authorization");
    let described = |served| format!("{origin}/.well-known/oauth-protected-resource/{served}");
    let answer = match (method, url.path()) {
        ("GET", "/sse") => {
            let admitted = books.lock().unwrap().admit(proof, &described("sse"));
            match admitted {
                Err(refusal) => refusal,
                Ok(_) => return send_events(stream, &books).await,
            }
        }
        ("POST", "/messages") => {
            let message = serde_json::from_slice(&body).unwrap();
            books.lock().unwrap().mcp_by_event(&message, proof, &described("sse"))
        }
        ("POST", "/mcp") => {
            let message = serde_json::from_slice(&body).unwrap();
            books.lock().unwrap().mcp(&message, proof, &described("mcp"))
        }
        ("GET", path) if path.starts_with("/.well-known/") => {
            books.lock().unwrap().describe(path, &origin)
        }
        ("POST", path) if path.ends_with("/register") => {
            let asked: Value = serde_json::from_slice(&body).unwrap();
            let uris = &asked["redirect_uris"];
            found(json!({"client_id": "c1", "client_secret": "s1", "redirect_uris": uris}))
        }
        ("GET", path) if path.ends_with("/authorize") => books.lock().unwrap().authorize(&url),
        ("POST", path) if path.ends_with("/token") => {
            let form = String::from_utf8(body).unwrap();
            let asked = Url::parse(&format!("{origin}/?{form}")).unwrap();
            books.lock().unwrap().token(parameters(&asked), proof, &origin)
        }
        _ => reply("404 Not Found", ""),
    };
    let _ = stream.write_all(answer.as_bytes()).await;
}

/// The older transport's long answer: where to post messages, then what comes of them.
async fn send_events(mut stream: BufReader<TcpStream>, books: &Mutex<Books>) {
    let (sender, mut events) = mpsc::unbounded_channel();
    books.lock().unwrap().events = Some(sender);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let mut next = format!("{head}event: endpoint\ndata: /messages\n\n");
    while stream.write_all(next.as_bytes()).await.is_ok() {
        let Some(event) = events.recv().await else { return };
        next = event;
    }
}

impl Books {
    /// What the server says of its authority, and the authority of itself.
    fn describe(&self, path: &str, origin: &str) -> String {
        let served = path.strip_prefix("/.well-known/oauth-protected-resource/");
        if let Some(served) = served.filter(|_| !self.silent) {
            return found(json!({
                "resource": format!("{origin}/{served}"), "authorization_servers": [origin],
                "scopes_supported": ["use", "admin"],
            }));
        }
        if path != "/.well-known/oauth-authorization-server" {
            return reply("404 Not Found", "");
        }
        let here = format!("{origin}{}", self.own_path);
        found(json!({
            "issuer": here, "authorization_endpoint": format!("{here}/authorize"),
            "token_endpoint": format!("{here}/token"),
            "registration_endpoint": format!("{here}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt"],
        }))
    }

    fn authorize(&mut self, url: &Url) -> String {
        let asked = parameters(url);
        let back = format!("{}?code=42&state={}", asked["redirect_uri"], asked["state"]);
        self.asked.push(asked);
        reply(&format!("302 Found\r\nlocation: {back}"), "")
    }

    fn token(
        &mut self,
        mut asked: HashMap<String, String>,
        proof: Option<&str>,
        origin: &str,
    ) -> String {
        let user_agreed = self.asked.iter().rfind(|asked| asked.contains_key("redirect_uri"));
        let scope = asked.get("scope").or(user_agreed.and_then(|asked| asked.get("scope")));
        let scope = scope.cloned().unwrap_or_default();
        asked.insert("proof".to_owned(), proof.unwrap_or_default().to_owned());
        let (vouches, trusts) =
            (asked.contains_key("subject_token"), asked.contains_key("assertion"));
        let vouched = vouches.then(|| vouch(&asked, origin));
        self.asked.push(asked);
        if let Some(vouched) = vouched {
            return vouched;
        }
        self.issued += 1;
        let token = format!("t{}", self.issued);
        self.tokens.insert(token.clone(), scope.clone());
        let mut answer = json!({
            "access_token": token, "token_type": "Bearer", "expires_in": self.lifetime,
        });
        if !trusts {
            answer["scope"] = json!(scope);
            answer["refresh_token"] = json!(format!("r{}", self.issued));
        }
        found(answer)
    }

    /// The scopes of who asks, or the refusal, which says where the server is `described`.
    fn admit(&self, proof: Option<&str>, described: &str) -> Result<String, String> {
        let token = proof.and_then(|proof| proof.strip_prefix("Bearer ")).filter(|_| !self.revoked);
        let scopes = token.and_then(|token| self.tokens.get(token));
        scopes.cloned().ok_or_else(|| self.refuse("401 Unauthorized", "scope=\"use\"", described))
    }

    fn refuse(&self, status: &str, more: &str, described: &str) -> String {
        let header = match self.silent {
            true => format!("Bearer {more}"),
            false => format!("Bearer resource_metadata=\"{described}\", {more}"),
        };
        reply(&format!("{status}\r\nwww-authenticate: {header}"), "{}")
    }

    /// What the server answers to a message, if anything, or the refusal.
    fn answer(
        &mut self,
        message: &Value,
        proof: Option<&str>,
        described: &str,
    ) -> Result<Option<Value>, String> {
        let scopes = self.admit(proof, described)?;
        if message["method"] == "tools/call"
            && let Some(wanted) = self.for_calls
            && !scopes.split(' ').any(|scope| scope == wanted)
        {
            let more = format!("error=\"insufficient_scope\", scope=\"{wanted}\"");
            return Err(self.refuse("403 Forbidden", &more, described));
        }
        let act = self.script.hear(message);
        let answers = act.perform(&mut io::sink(), &mut io::sink()).unwrap().unwrap_or_default();
        Ok(answers.last().cloned())
    }

    fn mcp(&mut self, message: &Value, proof: Option<&str>, described: &str) -> String {
        match self.answer(message, proof, described) {
            Ok(Some(answer)) => found(answer),
            Ok(None) => reply("202 Accepted", ""),
            Err(refusal) => refusal,
        }
    }

    fn mcp_by_event(&mut self, message: &Value, proof: Option<&str>, described: &str) -> String {
        match self.answer(message, proof, described) {
            Ok(answer) => {
                let event = answer.map(|answer| format!("event: message\ndata: {answer}\n\n"));
                if let (Some(event), Some(events)) = (event, &self.events) {
                    events.send(event).unwrap();
                }
                reply("202 Accepted", "")
            }
            Err(refusal) => refusal,
        }
    }
}

/// What an identity provider says of a user to the authority of somebody else's server. Nobody
/// here looks at the signature.
fn vouch(asked: &HashMap<String, String>, origin: &str) -> String {
    let head = json!({"alg": "ES256", "typ": "oauth-id-jag+jwt"});
    let claims = json!({
        "iss": origin, "sub": "ada", "aud": asked["audience"], "client_id": "app", "jti": "1",
        "iat": 1, "exp": 4_102_444_800_u64, "resource": asked["resource"],
    });
    let encode = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    found(json!({
        "access_token": format!("{}.{}.c2ln", encode(head), encode(claims)), "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    }))
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
