//! Test rig: a session in a temporary folder with the script model, and a host that records everything.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_engine::{
    Answer, Host, HostError, PermissionPrompts, Session, SessionConfig, SessionEnd,
    settings::{SettingsRequest, Trust},
};
use bowline_model::{BoxFuture, Providers};
use bowline_protocol::{
    CanUseTool, ControlRequest, Elicitation, ElicitationResponse, HookCallback, HostRequest,
    McpMessage, Message, PermissionResult, RawJson, UserMessage,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A response of the scripted host.
pub(crate) type Reply = Result<Value, HostError>;

/// A host that records messages and responds from lists.
pub(crate) struct ScriptedHost {
    frames: mpsc::UnboundedSender<Value>,
    permissions: Mutex<VecDeque<Option<Reply>>>,
    hooks: Mutex<VecDeque<Option<Reply>>>,
    elicitations: Mutex<VecDeque<Option<Reply>>>,
    servers: Mutex<Option<SdkServers>>,
}

/// The responses of the MCP servers inside the host, by server and message.
type SdkServers = fn(&str, &Value) -> Reply;

impl ScriptedHost {
    fn note(&self, value: Value) {
        self.frames.send(value).ok();
    }
}

/// The next response of a list; `None` in it means that no response ever comes.
async fn next(list: &Mutex<VecDeque<Option<Reply>>>, otherwise: Value) -> Reply {
    let answer = list.lock().unwrap().pop_front();
    match answer {
        Some(Some(reply)) => reply,
        Some(None) => std::future::pending().await,
        None => Ok(otherwise),
    }
}

impl Host for ScriptedHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        self.note(serde_json::to_value(&message).unwrap());
        Box::pin(std::future::ready(()))
    }

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        self.note(json!({"type": "can_use_tool", "question": question}));
        Box::pin(async move {
            let reply = next(&self.permissions, json!({"behavior": "allow"})).await?;
            PermissionResult::parse(&reply.to_string())
                .map_err(|error| HostError::Malformed(error.to_string()))
        })
    }

    fn hook_callback(&self, call: HookCallback) -> Answer<'_, RawJson> {
        self.note(json!({"type": "hook_callback", "call": call}));
        Box::pin(async move { next(&self.hooks, json!({})).await.map(RawJson::from) })
    }

    fn mcp_message(&self, message: McpMessage) -> Answer<'_, RawJson> {
        self.note(json!({"type": "mcp_message", "call": message}));
        let servers = *self.servers.lock().unwrap();
        let nobody = Err(HostError::Refused(format!("no server {}", message.server_name)));
        let reply = servers
            .map_or(nobody, |answer| answer(&message.server_name, &message.message.to_value()));
        Box::pin(std::future::ready(reply.map(RawJson::from)))
    }

    fn elicit(&self, question: Elicitation) -> Answer<'_, ElicitationResponse> {
        self.note(json!({"type": "elicit", "question": question}));
        Box::pin(async move {
            let reply = next(&self.elicitations, json!({"action": "decline"})).await?;
            serde_json::from_value(reply).map_err(|error| HostError::Malformed(error.to_string()))
        })
    }
}

/// Settings of a project that is trusted.
pub(crate) fn trusted() -> SettingsRequest {
    SettingsRequest { trust: Trust::Trusted, ..SettingsRequest::default() }
}

/// A session under test, in a folder that is trusted.
pub(crate) struct Rig {
    pub(crate) session: Session,
    pub(crate) folder: TempDir,
    frames: mpsc::UnboundedReceiver<Value>,
    host: Arc<ScriptedHost>,
    running: JoinHandle<SessionEnd>,
}

