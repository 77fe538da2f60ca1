//! A workspace with servers in it, and an observer that tests can wait on.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_mcp::{McpObserver, McpServers, NamedServer, Scope, Setup};
use bowline_protocol::{Content, McpServerConfig, McpServerStatus, ToolUseId};
use bowline_tools::{Tool, ToolCall, ToolFailure, ToolOutput, ToolSource, Workspace};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Longer than anything here takes on a busy machine; reached only when something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Rig {
    pub(crate) dir: TempDir,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) servers: McpServers,
    pub(crate) log: Arc<Log>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let setup = bowline_tools::Setup {
            results_dir: dir.path().join("results"),
            ..bowline_tools::Setup::default()
        };
        let workspace = Workspace::new(dir.path(), setup);
        let log = Arc::new(Log::default());
        let mut setup = Setup::new(Arc::clone(&workspace));
        setup.observer = Some(log.clone());
        setup.options.connect_timeout = PATIENCE;
        change(&mut setup);
        Self { dir, workspace, servers: McpServers::new(setup), log }
    }

    pub(crate) fn add(&self, name: &str, config: Value) {
        let config = McpServerConfig::parse(&config.to_string()).unwrap();
        self.servers.add(NamedServer { name: name.to_owned(), config, scope: Scope::Dynamic });
    }

    /// With one program called `std` that is connected.
    pub(crate) async fn connected(self) -> Self {
        self.add("std", program(""));
        self.start().await
    }

    pub(crate) async fn start(self) -> Self {
        self.servers.start();
        self.servers.wait_ready(PATIENCE).await;
        self
    }

    pub(crate) fn status_of(&self, name: &str) -> McpServerStatus {
        let status = self.servers.status();
        status.into_iter().find(|server| server.name == name).unwrap().status
    }

    pub(crate) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tools = self.servers.tools();
        let tool = tools.into_iter().find(|tool| tool.spec().name == name);
        tool.unwrap_or_else(|| panic!("no tool {name}"))
    }

    pub(crate) fn tool_call(&self, input: Value) -> ToolCall {
        ToolCall {
            id: ToolUseId::from("toolu_1".to_owned()),
            input,
            workspace: Arc::clone(&self.workspace),
            cancel: CancellationToken::new(),
            confinement: None,
        }
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<ToolOutput, ToolFailure> {
        let tool = self.tool(name);
        bowline_tools::run(&*tool, self.tool_call(input)).await
    }

    /// The text that a call answers.
    pub(crate) async fn text(&self, name: &str, input: Value) -> String {
        text_of(self.call(name, input).await.unwrap())
    }
}

pub(crate) fn text_of(output: ToolOutput) -> String {
    match output.content {
        Content::Text(text) => text,
        blocks => blocks.to_text(),
    }
}

/// The scripted server, with these manners.
pub(crate) fn program(manners: &str) -> Value {
    json!({"type": "stdio", "command": server_path(), "env": {"SCRIPTED": manners}})
}

/// Examples are built beside the tests.
pub(crate) fn server_path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let build = test.parent().and_then(|deps| deps.parent()).unwrap();
    build.join("examples/scripted_server")
}

/// What the observer heard, one line each.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    wake: Notify,
}

impl Log {
    fn add(&self, line: String) {
        self.lines.lock().unwrap().push(line);
        self.wake.notify_waiters();
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Waits until a line has been heard so many times.
    pub(crate) async fn wait_for(&self, line: &str, times: usize) {
        let waiting = async {
            loop {
                let woken = self.wake.notified();
                tokio::pin!(woken);
                woken.as_mut().enable();
                if self.lines().iter().filter(|known| *known == line).count() >= times {
                    return;
                }
                woken.await;
            }
        };
        let heard = tokio::time::timeout(PATIENCE, waiting).await;
        heard.unwrap_or_else(|_| panic!("{line} not heard, but {:?}", self.lines()));
    }
}

impl McpObserver for Log {
    fn status_changed(&self, server: &str, status: McpServerStatus) {
        self.add(format!(
            "{server} is {}",
            serde_json::to_value(status).unwrap().as_str().unwrap()
        ));
    }

    fn tools_changed(&self, server: &str) {
        self.add(format!("{server} has tools"));
    }

    fn prompts_changed(&self, server: &str) {
        self.add(format!("{server} has prompts"));
    }

    fn resources_changed(&self, server: &str) {
        self.add(format!("{server} has resources"));
    }
}
