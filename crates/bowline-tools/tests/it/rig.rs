//! A temporary project with a workspace in it, and short ways to call tools.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bowline_sandbox::Confinement;
use bowline_tools::{
    Options, Registry, Setup, TaskEvent, ToolCall, ToolFailure, ToolOutput, Workspace, run,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Rig {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) registry: Registry,
    pub(crate) cancel: CancellationToken,
    /// The confinement of commands.
    pub(crate) confinement: Option<Confinement>,
    pub(crate) events: Arc<Mutex<Vec<TaskEvent>>>,
    /// Holds `project` and what tools put aside.
    dir: TempDir,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A rig with other options.
    pub(crate) fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let dir = TempDir::new().unwrap();
        // Symlinks on the way to the temporary directory would show up in paths.
        let root = fs::canonicalize(dir.path()).unwrap();
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let mut setup = Setup {
            results_dir: root.join("results"),
            tasks_dir: root.join("tasks"),
            task_observer: Some(Arc::new(move |event: TaskEvent| {
                heard.lock().unwrap().push(event);
            })),
            ..Setup::default()
        };
        for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"] {
            setup.environment.insert(name.to_owned(), None);
        }
        change(&mut setup);
        let registry = Registry::builtin(&setup.options);
        let workspace = Workspace::new(&project, setup);
        Self {
            workspace,
            registry,
            cancel: CancellationToken::new(),
            confinement: None,
            events,
            dir,
        }
    }

    pub(crate) fn options(change: impl FnOnce(&mut Options)) -> Self {
        Self::with(|setup| change(&mut setup.options))
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.workspace.start_dir().to_owned()
    }

    /// The directory above the project.
    pub(crate) fn outside(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn prepare(&self, name: &str, input: Value) -> Result<ToolCall, ToolFailure> {
        let input = self.registry.check_schema(name, input)?;
        Ok(ToolCall {
            id: "toolu_test".into(),
            input,
            workspace: Arc::clone(&self.workspace),
            cancel: self.cancel.child_token(),
            confinement: self.confinement.clone(),
        })
    }

    /// A call as the engine makes it: schema, the tool's own check, run.
    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<ToolOutput, ToolFailure> {
        let call = self.prepare(name, input)?;
        let tool = self.registry.find(name)?;
        tool.check(&call.input, &self.workspace).await?;
        run(tool.as_ref(), call).await
    }

    /// The text and the object of a call that succeeds.
    pub(crate) async fn ok(&self, name: &str, input: Value) -> (String, Value) {
        let output = self.call(name, input).await.unwrap();
        (output.content.to_text(), output.structured.unwrap_or_default())
    }

    /// The text of a call that succeeds.
    pub(crate) async fn text(&self, name: &str, input: Value) -> String {
        self.ok(name, input).await.0
    }

    /// The text of a call that fails.
    pub(crate) async fn error(&self, name: &str, input: Value) -> String {
        self.call(name, input).await.unwrap_err().content
    }
}

/// The text of a refused call.
pub(crate) fn refused(text: &str) -> String {
    format!("<tool_use_error>{text}</tool_use_error>")
}

/// Whether a process still exists and is not just waiting to be reaped.
pub(crate) fn is_alive(pid: u32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'),
        Err(_) => false,
    }
}

/// Waits until something holds, and fails if it never does.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let patience = Duration::from_secs(60);
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < patience, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for a process id that a command writes into a file.
pub(crate) async fn pid_in(path: &Path) -> u32 {
    let read = || fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    eventually("a process id is written", || read().is_some()).await;
    read().unwrap()
}
