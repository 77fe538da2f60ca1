//! Transcripts written by hand for tests, one short word per line.

use std::{fs, path::PathBuf};

use bowline_protocol::SessionId;
use bowline_sessions::{ConfigHome, ContextMessage, LiveContext, ProjectKey, SessionFiles};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const ID: &str = "0b9c5f0e-6a56-4f7e-9d0c-3f8a1c2d4e5f";

/// A config home in a temporary folder.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) home: ConfigHome,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let home = ConfigHome::new(folder.path().join("home"));
        Self { folder, home }
    }

    /// A working directory.
    pub(crate) fn directory(&self) -> PathBuf {
        let directory = self.folder.path().join("work");
        fs::create_dir_all(&directory).unwrap();
        fs::canonicalize(directory).unwrap()
    }

    pub(crate) fn files(&self, id: &str) -> SessionFiles {
        let key = ProjectKey::for_directory(self.directory());
        self.home.session(&key, &SessionId::from(id))
    }

    /// Writes a transcript of the working directory.
    pub(crate) fn write(&self, id: &str, lines: &[Value]) -> SessionFiles {
        let files = self.files(id);
        fs::create_dir_all(files.project_folder()).unwrap();
        fs::write(files.transcript(), text(lines)).unwrap();
        files
    }
}

pub(crate) fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn line(kind: &str, uuid: &str, parent: Option<&str>, rest: Value) -> Value {
    let mut line = json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": ID,
        "timestamp": "2026-01-02T03:04:05.678Z", "cwd": "/w", "gitBranch": "main",
    });
    for (key, value) in rest.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

pub(crate) fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    line("user", uuid, parent, json!({ "message": { "role": "user", "content": text } }))
}

pub(crate) fn answer(uuid: &str, parent: &str, text: &str) -> Value {
    block(uuid, parent, &format!("msg_{uuid}"), json!({ "type": "text", "text": text }))
}

pub(crate) fn call(uuid: &str, parent: &str, message: &str, id: &str) -> Value {
    let block_json = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": {} });
    block(uuid, parent, message, block_json)
}

pub(crate) fn block(uuid: &str, parent: &str, message: &str, block: Value) -> Value {
    let message = json!({
        "id": message, "type": "message", "role": "assistant", "model": "m", "content": [block],
    });
    line("assistant", uuid, Some(parent), json!({ "message": message }))
}

pub(crate) fn result(uuid: &str, parent: &str, id: &str) -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": id, "content": format!("of {id}") });
    let message = json!({ "role": "user", "content": [block] });
    line("user", uuid, Some(parent), json!({ "message": message }))
}

pub(crate) fn boundary(uuid: &str, metadata: Value) -> Value {
    let rest = json!({ "subtype": "compact_boundary", "compactMetadata": metadata });
    line("system", uuid, None, rest)
}

pub(crate) fn with(mut line: Value, key: &str, value: impl Into<Value>) -> Value {
    line[key] = value.into();
    line
}

/// A conversation in short: `user: text | assistant: call t1`.
pub(crate) fn brief(context: &LiveContext) -> String {
    context.messages.iter().map(brief_message).collect::<Vec<_>>().join(" | ")
}

fn brief_message(message: &ContextMessage) -> String {
    use bowline_protocol::ContentBlock::{Text, ToolResult, ToolUse};
    let blocks = message.content.iter().map(|block| match block {
        Text(block) => block.text.clone(),
        ToolUse(block) => format!("call {}", block.id),
        ToolResult(block) if block.is_error == Some(true) => {
            format!("no result {}", block.tool_use_id)
        }
        ToolResult(block) => format!("result {}", block.tool_use_id),
        other => format!("{other:?}"),
    });
    format!("{}: {}", message.role, blocks.collect::<Vec<_>>().join(", "))
}

/// Fails unless the API would take the conversation.
pub(crate) fn assert_valid(context: &LiveContext) {
    use bowline_protocol::{ContentBlock, Role};
    let messages = &context.messages;
    for (place, message) in messages.iter().enumerate() {
        let turn = if place % 2 == 0 { Role::User } else { Role::Assistant };
        assert_eq!(message.role, turn, "sides take turns: {}", brief(context));
        assert!(!message.content.is_empty(), "nothing is empty: {}", brief(context));
        let calls: Vec<_> = message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolUse(call) => Some(&call.id),
                _ => None,
            })
            .collect();
        let next = messages.get(place + 1).map(|next| next.content.as_slice()).unwrap_or_default();
        let results: Vec<_> = next
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolResult(result) => Some(&result.tool_use_id),
                _ => None,
            })
            .collect();
        let (mut wanted, mut given) = (calls.clone(), results);
        wanted.sort();
        given.sort();
        if message.role == Role::Assistant {
            assert_eq!(wanted, given, "each call has its result: {}", brief(context));
        }
        for block in &message.content {
            if let ContentBlock::Text(block) = block {
                assert!(!block.text.trim().is_empty());
            }
        }
    }
}
