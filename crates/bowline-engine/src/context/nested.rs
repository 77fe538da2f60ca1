//! Reminders beside tool results: instructions of the folders they reach, and the state of the repository.

use bowline_protocol::{ContentBlock, ToolUseBlock};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{reminder, run_loaded_hooks};
use crate::{agent::Agent, instructions::LoadReason};

/// The fields of a call's input that name its file; the first one present is used.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    file_path: Value,
    notebook_path: Value,
    path: Value,
}

impl Agent {
    /// The reminders to send with the results of these calls.
    pub(crate) async fn reminders<'a>(
        &self,
        calls: impl Iterator<Item = &'a ToolUseBlock>,
        cancel: &CancellationToken,
    ) -> Vec<ContentBlock> {
        // Each instruction is sent once. A subagent would use up the reminder, and the main agent miss it.
        if !self.identity.is_main() {
            return Vec::new();
        }
        let session = &self.session;
        let mut texts = Vec::new();
        for call in calls {
            let Named { file_path, notebook_path, path } = call.input.parse().unwrap_or_default();
            let named = [&file_path, &notebook_path, &path].into_iter().find_map(Value::as_str);
            let Some(path) = named.map(|path| self.workspace.resolve(path)) else { continue };
            let files = session.model_context.read_nested(&session.config, &path);
            let trigger = path.display().to_string();
            let reason = LoadReason::NestedTraversal;
            run_loaded_hooks(session, &files, reason, Some(&trigger), cancel).await;
            texts.extend(files.iter().map(|file| file.titled_text()));
        }
        let status = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            status = session.model_context.take_status() => status,
        };
        texts.extend(status);
        texts.iter().map(|text| ContentBlock::text(reminder(text))).collect()
    }
}
