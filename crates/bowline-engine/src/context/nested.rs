//! What the model is told beside the results of its tools: instructions of the folders it reaches, the state of the repository.

use bowline_protocol::ContentBlock;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{LoadReason, reminder, tell_hooks};
use crate::{agent::Agent, turn::outcome::CallOutcome};

/// The fields of a call's input that name the file it is about; the first that does counts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    file_path: Value,
    notebook_path: Value,
    path: Value,
}

impl Agent {
    /// What goes to the model with these results.
    pub(crate) async fn reminders(
        &self,
        batch: &[CallOutcome],
        cancel: &CancellationToken,
    ) -> Vec<ContentBlock> {
        // A subagent that was told in the main agent's place would keep it to itself.
        if !self.identity.is_main() {
            return Vec::new();
        }
        let session = &self.session;
        let mut told = Vec::new();
        for outcome in batch.iter().filter(|outcome| !outcome.failed()) {
            let Named { file_path, notebook_path, path } =
                outcome.call.input.parse().unwrap_or_default();
            let named = [&file_path, &notebook_path, &path].into_iter().find_map(Value::as_str);
            let Some(path) = named.map(|path| self.workspace.resolve(path)) else { continue };
            let files = session.context.read_nested(session, &path);
            let trigger = path.display().to_string();
            let reason = LoadReason::NestedTraversal;
            tell_hooks(session, &files, reason, Some(&trigger), cancel).await;
            told.extend(files.iter().map(|file| file.told()));
        }
        let status = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            status = session.context.take_status() => status,
        };
        told.extend(status);
        told.iter().map(|text| ContentBlock::text(reminder(text))).collect()
    }
}
