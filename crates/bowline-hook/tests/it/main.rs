//! Hooks, run for real: programs are programs, callbacks are answered by the test.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod callbacks;
mod commands;
mod events;
mod matcher;
mod processes;
mod registry;

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use bowline_hook::{
    BoxFuture, HookActivity, HookCallError, HookCallbacks, HookEnvironment, HookObserver,
    HookReport, Hooks, NoServices, Scripts,
};
use bowline_protocol::{CallbackId, HookInput, RawJson, ToolUseId};
use bowline_settings::{Settings, SettingsPaths, SettingsRequest, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Settings of a project that the user trusts.
pub(crate) fn trusted() -> SettingsRequest {
    SettingsRequest { trust: Trust::Trusted, ..SettingsRequest::default() }
}

/// What a callback does when it is called.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Json(Value),
    Refuse,
    Close,
    Never,
}

/// A host that answers as told and remembers what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Host {
    replies: Mutex<BTreeMap<String, Reply>>,
    pub(crate) calls: Mutex<Vec<(String, Value, String)>>,
    pub(crate) withdrawn: Arc<Mutex<Vec<String>>>,
}

/// Notices when a question is dropped unanswered.
struct Question(Option<String>, Arc<Mutex<Vec<String>>>);

impl Question {
    fn answered(&mut self) {
        self.0 = None;
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.1.lock().unwrap().extend(self.0.take());
    }
}

impl HookCallbacks for Host {
    fn call(
        &self,
        callback_id: &CallbackId,
        input: &HookInput,
        tool_use_id: ToolUseId,
    ) -> BoxFuture<'_, Result<RawJson, HookCallError>> {
        let id = callback_id.to_string();
        let input = serde_json::to_value(input).unwrap();
        self.calls.lock().unwrap().push((id.clone(), input, tool_use_id.0));
        let reply = self.replies.lock().unwrap().get(&id).cloned().unwrap_or(Reply::Refuse);
        let mut question = Question(Some(id), self.withdrawn.clone());
        Box::pin(async move {
            let reply = match reply {
                Reply::Json(value) => Ok(value.into()),
                Reply::Refuse => Err(HookCallError::Refused("no".to_owned())),
                Reply::Close => Err(HookCallError::Closed),
                Reply::Never => std::future::pending().await,
            };
            question.answered();
            reply
        })
    }
}

/// Remembers what programs did.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<HookActivity>>);

impl HookObserver for Recorder {
    fn observe(&self, activity: HookActivity) {
        self.0.lock().unwrap().push(activity);
    }
}

/// A session's hooks in a folder of their own.
pub(crate) struct Rig {
    pub(crate) folder: TempDir,
    pub(crate) host: Arc<Host>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) cancel: CancellationToken,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let host = Arc::new(Host::default());
        let environment = HookEnvironment {
            project_dir: folder.path().to_owned(),
            entrypoint: Some("sdk-test".to_owned()),
            scripts: Some(Scripts::in_folder(folder.path())),
            variables: BTreeMap::from([("FROM_SETTINGS".to_owned(), Some("yes".to_owned()))]),
        };
        let hooks = Hooks::new(host.clone(), Arc::new(NoServices), environment);
        Self {
            folder,
            host,
            recorder: Arc::default(),
            hooks: Arc::new(hooks),
            cancel: CancellationToken::new(),
        }
    }

    /// Hooks as a project's settings have them.
    pub(crate) fn settings(hooks: Value) -> Self {
        let rig = Self::new();
        rig.load(&json!({ "hooks": hooks }));
        rig
    }

    /// One program for one event.
    pub(crate) fn command(event: &str, command: &str) -> Self {
        Self::settings(json!({ event: [{ "hooks": [{ "type": "command", "command": command }] }] }))
    }

    /// One callback for one event.
    pub(crate) fn callback(event: &str, reply: Reply) -> Self {
        let rig = Self::new();
        rig.register(json!({ event: [{ "hookCallbackIds": ["h1"] }] }));
        rig.reply("h1", reply);
        rig
    }

    pub(crate) fn load(&self, settings: &Value) {
        let file = self.path(".claude/settings.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, settings.to_string()).unwrap();
        self.hooks.set_settings(&self.loaded());
    }

    pub(crate) fn loaded(&self) -> Settings {
        let places = SettingsPaths {
            managed_dir: self.path("managed"),
            ..SettingsPaths::new(self.path("config"), self.folder.path())
        };
        Settings::load(&places, &crate::trusted()).unwrap()
    }

    pub(crate) fn register(&self, hooks: Value) {
        self.hooks.set_callbacks(&serde_json::from_value(hooks).unwrap());
    }

    pub(crate) fn reply(&self, id: &str, reply: Reply) {
        self.host.replies.lock().unwrap().insert(id.to_owned(), reply);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn input(&self, event: Value) -> HookInput {
        let mut input = json!({
            "session_id": "s1",
            "transcript_path": "/t.jsonl",
            "cwd": self.folder.path(),
        });
        input.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        HookInput::parse(&input.to_string()).unwrap()
    }

    pub(crate) async fn run(&self, event: Value) -> HookReport {
        let observer: Arc<dyn HookObserver> = self.recorder.clone();
        self.hooks.run(&self.input(event), &observer, &self.cancel).await
    }

    /// What programs did so far.
    pub(crate) fn activity(&self) -> Vec<HookActivity> {
        std::mem::take(&mut *self.recorder.0.lock().unwrap())
    }

    /// The messages to the user: tag, level and text.
    pub(crate) fn notices(report: &HookReport) -> Vec<(Option<&str>, &str, &str)> {
        let shown = report.notices.iter();
        shown
            .map(|notice| (notice.tag.as_deref(), notice.level.as_str(), notice.content.as_str()))
            .collect()
    }
}

pub(crate) fn pre_tool_use(tool: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "effort": { "level": "medium" },
        "tool_name": tool,
        "tool_input": { "command": "ls" },
        "tool_use_id": "toolu_1",
    })
}

pub(crate) fn post_tool_use(tool: &str) -> Value {
    json!({
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": { "command": "ls" },
        "tool_response": { "stdout": "hi" },
        "tool_use_id": "toolu_1",
    })
}

pub(crate) fn prompt(text: &str) -> Value {
    json!({ "hook_event_name": "UserPromptSubmit", "prompt": text })
}

pub(crate) fn session_start(source: &str) -> Value {
    json!({ "hook_event_name": "SessionStart", "source": source })
}

pub(crate) fn stop() -> Value {
    json!({ "hook_event_name": "Stop", "stop_hook_active": false })
}
