//! A client on the other end of two pipes, and sessions in a folder of their own.

use std::{path::Path, sync::Arc, time::Duration};

use bowline_door_rpc::Door;
use bowline_engine::{OpenError, SessionConfig, SessionRequest, Sessions};
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
const PATIENCE: Duration = Duration::from_secs(60);

/// What a pipe of the system holds.
const PIPE: usize = 64 * 1024;

struct ScriptSessions {
    folder: Arc<TempDir>,
}

impl Sessions for ScriptSessions {
    fn open(&self, request: SessionRequest) -> Result<SessionConfig, OpenError> {
        if let Some(session) = request.resume {
            return Err(OpenError::NotFound(session));
        }
        let path = self.folder.path().canonicalize().unwrap();
        Ok(SessionConfig::new(path, Arc::new(Providers::new()), "script"))
    }
}

/// A client.
pub(crate) struct Client {
    folder: Arc<TempDir>,
    writer: Option<DuplexStream>,
    lines: Lines<BufReader<DuplexStream>>,
    door: JoinHandle<std::io::Result<()>>,
    pub(crate) stop: CancellationToken,
}

impl Client {
    pub(crate) fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let (writer, theirs_in) = tokio::io::duplex(PIPE);
        let (theirs_out, reader) = tokio::io::duplex(PIPE);
        let sessions = Arc::new(ScriptSessions { folder: Arc::clone(&folder) });
        let stop = CancellationToken::new();
        let served = Door::open(theirs_in, theirs_out, sessions).serve(stop.clone());
        let door = tokio::spawn(served);
        let lines = BufReader::new(reader).lines();
        Self { folder, writer: Some(writer), lines, door, stop }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder, for tests that look at it behind the client's end.
    pub(crate) fn folder(&self) -> Arc<TempDir> {
        Arc::clone(&self.folder)
    }

    pub(crate) async fn say(&mut self, line: impl ToString) {
        let line = format!("{}\n", line.to_string());
        self.writer.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
    }

    pub(crate) async fn call(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id = id.into();
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    pub(crate) async fn run(&mut self, id: impl Into<Value>, prompt: &str) {
        self.call(id, "run", json!({ "prompt": prompt })).await;
    }

    /// The next line.
    pub(crate) async fn hear(&mut self) -> Value {
        let line =
            timeout(PATIENCE, self.lines.next_line()).await.expect("the door says something");
        serde_json::from_str(&line.unwrap().expect("the door lives")).unwrap()
    }

    /// Everything up to the first line that fits.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut heard = Vec::new();
        loop {
            let line = self.hear().await;
            let found = fits(&line);
            heard.push(line);
            if found {
                return heard;
            }
        }
    }

    /// Everything up to the end of a run.
    pub(crate) async fn until_result(&mut self) -> Vec<Value> {
        self.until(|line| line["result"]["type"] == "result" || line.get("error").is_some()).await
    }

    /// Closes the input and gives what the door still says.
    pub(crate) async fn finish(mut self) -> Vec<Value> {
        self.writer = None;
        self.rest().await
    }

    /// Waits for the door's end and gives what it says until then.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        let mut heard = Vec::new();
        let lines = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                heard.push(serde_json::from_str(&line).unwrap());
            }
        };
        timeout(PATIENCE, lines).await.expect("the door ends");
        timeout(PATIENCE, self.door).await.expect("the door ends").unwrap().unwrap();
        heard
    }

    /// Somebody stops the door, and the client reads nothing of what it still says.
    pub(crate) async fn stop_unread(self) {
        self.stop.cancel();
        timeout(PATIENCE, self.door).await.expect("the door ends").unwrap().unwrap();
    }

    /// Closes its end of the door's output, still says something, and waits for the door's end.
    pub(crate) async fn stop_listening(self) {
        let Self { writer, lines, door, folder: _folder, .. } = self;
        drop(lines);
        let question = json!({"jsonrpc": "2.0", "id": "anybody", "method": "status"});
        let line = format!("{question}\n");
        let mut writer = writer.unwrap();
        writer.write_all(line.as_bytes()).await.unwrap();
        timeout(PATIENCE, door).await.expect("the door ends").unwrap().unwrap();
    }

    /// Goes away without a word: nobody reads, nobody writes. The future waits for the door's end.
    pub(crate) fn vanish(self) -> impl Future<Output = ()> {
        let Self { writer, lines, door, folder, .. } = self;
        drop((writer, lines));
        async move {
            timeout(PATIENCE, door).await.expect("the door ends").unwrap().unwrap();
            drop(folder);
        }
    }
}

/// The types of the messages in some responses.
pub(crate) fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["result"]["type"].as_str().unwrap_or("-")).collect()
}
