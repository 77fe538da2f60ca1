//! A client on the other end of two pipes, and sessions in a folder of their own.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bowline_door_mcp::{Server, ServerError};
use bowline_engine::{OpenError, SessionConfig, SessionRequest, Sessions, settings::Trust};
use bowline_model::Providers;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes; a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What a pipe of the system holds.
const PIPE: usize = 64 * 1024;

/// How tests change the sessions.
type Change = fn(&mut SessionConfig);

pub(crate) struct ScriptSessions {
    pub(crate) folder: Arc<TempDir>,
    change: Change,
}

impl ScriptSessions {
    pub(crate) fn new(change: Change) -> Self {
        Self { folder: Arc::new(tempfile::tempdir().unwrap()), change }
    }
}

impl Sessions for ScriptSessions {
    fn open(&self, request: SessionRequest) -> Result<SessionConfig, OpenError> {
        if let Some(session) = request.resume {
            return Err(OpenError::NotFound(session));
        }
        let path = self.folder.path().canonicalize().unwrap();
        let mut config = SessionConfig::new(path, Arc::new(Providers::new()), "script");
        config.trust = Trust::Trusted;
        (self.change)(&mut config);
        Ok(config)
    }
}

/// A client.
pub(crate) struct Client {
    folder: Arc<TempDir>,
    /// `None` once the client has said its last word.
    writer: Option<DuplexStream>,
    lines: Lines<BufReader<DuplexStream>>,
    /// Lines that were not what was waited for.
    kept: VecDeque<Value>,
    server: JoinHandle<Result<(), ServerError>>,
    asked: u64,
}

impl Client {
    /// A client that cannot be asked.
    pub(crate) async fn new() -> Self {
        Self::with(json!({}), |_| {}).await
    }

    /// A client with these abilities, and sessions set up in some other way.
    pub(crate) async fn with(capabilities: Value, change: Change) -> Self {
        let mut client = Self::silent(change);
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let id = client.ask("initialize", hello).await;
        assert_eq!(client.answer(id).await["result"]["serverInfo"]["name"], "bowline");
        client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    /// A client that has said nothing.
    pub(crate) fn silent(change: Change) -> Self {
        let sessions = Arc::new(ScriptSessions::new(change));
        let folder = Arc::clone(&sessions.folder);
        let (writer, theirs_in) = tokio::io::duplex(PIPE);
        let (theirs_out, reader) = tokio::io::duplex(PIPE);
        let server = Server::open(sessions, "1.2.3").unwrap();
        let served = server.serve(theirs_in, theirs_out, CancellationToken::new());
        let server = tokio::spawn(served);
        let lines = BufReader::new(reader).lines();
        Self { folder, writer: Some(writer), lines, kept: VecDeque::new(), server, asked: 0 }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) async fn say(&mut self, line: impl ToString) {
        self.write(format!("{}\n", line.to_string()).as_bytes()).await;
    }

    /// Sends a request and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request and waits for its result.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool and returns what it came to.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.request("tools/call", params).await["result"].take()
    }

    /// The answer to a request.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        self.wait_for(|line| line["id"] == id && line.get("method").is_none()).await
    }

    /// The next line that fits; others are kept.
    pub(crate) async fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.kept.iter().position(&fits) {
            return self.kept.remove(place).unwrap();
        }
        loop {
            let line = timeout(PATIENCE, self.lines.next_line()).await.expect("an answer");
            let line = serde_json::from_str(&line.unwrap().expect("the server lives")).unwrap();
            if fits(&line) {
                return line;
            }
            self.kept.push_back(line);
        }
    }

    /// Both directions, for those who use them at the same time.
    pub(crate) fn split(&mut self) -> (&mut Lines<BufReader<DuplexStream>>, &mut DuplexStream) {
        (&mut self.lines, self.writer.as_mut().unwrap())
    }

    /// Says its last word, and goes on listening.
    pub(crate) fn end_input(&mut self) {
        self.writer = None;
    }

    /// Writes this, and nothing behind it.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.writer.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// Listens no more, still says something, and waits for the server's end.
    pub(crate) async fn stop_listening(mut self, line: &str) -> Result<(), ServerError> {
        let (_, nobody) = tokio::io::duplex(1);
        self.lines = BufReader::new(nobody).lines();
        self.say(line).await;
        timeout(PATIENCE, self.server).await.expect("the server ends").unwrap()
    }

    /// Hangs up and waits for the server's end.
    pub(crate) async fn hang_up(self) -> Result<(), ServerError> {
        let Self { writer, lines, server, folder: _folder, .. } = self;
        drop((writer, lines));
        timeout(PATIENCE, server).await.expect("the server ends").unwrap()
    }
}

/// The first text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Waits for a file whose one line is complete.
pub(crate) async fn line_in(path: &Path) -> String {
    for _ in 0..4_000 {
        match std::fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    panic!("no line in {}", path.display());
}

/// Whether a process is gone, or at least dead.
pub(crate) fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.ok().is_none_or(|stat| stat.rsplit(") ").next().is_some_and(|it| it.starts_with('Z')))
}

/// Waits until a process is gone.
pub(crate) async fn gone(pid: &str) {
    for _ in 0..2_000 {
        if is_gone(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("process {pid} lives on");
}

/// Allows what the rule says, as a flag would.
pub(crate) fn allow(config: &mut SessionConfig, rule: &str) {
    let typed = bowline_engine::permission::RuleSource::CliArg;
    config.policy.rules.add(typed, &bowline_protocol::PermissionBehavior::Allow, rule);
}