impl Rig {
    /// A session whose host handles permission requests.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A session with a changed configuration.
    pub(crate) fn with(change: impl FnOnce(&mut SessionConfig)) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), change)
    }

    /// A session in a prepared folder.
    pub(crate) fn in_folder(folder: TempDir, change: impl FnOnce(&mut SessionConfig)) -> Self {
        let (frames, receiver) = mpsc::unbounded_channel();
        let host = Arc::new(ScriptedHost {
            frames,
            permissions: Mutex::default(),
            hooks: Mutex::default(),
            elicitations: Mutex::default(),
            servers: Mutex::default(),
        });
        let path = folder.path().canonicalize().unwrap();
        let mut config = SessionConfig::new(path, Arc::new(Providers::new()), "script");
        config.permission_prompts = PermissionPrompts::Host;
        config.trust = Trust::Trusted;
        change(&mut config);
        let (session, run) = Session::start(config, host.clone()).unwrap();
        Self { session, folder, frames: receiver, host, running: tokio::spawn(run) }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Queues a response to a permission request.
    pub(crate) fn will_permit(&self, reply: Value) -> &Self {
        self.host.permissions.lock().unwrap().push_back(Some(Ok(reply)));
        self
    }

    /// Queues an error for a permission request.
    pub(crate) fn will_fail_to_permit(&self, error: HostError) -> &Self {
        self.host.permissions.lock().unwrap().push_back(Some(Err(error)));
        self
    }

    /// Leaves the next permission request without a response.
    pub(crate) fn will_not_answer(&self) -> &Self {
        self.host.permissions.lock().unwrap().push_back(None);
        self
    }

    /// Queues the output of a hook.
    pub(crate) fn will_hook(&self, reply: Value) -> &Self {
        self.host.hooks.lock().unwrap().push_back(Some(Ok(reply)));
        self
    }

    /// Leaves the next hook without a response.
    pub(crate) fn will_not_hook(&self) -> &Self {
        self.host.hooks.lock().unwrap().push_back(None);
        self
    }

    /// Queues the response to an elicitation; `None` if it never comes.
    pub(crate) fn will_be_elicited(&self, reply: Option<Value>) -> &Self {
        self.host.elicitations.lock().unwrap().push_back(reply.map(Ok));
        self
    }

    /// The MCP servers inside the host.
    pub(crate) fn serves(&self, servers: SdkServers) -> &Self {
        *self.host.servers.lock().unwrap() = Some(servers);
        self
    }

    pub(crate) async fn prompt(&self, text: &str) {
        self.session.prompt(UserMessage::prompt(text)).await;
    }

    /// Sends a control request and returns the response.
    pub(crate) async fn control(&self, request: Value) -> Result<Value, String> {
        let request = HostRequest::parse(&request.to_string()).unwrap();
        let reply = self.session.control(request).await;
        let answer = match &reply.result {
            Ok(payload) => Ok(payload.as_ref().map_or(Value::Null, RawJson::to_value)),
            Err(error) => Err(error.to_string()),
        };
        reply.delivered().await;
        answer
    }

    /// Sends a control request with this ID and returns the response.
    pub(crate) async fn control_as(
        &self,
        id: &str,
        request: Value,
        cancel: CancellationToken,
    ) -> Result<Value, String> {
        let request = HostRequest::parse(&request.to_string()).unwrap();
        let request = ControlRequest { request_id: id.into(), request, extra: Default::default() };
        let reply = self.session.control_request(request, cancel).await;
        let answer = match &reply.result {
            Ok(payload) => Ok(payload.as_ref().map_or(Value::Null, RawJson::to_value)),
            Err(error) => Err(error.to_string()),
        };
        reply.delivered().await;
        answer
    }

    /// The frames that the host has received so far.
    pub(crate) fn received(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.frames.try_recv().ok()).collect()
    }

    /// The next frame that the host receives.
    pub(crate) async fn next(&mut self) -> Value {
        let next = tokio::time::timeout(PATIENCE, self.frames.recv()).await;
        next.expect("the session says something").expect("the session lives")
    }

    /// The frames up to the first one that fits.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut received = Vec::new();
        loop {
            let next = self.next().await;
            let found = fits(&next);
            received.push(next);
            if found {
                return received;
            }
        }
    }

    /// The frames up to the result of the current turn.
    pub(crate) async fn turn(&mut self) -> Vec<Value> {
        self.until(|frame| frame["type"] == "result").await
    }

    /// Sends a prompt and returns the frames up to the result.
    pub(crate) async fn run(&mut self, prompt: &str) -> Vec<Value> {
        self.prompt(prompt).await;
        self.turn().await
    }

    /// Drops the session without a shutdown.
    pub(crate) async fn abort(self) {
        self.running.abort();
        self.running.await.ok();
    }

    /// Ends the input and waits for the session to end; returns the remaining frames.
    pub(crate) async fn finish(mut self) -> (SessionEnd, Vec<Value>) {
        self.session.end_of_input().await;
        let end = tokio::time::timeout(PATIENCE, self.running).await;
        let end = end.expect("the session ends").expect("the session does not crash");
        let mut rest = Vec::new();
        while let Ok(frame) = self.frames.try_recv() {
            rest.push(frame);
        }
        (end, rest)
    }
}

/// The kinds of frames, in order: `init`, `assistant:text`, `user:tool_result` …
pub(crate) fn shapes(frames: &[Value]) -> Vec<String> {
    frames.iter().map(shape).collect()
}

fn shape(frame: &Value) -> String {
    let kind = frame["type"].as_str().unwrap_or_default();
    let block = &frame["message"]["content"][0]["type"];
    match kind {
        "system" => frame["subtype"].as_str().unwrap_or_default().to_owned(),
        "result" => format!("result:{}", frame["subtype"].as_str().unwrap_or_default()),
        "assistant" | "user" => format!("{kind}:{}", block.as_str().unwrap_or("text")),
        "hook_callback" => {
            format!("hook:{}", frame["call"]["input"]["hook_event_name"].as_str().unwrap())
        }
        "stream_event" => format!("event:{}", frame["event"]["type"].as_str().unwrap_or_default()),
        other => other.to_owned(),
    }
}

/// The text of the first block of a message.
pub(crate) fn text(frame: &Value) -> &str {
    let block = &frame["message"]["content"][0];
    block["text"].as_str().or_else(|| block["content"].as_str()).unwrap_or_default()
}

/// A shell program that is an MCP server: `cases` select the response to each line, with
/// `answer "$id" RESULT`.
pub(crate) fn mcp_program(cases: &str) -> String {
    format!(
        r#"
answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$1" "$2"; }}
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
{cases}
  esac
done
"#
    )
}
